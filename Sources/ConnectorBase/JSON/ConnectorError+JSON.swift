// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

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
            // A line of standard input is in no file.
            if !position.file.isEmpty { object["file"] = .string(position.file) }
            object["line"] = .integer(Int64(position.line))
            object["column"] = .integer(Int64(position.column))
        }
        object["retryable"] = isRetryable ? true : nil
        object["retryAfterMilliseconds"] = retryAfter.map { .integer(Int64($0.nanoseconds / 1_000_000)) }
        if !outcomes.isEmpty { object["outcomes"] = .array(outcomes.map(\.json)) }
        return .object(object)
    }
}

extension CallOutcome {
    /// The leaf as `{"path": …}`, plus `error` if it did not take the call.
    public var json: JSONValue {
        var object: JSONObject = ["path": .string(connector)]
        object["error"] = error.map(\.json)
        return .object(object)
    }
}
