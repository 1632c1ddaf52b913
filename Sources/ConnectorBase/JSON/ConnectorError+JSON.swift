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
        object["sent"] = sending.map { .string($0.rawValue) }
        // Rounded up: a shorter wait would not be what the vendor asked for.
        object["retryAfterMilliseconds"] = retryAfter.map { wait in
            let (milliseconds, rest) = wait.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
            return JSONValue.integer(Int64(milliseconds) + (rest > 0 ? 1 : 0))
        }
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
