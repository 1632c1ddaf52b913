// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorManifest

/// The standby of a gate at one moment: the instance that takes over when the gate's runner ends.
public struct StandbyReport: Sendable {
    /// The state of a gate's standby.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// It is open, and can take over at once.
        case ready
        /// It is opening.
        case opening
        /// There is none: the gate is not open, or the last standby failed and the next attempt is pending.
        case missing
    }

    /// The state of a gate's standby.
    public var state: State
    /// The number of its runner's process; nil if there is none.
    public var process: Int64?
    /// How often a standby has taken over.
    public var takeovers: UInt64
    /// Why the last standby failed to open, was lost, or had to take over; nil once another one is ready.
    public var error: ConnectorError?

    /// Creates a report, for example in tests of code that reads one.
    public init(state: State, process: Int64? = nil, takeovers: UInt64 = 0, error: ConnectorError? = nil) {
        self.state = state
        self.process = process
        self.takeovers = takeovers
        self.error = error
    }

    /// One line for people: `ready, process 4711, 2 takeovers`.
    package var text: String {
        var parts = [state.rawValue]
        if let process { parts.append("process \(process)") }
        if takeovers > 0 { parts.append("\(takeovers) \(takeovers == 1 ? "takeover" : "takeovers")") }
        if let error { parts.append(error.message) }
        return parts.joined(separator: ", ")
    }
}

extension StandbyReport {
    /// The standby's part of the document.
    var json: JSONValue {
        var object: JSONObject = [
            "state": .string(state.rawValue), "takeovers": .integer(Int64(clamping: takeovers)),
        ]
        object["process"] = process.map(JSONValue.integer)
        object["error"] = error.map(\.json)
        return .object(object)
    }

    /// Reads the document; nil if it has no known state.
    init?(json: JSONValue) {
        guard let state = json["state"]?.string.flatMap(State.init(rawValue:)) else { return nil }
        self.init(
            state: state,
            process: json["process"]?.integer,
            takeovers: UInt64(clamping: json["takeovers"]?.integer ?? 0),
            error: json["error"].flatMap(ConnectorError.init(json:))
        )
    }
}
