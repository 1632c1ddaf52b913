// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// How every gate stood at one moment: a value, and the truth.
public struct Report: Sendable {
    /// The version of the format of ``json``.
    public static let version: Int64 = 1

    /// Every connector that is enabled, parents before their children, in the order of the file.
    public var gates: [GateReport]

    /// How the whole stands, as if the file were one composite of the policy `all`.
    public var state: GateState

    /// Whether every required gate is open; this decides the exit status of `connector-host status`.
    public var isReady: Bool {
        gates.allSatisfy { !$0.isRequired || $0.state == .open || ($0.policy != nil && $0.state == .degraded) }
    }

    /// The connector of a path.
    public subscript(path: String) -> GateReport? {
        gates.first { $0.path == path }
    }

    /// Throws the first error of a required gate that is not open.
    public func requireReady() throws(ConnectorError) {
        guard !isReady else { return }
        let failed = gates.first { $0.isRequired && $0.policy == nil && $0.state != .open }
        var error = failed?.error ?? ConnectorError(.notOpen, "a required gate is not open")
        error.connector = error.connector ?? failed?.path
        throw error
    }
}

extension Report {
    /// The report as the one document that `connector-host status --json` prints.
    public var json: JSONValue {
        [
            "version": .integer(Self.version),
            "state": .string(state.rawValue),
            "ready": .bool(isReady),
            "gates": .array(gates.map(\.json)),
        ]
    }
}

extension GateReport {
    /// The connector's part of the document; absent values are left out.
    var json: JSONValue {
        var object = JSONObject()
        object["path"] = .string(path)
        object["state"] = .string(state.rawValue)
        object["target"] = .string(target.rawValue)
        object["required"] = .bool(isRequired)
        object["policy"] = policy.map(JSONValue.string)
        object["plugin"] = plugin.map { plugin in
            var object = JSONObject()
            object["id"] = .string(plugin.id)
            object["version"] = .string(plugin.version.description)
            object["sha256"] = plugin.sha256.map(JSONValue.string)
            return .object(object)
        }
        if policy == nil {
            object["evidence"] = .array(evidence.map(\.json))
            object["attempts"] = .integer(Int64(attempts))
            object["capabilities"] = .object(
                JSONObject(
                    capabilities.sorted { $0.key < $1.key }.map { ($0.key, .array($0.value.map(JSONValue.string))) }
                )
            )
            if misbehaviourCount > 0 { object["misbehaviours"] = .integer(Int64(misbehaviourCount)) }
        }
        object["openMilliseconds"] = openDuration.map { .number(Double($0.nanoseconds / 1000) / 1000) }
        object["error"] = error.map(\.json)
        object["http"] = http.map(\.json)
        object["differences"] = differences.map(\.json)
        return .object(object)
    }
}

extension Evidence {
    /// Times are RFC 3339 in UTC, durations milliseconds.
    var json: JSONValue {
        [
            "kind": .string(kind.rawValue),
            "detail": .string(detail),
            "at": .string(at.description),
            "milliseconds": .number(Double(duration.nanoseconds / 1000) / 1000),
        ]
    }
}

extension HTTPCounters {
    /// Counts since the gate opened.
    var json: JSONValue {
        var object = JSONObject()
        object["requests"] = .integer(Int64(clamping: requests))
        object["failures"] = .integer(Int64(clamping: failures))
        object["bytesSent"] = .integer(Int64(clamping: bytesSent))
        object["bytesReceived"] = .integer(Int64(clamping: bytesReceived))
        object["lastStatus"] = lastStatus.map { .integer(Int64($0)) }
        return .object(object)
    }
}

extension ConnectorError {
    /// Code, message, remedy and cause, for machine output.
    public var json: JSONValue {
        var object = JSONObject()
        object["code"] = .string(code.rawValue)
        object["message"] = .string(message)
        object["fix"] = fix.map(JSONValue.string)
        object["cause"] = cause.map(JSONValue.string)
        object["connector"] = connector.map(JSONValue.string)
        if let position {
            object["file"] = .string(position.file)
            object["line"] = .integer(Int64(position.line))
            object["column"] = .integer(Int64(position.column))
        }
        object["retryable"] = isRetryable ? true : nil
        object["retryAfterMilliseconds"] = retryAfter.map { .integer(Int64($0.nanoseconds / 1_000_000)) }
        return .object(object)
    }
}
