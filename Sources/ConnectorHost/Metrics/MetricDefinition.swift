// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A metric of the host, named by OpenTelemetry's conventions.
///
/// `/metrics`, the application's metrics system, the documentation and the dashboard in `Examples` use these names.
package struct MetricDefinition: Sendable, Hashable {
    /// The name, such as `connector.call.duration`.
    package var name: String
    /// The kind of instrument.
    package var kind: Kind
    /// The unit as a UCUM code; counted things are in braces.
    package var unit: String
    /// A one-line description.
    package var help: String
    /// The attributes of its series besides ``pathAttribute``.
    package var attributes: [String]
    /// Whether its one series is about the whole host, and has no attributes.
    package var isOfHost: Bool

    /// The kind of instrument of a metric.
    package enum Kind: String, Sendable, Hashable {
        /// A count that never decreases while the process runs.
        case counter
        /// A value that is additive across series.
        case upDownCounter
        /// A value that is not additive.
        case gauge
        /// A distribution of values by bucket.
        case histogram
    }

    private init(
        _ name: String,
        _ kind: Kind,
        _ unit: String,
        _ help: String,
        _ attributes: [String] = [],
        isOfHost: Bool = false
    ) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.help = help
        self.attributes = attributes
        self.isOfHost = isOfHost
    }

    // MARK: Attributes

    /// The connector's path, which every series has that is not about the whole host.
    package static let pathAttribute = "connector.path"
    /// `true` on every series of a simulated connector; absent from all others.
    package static let simulatedAttribute = "connector.simulated"
    /// The operation of a call, as `capability/operation`; ``other`` for one not in any manifest.
    package static let operationAttribute = "connector.operation"
    /// The code of an error; absent on success.
    package static let errorAttribute = "error.type"
    /// A state of a gate.
    package static let stateAttribute = "connector.state"
    /// The field of a secret in the connector's `config`.
    package static let secretAttribute = "connector.secret"
    /// Whether the connector is required.
    package static let requiredAttribute = "connector.required"
    /// Replaces all unknown values, so that callers cannot create unbounded series.
    package static let other = ConnectorError.Code.other.rawValue

    // MARK: Definitions

    /// The durations of calls by name; the count is the number of calls, and `error.type` marks failures.
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
    /// Calls too fast to time.
    package static let typedCalls = Self(
        "connector.typed.calls",
        .counter,
        "{call}",
        "Typed and prepared calls; a lease counts once, however many calls its body makes"
    )
    /// The failures among ``typedCalls``, and rejected calls.
    package static let typedFailures = Self(
        "connector.typed.failures",
        .counter,
        "{call}",
        "Typed and prepared calls that ended with an error",
        [errorAttribute]
    )
    /// One series per state, as OpenTelemetry recommends.
    package static let gateState = Self(
        "connector.gate.state",
        .upDownCounter,
        "{gate}",
        "1 for the state that the connector is in, 0 for the others",
        [stateAttribute]
    )
    /// Distinguishes a working composite from a failed one, whatever the state of its children.
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
    /// Violations of the ABI by a plugin.
    package static let misbehaviours = Self(
        "connector.gate.misbehaviours",
        .counter,
        "{violation}",
        "Rules of the ABI that the plugin has broken"
    )
    /// Runners that ended before their time.
    package static let crashes = Self(
        "connector.gate.crashes",
        .counter,
        "{crash}",
        "How often the gate has lost its instance with its runner"
    )
    /// 1 while a standby is ready.
    package static let standbyReady = Self(
        "connector.standby.ready",
        .upDownCounter,
        "{standby}",
        "1 if a standby waits for the end of the gate's runner, otherwise 0"
    )
    /// Losses of a runner that affected only the calls in flight.
    package static let standbyTakeovers = Self(
        "connector.standby.takeovers",
        .counter,
        "{takeover}",
        "How often a standby has taken over"
    )
    /// 1 while the circuit breaker keeps calls from the gate.
    package static let breakerOpen = Self(
        "connector.breaker.open",
        .upDownCounter,
        "{breaker}",
        "1 if the circuit breaker is open or half-open, otherwise 0"
    )
    /// Counts each time that calls failed in a row or runners ended in quick succession.
    package static let breakerOpenings = Self(
        "connector.breaker.openings",
        .counter,
        "{opening}",
        "How often the circuit breaker has opened"
    )
    /// Calls that never reached the gate.
    package static let breakerRefusals = Self(
        "connector.breaker.refusals",
        .counter,
        "{call}",
        "Calls that the circuit breaker has refused"
    )
    /// Grows until the secret is replaced.
    package static let secretAge = Self(
        "connector.secret.age",
        .gauge,
        "s",
        "How long ago the secret that was last read has changed",
        [secretAttribute]
    )
    /// 0 while a new secret has been read and the old one is still in use.
    package static let secretInUse = Self(
        "connector.secret.in_use",
        .upDownCounter,
        "{secret}",
        "1 if the gate uses the secret that was last read, otherwise 0",
        [secretAttribute]
    )
    /// 0 while every new event is refused; absent if no connector takes events.
    package static let outboxReady = Self(
        "connector.outbox.ready",
        .upDownCounter,
        "{outbox}",
        "1 if events can be stored, otherwise 0",
        isOfHost: true
    )
    /// 0 while the file is refused, or connectors stayed as they were.
    package static let configurationCurrent = Self(
        "connector.configuration.current",
        .upDownCounter,
        "{configuration}",
        "1 if what runs is what the file says, otherwise 0",
        isOfHost: true
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
    /// Events that need an operator's attention.
    package static let deadLetters = Self(
        "connector.outbox.dead_letters",
        .upDownCounter,
        "{event}",
        "Events that the vendor refuses for good, or that grew too old"
    )
    /// Survives a restart, like the outbox.
    package static let delivered = Self(
        "connector.outbox.delivered",
        .counter,
        "{event}",
        "Events that the vendor has taken since the outbox was made"
    )
    /// Events the vendor never receives.
    package static let dropped = Self(
        "connector.outbox.dropped",
        .counter,
        "{event}",
        "Events that were given up to make room, or by an operator, since the outbox was made"
    )

    /// Every metric, in the order of `/metrics`.
    package static let all = [
        configurationCurrent,
        gateState, gateReady, gateAttempts, misbehaviours, crashes, standbyReady, standbyTakeovers, breakerOpen,
        breakerOpenings, breakerRefusals, secretAge, secretInUse, callDuration, activeCalls, typedCalls, typedFailures,
        outboxReady, queueEvents, queueSize, queueAge,
        deadLetters, delivered, dropped,
    ]
}
