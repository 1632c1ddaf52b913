// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A user's action or identity, in the terms of the Segment specification (segment.com/docs/connections/spec).
public struct AnalyticsEvent: Sendable, Hashable {
    /// The event's type: one of the specification's calls.
    public var type: Kind
    /// The key by which the vendor recognizes duplicates; it stays the same in every delivery attempt, so the event
    /// counts once.
    public var messageId: String
    /// When the event happened, to the nanosecond; nil means the time of delivery.
    public var timestamp: Timestamp?
    /// The user's id in the application's database. Required unless ``anonymousId`` is given.
    public var userId: String?
    /// The id of a user, or of a device, that the application does not know yet.
    public var anonymousId: String?
    /// The action, such as `Order Completed`; required in a `track`, absent elsewhere.
    public var event: String?
    /// The name of a page or screen.
    public var name: String?
    /// The category of a page.
    public var category: String?
    /// The group that the user belongs to; required in a `group`, absent elsewhere.
    public var groupId: String?
    /// The identity that ``userId`` replaces; required in an `alias`, absent elsewhere.
    public var previousId: String?
    /// Facts about a `track`, `page` or `screen`.
    public var properties: JSONObject
    /// Facts about a user (`identify`) or a group (`group`).
    public var traits: JSONObject
    /// The circumstances of the event: `app`, `device`, `library`, `ip`, `locale` and so on.
    public var context: JSONObject

    /// The calls of the specification.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The user did something.
        case track
        /// The application learned who the user is.
        case identify
        /// The user saw a screen of an application.
        case screen
        /// The user saw a page of a site.
        case page
        /// The user belongs to a group.
        case group
        /// The user had another identity before.
        case alias
    }

    /// Creates an event with a new ``messageId``.
    public init(_ type: Kind, userId: String? = nil, anonymousId: String? = nil) {
        self.type = type
        messageId = RandomIdentifier.uuid()
        self.userId = userId
        self.anonymousId = anonymousId
        properties = JSONObject()
        traits = JSONObject()
        context = JSONObject()
    }

    /// Creates a `track` of a user's action.
    public static func track(
        _ event: String,
        _ properties: JSONObject = JSONObject(),
        userId: String? = nil,
        anonymousId: String? = nil
    ) -> AnalyticsEvent {
        var made = AnalyticsEvent(.track, userId: userId, anonymousId: anonymousId)
        made.event = event
        made.properties = properties
        return made
    }

    /// The user's id for vendors that support only one kind: ``userId``, or else ``anonymousId``.
    public var distinctId: String { userId ?? anonymousId ?? "" }
}
