// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The options of a simulator.
public struct SimulatorOptions: Sendable {
    /// The vendors to serve, in the order they are listed.
    public var vendors: [String] = VendorCatalogue.names
    /// The deliberate faults; the first that matches a request applies.
    public var faults: [Fault] = []
    /// The sets of credentials that each vendor accepts, keyed like the configuration of the vendor's adapter.
    ///
    /// A vendor without an entry accepts its documented demonstration credentials.
    public var credentials: [String: [[String: String]]] = [:]
    /// Recorded answers to serve beside the vendors, by the name they are served under.
    package var recorded: [(name: String, answers: RecordedAnswers)] = []
    /// The port on the loopback interface; 0 for any free one.
    public var port: Int = 0
    /// Whether each vendor is served under `/NAME`; `nil` means only if there are several.
    public var isPrefixed: Bool?
    /// The most bytes of a request on the wire, and the most after decoding.
    public var bodyLimits: (encoded: Int, decoded: Int) = (32 << 20, 128 << 20)
    /// The clock that slow answers wait on.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// The wall clock that answers are stamped with.
    public var now: @Sendable () -> Timestamp = { .now }

    /// Serves every vendor, without faults, on any free port.
    public init() {}
}
