// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The user that a failure affected.
public struct CrashUser: Sendable, Hashable {
    /// The user's id in the application.
    public var id: String?
    /// The user's e-mail address.
    public var email: String?
    /// The user's name.
    public var name: String?

    /// Creates a user.
    public init(id: String? = nil, email: String? = nil, name: String? = nil) {
        self.id = id
        self.email = email
        self.name = name
    }

    /// Reads a user.
    public init(json: JSONValue, path: String = "user") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        self.init(
            id: try reader.string("id"),
            email: try reader.string("email"),
            name: try reader.string("name")
        )
    }

    /// The JSON form that operations take.
    public var json: JSONValue {
        var object = JSONObject()
        object.set("id", id)
        object.set("email", email)
        object.set("name", name)
        return .object(object)
    }
}
