// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The options of a simulator.
public struct SimulatorOptions: Sendable {
    /// The vendors to serve, in the order they are listed.
    public var vendors: [String] = VendorCatalogue.names
    /// The deliberate faults; the first that matches a request applies.
    public var faults: [Fault] = []
    /// The sets of credentials that each vendor accepts, each keyed like the configuration of the vendor's adapter.
    ///
    /// A vendor without an entry accepts its documented demonstration credentials.
    public var credentials: [String: [[String: String]]] = [:]
    /// Recorded answers to serve besides the vendors, and the names they are served under.
    package var recorded: [(name: String, answers: RecordedAnswers)] = []
    /// The port on the loopback interface; 0 for any free one.
    public var port: Int = 0
    /// Whether each vendor is served under `/NAME`; `nil` means only if there are several.
    public var isPrefixed: Bool?
    /// The maximum size of a request's body in bytes, before and after decoding.
    public var bodyLimits: (encoded: Int, decoded: Int) = (32 << 20, 128 << 20)
    /// The clock for delays of answers.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// The wall clock for timestamps in answers.
    public var now: @Sendable () -> Timestamp = { .now }

    /// Creates options to serve every vendor, without faults, on any free port.
    public init() {}
}
