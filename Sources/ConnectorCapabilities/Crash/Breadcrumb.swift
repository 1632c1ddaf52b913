// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// An event that preceded a failure.
public struct Breadcrumb: Sendable, Hashable {
    /// The time of the event.
    public var timestamp: Timestamp?
    /// The kind of event: `http`, `navigation`, …
    public var category: String?
    /// A description of the event.
    public var message: String
    /// The severity.
    public var level: CrashReport.Level
    /// Further facts.
    public var data: JSONObject

    /// Creates a breadcrumb.
    public init(
        _ message: String,
        category: String? = nil,
        level: CrashReport.Level = .info,
        timestamp: Timestamp? = nil,
        data: JSONObject = JSONObject()
    ) {
        self.message = message
        self.category = category
        self.level = level
        self.timestamp = timestamp
        self.data = data
    }

    /// Reads a breadcrumb.
    public init(json: JSONValue, path: String = "breadcrumb") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        self.init(
            try reader.requiredString("message"),
            category: try reader.string("category"),
            level: try reader.word("level", as: CrashReport.Level.self) ?? .info,
            timestamp: try reader.timestamp("timestamp"),
            data: try reader.object("data")
        )
    }

    /// The JSON form that operations take.
    public var json: JSONValue {
        var object: JSONObject = ["message": .string(message), "level": .string(level.rawValue)]
        object.set("category", category)
        object.set("timestamp", timestamp?.exactText)
        object.set("data", data)
        return .object(object)
    }
}
