// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A metric of the host: its name by OpenTelemetry's conventions, and what it measures.
///
/// `/metrics`, the application's metrics system, the documentation and the dashboard in `Examples` take the names from
/// here.
package struct MetricDefinition: Sendable, Hashable {
    /// The name, such as `connector.call.duration`.
    package var name: String
    /// How its values are to be read.
    package var kind: Kind
    /// The unit, in the code of UCUM; what is counted stands in braces.
    package var unit: String
    /// What it measures, in one sentence.
    package var help: String
    /// The attributes of its series beside ``pathAttribute``.
    package var attributes: [String]

    /// How the values of a metric are to be read.
    package enum Kind: String, Sendable, Hashable {
        /// A count that never falls while the process runs.
        case counter
        /// A number that adds up over series.
        case upDownCounter
        /// A number that does not.
        case gauge
        /// How many values fell below each bound.
        case histogram
    }

    private init(_ name: String, _ kind: Kind, _ unit: String, _ help: String, _ attributes: [String] = []) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.help = help
        self.attributes = attributes
    }

    // MARK: Attributes

    /// The connector's path, which every series has.
    package static let pathAttribute = "connector.path"
    /// The operation of a call, as `capability/operation`; ``other`` for one that no manifest names.
    package static let operationAttribute = "connector.operation"
    /// The code of an error; absent from what succeeded.
    package static let errorAttribute = "error.type"
    /// A state of a gate.
    package static let stateAttribute = "connector.state"
    /// Whether the application cannot do without a connector.
    package static let requiredAttribute = "connector.required"
    /// Stands for every value beyond the known ones, so that callers cannot make series without bound.
    package static let other = "_OTHER"

    // MARK: Definitions

    /// Calls by name; its count is the number of calls, and `error.type` tells those that failed.
    package static let callDuration = Self(
        "connector.call.duration",
        .histogram,
        "s",
        "How long calls by name took, from the caller's view",
        [operationAttribute, errorAttribute]
    )
    /// Calls in flight, of every kind.
    package static let activeCalls = Self(
        "connector.call.active",
        .upDownCounter,
        "{call}",
        "Calls that are inside the plugin or wait for their turn"
    )
    /// Calls that are too fast to be timed.
    package static let typedCalls = Self(
        "connector.typed.calls",
        .counter,
        "{call}",
        "Typed and prepared calls; a lease counts once, however many calls its body makes"
    )
    /// The failures among ``typedCalls``, and those that were not let in.
    package static let typedFailures = Self(
        "connector.typed.failures",
        .counter,
        "{call}",
        "Typed and prepared calls that ended with an error",
        [errorAttribute]
    )
    /// One series for each state, as OpenTelemetry does for states.
    package static let gateState = Self(
        "connector.gate.state",
        .upDownCounter,
        "{gate}",
        "1 for the state that the connector is in, 0 for the others",
        [stateAttribute]
    )
    /// Tells a composite that works from one that does not, whatever its children do.
    package static let gateReady = Self(
        "connector.gate.ready",
        .upDownCounter,
        "{gate}",
        "1 if the connector can be counted on, otherwise 0",
        [requiredAttribute]
    )
    /// First attempts, retries and healing.
    package static let gateAttempts = Self(
        "connector.gate.attempts",
        .counter,
        "{attempt}",
        "Attempts to open the gate that have ended",
        [errorAttribute]
    )
    /// What a plugin did that the ABI forbids.
    package static let misbehaviours = Self(
        "connector.gate.misbehaviours",
        .counter,
        "{violation}",
        "Rules of the ABI that the plugin has broken"
    )
    /// The length of the outbox.
    package static let queueEvents = Self(
        "connector.outbox.queue.events",
        .upDownCounter,
        "{event}",
        "Events that wait for the vendor, those tried before included"
    )
    /// The size of the outbox.
    package static let queueSize = Self(
        "connector.outbox.queue.size",
        .upDownCounter,
        "By",
        "Bytes of the payloads that wait for the vendor"
    )
    /// The age of the outbox.
    package static let queueAge = Self(
        "connector.outbox.queue.age",
        .gauge,
        "s",
        "How long the oldest waiting event has waited; 0 if none does"
    )
    /// What an operator has to look at.
    package static let deadLetters = Self(
        "connector.outbox.dead_letters",
        .upDownCounter,
        "{event}",
        "Events that the vendor refuses for good, or that grew too old"
    )
    /// Survives a restart, as the outbox does.
    package static let delivered = Self(
        "connector.outbox.delivered",
        .counter,
        "{event}",
        "Events that the vendor has taken since the outbox was made"
    )
    /// What the vendor never gets.
    package static let dropped = Self(
        "connector.outbox.dropped",
        .counter,
        "{event}",
        "Events that were given up to make room, or by an operator, since the outbox was made"
    )

    /// Every metric, in the order of `/metrics`.
    package static let all = [
        gateState, gateReady, gateAttempts, misbehaviours, callDuration, activeCalls, typedCalls, typedFailures,
        queueEvents,
        queueSize, queueAge, deadLetters, delivered, dropped,
    ]
}
