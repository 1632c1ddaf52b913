// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// A call of a gate's operation, and how it ended, without secrets.
struct RecordedCall: Sendable {
    /// The operation and arguments as text, by which calls are sorted; equal calls keep their order.
    let key: String
    /// The call in the form of a recording.
    let json: JSONObject

    /// Describes a call.
    init(_ call: GateCallEnd, _ texts: RecordedTexts) {
        var object: JSONObject = ["operation": .string(call.operation)]
        if !call.arguments.isEmpty { object["arguments"] = texts.argument(.object(call.arguments)) }
        key = JSONValue.object(object).serialized()
        switch call.result {
        case .success(let value): object["result"] = texts.response(value)
        case .failure(let error): object["error"] = ["code": .string(error.code.rawValue)]
        }
        json = object
    }

    /// Reads a call of a recording; nil if the object is not a call.
    init?(of object: JSONObject) {
        guard object["operation"] != nil else { return nil }
        let asked = object.members.filter { ["operation", "arguments"].contains($0.name) }
        key = JSONValue.object(JSONObject(unique: asked)).serialized()
        json = object
    }
}

/// A call of an operation that has ended.
package struct GateCallEnd: Sendable {
    /// The operation, as `capability/operation`.
    package var operation: String
    /// The arguments by name.
    package var arguments: JSONObject
    /// The result, or why there is none.
    package var result: Result<JSONValue, ConnectorError>
    /// How many responses the recording had left out when the call began.
    package var leftOutBefore: Int

    /// Describes a call.
    package init(
        operation: String,
        arguments: JSONObject,
        result: Result<JSONValue, ConnectorError>,
        leftOutBefore: Int
    ) {
        self.operation = operation
        self.arguments = arguments
        self.result = result
        self.leftOutBefore = leftOutBefore
    }
}
