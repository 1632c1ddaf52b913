// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Something that happens without a call: once, or repeatedly.
struct TimelineEntry: Sendable {
    /// When it first happens, measured from the start of the timeline; nil for after one interval of `every`.
    var at: Duration?
    /// The interval at which it happens again; nil if it happens once.
    var every: Duration?
    /// The most times that it happens; nil for no limit.
    var times: Int?
    /// How long the fault, the failure or the answers last; nil if they never end.
    var lasts: Duration?
    /// The event that the gate emits.
    var event: Event?
    /// The record that is kept.
    var keep: OperationAnswer.Kept?
    /// The record that is removed.
    var remove: OperationAnswer.RecordReference?
    /// The fault of the vendor's HTTP API.
    var fault: Fault?
    /// How every call of the simulated interface, and every proof of its gate, fails.
    var failure: SimulatedFailure?
    /// The answers to HTTP requests that come before all others.
    var answers: RecordedAnswers?
    /// The answers to calls of the simulated interface that come before all others.
    var operations: [OperationAnswer]?

    /// An event of a plugin.
    struct Event: Sendable {
        var name: String
        var payload: JSONTemplate

        /// The most bytes of a name, the same as for events from plugins.
        static let nameLimit = 64
        /// The most bytes of a payload as JSON, the same as for events from plugins.
        static let payloadLimit = 64 << 10

        /// The payload, with the values of an occurrence filled in.
        ///
        /// - Throws: `too-large`.
        func filled(_ values: JSONTemplate.Values) throws(ConnectorError) -> JSONValue {
            let payload = try payload.filled(values)
            let size = payload.serialized().utf8.count
            guard size <= Self.payloadLimit else {
                throw ConnectorError(
                    .tooLarge,
                    "the payload of the event \"\(name)\" has \(size) bytes, more than \(Self.payloadLimit >> 10) KiB"
                )
            }
            return payload
        }
    }

    /// Whether the entry begins something that lasts.
    var lastsForAWhile: Bool { fault != nil || failure != nil || answers != nil || operations != nil }
}
