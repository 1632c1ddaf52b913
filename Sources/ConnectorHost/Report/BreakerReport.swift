// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorManifest

/// The state of a gate's circuit breaker at one moment.
public struct BreakerReport: Sendable, Hashable {
    /// What a breaker does with calls.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// It admits them.
        case closed
        /// It refuses them.
        case open
        /// It admits one at a time as a trial.
        case halfOpen = "half-open"
    }

    /// What the breaker does with calls.
    public var state: State
    /// How many calls in a row have failed.
    public var failures: Int
    /// How often the breaker has opened.
    public var openings: UInt64
    /// How many calls it has refused.
    public var refusals: UInt64
    /// When the next call is admitted; nil unless the breaker is open.
    public var nextTrialAt: Timestamp?

    /// Creates a report, for example in tests of code that reads one.
    public init(
        state: State,
        failures: Int = 0,
        openings: UInt64 = 0,
        refusals: UInt64 = 0,
        nextTrialAt: Timestamp? = nil
    ) {
        self.state = state
        self.failures = failures
        self.openings = openings
        self.refusals = refusals
        self.nextTrialAt = nextTrialAt
    }

    /// One line for people: `open until 2026-01-01T00:00:00Z, 5 failures in a row; opened once, 12 calls refused`.
    package var text: String {
        var text = state.rawValue
        if let nextTrialAt { text += " until \(nextTrialAt)" }
        if failures > 0 { text += ", \(failures) \(failures == 1 ? "failure" : "failures in a row")" }
        guard openings > 0 else { return text }
        let times = openings == 1 ? "once" : "\(openings) times"
        return text + "; opened \(times), \(refusals) \(refusals == 1 ? "call" : "calls") refused"
    }
}

extension BreakerReport {
    /// The breaker's part of the document.
    var json: JSONValue {
        var object: JSONObject = [
            "state": .string(state.rawValue),
            "failures": .integer(Int64(failures)),
            "openings": .integer(Int64(clamping: openings)),
            "refusals": .integer(Int64(clamping: refusals)),
        ]
        object["nextTrialAt"] = nextTrialAt.map { .string($0.description) }
        return .object(object)
    }

    /// Reads the document; nil if it has no known state.
    init?(json: JSONValue) {
        guard let state = json["state"]?.string.flatMap(State.init(rawValue:)) else { return nil }
        func count(_ name: String) -> UInt64 { UInt64(clamping: json[name]?.integer ?? 0) }
        self.init(
            state: state,
            failures: Int(clamping: count("failures")),
            openings: count("openings"),
            refusals: count("refusals"),
            nextTrialAt: json["nextTrialAt"]?.string.flatMap { Timestamp(parsing: $0) }
        )
    }
}
