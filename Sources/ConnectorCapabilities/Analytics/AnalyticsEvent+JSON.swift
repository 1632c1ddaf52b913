// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension AnalyticsEvent {
    /// The greatest length of a `messageId`, in bytes.
    public static let messageIdLimit = 200

    /// Reads an event and checks the members that its type needs. Members outside the model are dropped.
    ///
    /// Segment's `integrations` is one of them, except that an event that excludes a destination is refused: dropping that
    /// choice would send the event to a vendor that must not get it.
    ///
    /// - Parameters:
    ///   - json: The event, which must be an object.
    ///   - type: The type that the operation implies; nil if the event names it in `type`.
    ///   - path: The name of the event in errors.
    /// - Throws: A ``ConnectorError`` of code `invalid` that names the member.
    public init(json: JSONValue, as type: Kind? = nil, path: String = "event") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        let written = try reader.word("type", as: Kind.self)
        guard let kind = type ?? written else {
            throw ConnectorError(.invalid, "\(path).type is missing: track, identify, screen, page, group or alias")
        }
        if let written, written != kind {
            throw ConnectorError(.invalid, "\(path).type is \(written.rawValue) in a call of \(kind.rawValue)")
        }
        self.init(kind, userId: try reader.string("userId"), anonymousId: try reader.string("anonymousId"))
        if let given = try reader.string("messageId") { messageId = given }
        timestamp = try reader.timestamp("timestamp")
        event = try reader.string("event")
        name = try reader.string("name")
        category = try reader.string("category")
        groupId = try reader.string("groupId")
        previousId = try reader.string("previousId")
        properties = try reader.object("properties")
        traits = try reader.object("traits")
        context = try reader.object("context")
        if let excluded = try reader.object("integrations").members.first(where: { $0.value == false }) {
            throw ConnectorError(
                .invalid,
                "\(path).integrations excludes \"\(excluded.name)\", but the policy of the connector decides who gets the event",
                fix: "send the event to the path of each connector that may have it, or group those in a composite"
            )
        }
        try check(path)
    }

    /// Throws if the event lacks a member that its type needs, or has one that could not be read again from ``json``.
    public func check(_ path: String = "event") throws(ConnectorError) {
        func require(_ value: String?, _ name: String) throws(ConnectorError) {
            guard value?.isEmpty != false else { return }
            let article = type == .alias ? "an" : "a"
            throw ConnectorError(.invalid, "\(path).\(name) is missing: \(article) \(type.rawValue) needs it")
        }
        switch type {
        case .track: try require(event, "event")
        case .group: try require(groupId, "groupId")
        case .alias:
            try require(previousId, "previousId")
            try require(userId, "userId")
        case .identify, .page, .screen: break
        }
        if distinctId.isEmpty {
            throw ConnectorError(.invalid, "\(path).userId or \(path).anonymousId must be given, and not be empty")
        }
        guard !messageId.isEmpty, messageId.utf8.count <= Self.messageIdLimit else {
            throw ConnectorError(.invalid, "\(path).messageId must have 1 to \(Self.messageIdLimit) bytes")
        }
        if let timestamp, !timestamp.isReadable {
            throw ConnectorError(.invalid, "\(path).timestamp must be a time from 1970 to 2500")
        }
        func requireReadable(_ object: JSONObject, _ name: String) throws(ConnectorError) {
            let limit = JSONParser.depthLimit
            // The event is the first level.
            switch object.defect(limit: limit - 1) {
            case .nesting:
                throw ConnectorError(.invalid, "\(path).\(name) makes the event nest deeper than \(limit) levels")
            case .number(let number):
                throw ConnectorError(.invalid, "\(path).\(name) has the number \(number), which JSON cannot write")
            case nil: break
            }
        }
        try requireReadable(properties, "properties")
        try requireReadable(traits, "traits")
        try requireReadable(context, "context")
    }
}
