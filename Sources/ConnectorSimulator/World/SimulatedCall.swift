// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// A call in a recording: what was called, and how it ended.
package struct SimulatedCall: Sendable {
    /// The operation, as `capability/operation`.
    package let operation: String
    /// The arguments by name.
    package let arguments: JSONObject
    /// The result, if it succeeded.
    package let result: JSONValue
    /// The code of the error, if it failed.
    package let error: String?
}

extension JSONReader {
    /// Reads `calls`; empty if absent.
    mutating func calls(in object: JSONObject, at root: JSONPath) -> [SimulatedCall] {
        let elements = value("calls", in: object, at: root, kind: "an array") { $0.array } ?? []
        return elements.enumerated().compactMap { call($1, at: root.appending("calls").appending($0)) }
    }

    private mutating func call(_ value: JSONValue, at place: JSONPath) -> SimulatedCall? {
        let allowed = ["operation", "arguments", "result", "error"]
        guard let object = members(of: value, at: place, allowed: allowed),
            let operation = string("operation", in: object, at: place, required: true)
        else { return nil }
        if object["result"] != nil, object["error"] != nil {
            report(.invalidValue, "a call has \"result\" or \"error\", never both", at: place.appending("error"), .name)
        }
        let error = self.object("error", in: object, at: place)
        return SimulatedCall(
            operation: operation,
            arguments: self.object("arguments", in: object, at: place) ?? JSONObject(),
            result: object["result"] ?? .null,
            error: error.flatMap { string("code", in: $0, at: place.appending("error"), required: true) }
        )
    }
}
