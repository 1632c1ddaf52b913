// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// One exception in a chain of causes.
public struct CrashException: Sendable, Hashable {
    /// The kind of exception, such as the name of its type.
    public var type: String
    /// The exception's message.
    public var message: String?
    /// The stack, from the function that threw to the outermost caller.
    public var frames: [CrashFrame]

    /// Creates an exception.
    public init(type: String, message: String? = nil, frames: [CrashFrame] = []) {
        self.type = type
        self.message = message
        self.frames = frames
    }

    /// Reads an exception.
    public init(json: JSONValue, path: String = "exception") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        type = try reader.requiredString("type")
        message = try reader.string("message")
        frames = try reader.models("frames") { json, path throws(ConnectorError) in
            try CrashFrame(json: json, path: path)
        }
    }

    /// The JSON form that operations take.
    public var json: JSONValue {
        var object: JSONObject = ["type": .string(type)]
        object.set("message", message)
        object.set("frames", frames.map(\.json))
        return .object(object)
    }
}
