// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Something that a user did or is, in the terms of the Segment specification (segment.com/docs/connections/spec).
public struct AnalyticsEvent: Sendable, Hashable {
    /// Which call of the specification it is.
    public var type: Kind
    /// Names the event towards the vendor: the same in every attempt to deliver it, so that it counts once.
    public var messageId: String
    /// When it happened; nil if that is when it is delivered.
    public var timestamp: Timestamp?
    /// The user as the application's database knows them. Either this or ``anonymousId`` is there.
    public var userId: String?
    /// The user, or their device, before they are known.
    public var anonymousId: String?
    /// What was done, such as `Order Completed`; only and always in a `track`.
    public var event: String?
    /// The name of a page or screen.
    public var name: String?
    /// The category of a page.
    public var category: String?
    /// The group that the user belongs to; only and always in a `group`.
    public var groupId: String?
    /// The identity that ``userId`` replaces; only and always in an `alias`.
    public var previousId: String?
    /// What is to be said of a `track`, `page` or `screen`.
    public var properties: JSONObject
    /// What is to be said of a user (`identify`) or a group (`group`).
    public var traits: JSONObject
    /// Where it happened: `app`, `device`, `library`, `ip`, `locale` and so on.
    public var context: JSONObject

    /// The calls of the specification.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The user did something.
        case track
        /// The user is this one.
        case identify
        /// The user saw a screen of an application.
        case screen
        /// The user saw a page of a site.
        case page
        /// The user belongs to a group.
        case group
        /// The user was known by another identity.
        case alias
    }

    /// Makes an event with an identifier of its own.
    public init(_ type: Kind, userId: String? = nil, anonymousId: String? = nil) {
        self.type = type
        messageId = RandomIdentifier.uuid()
        self.userId = userId
        self.anonymousId = anonymousId
        properties = JSONObject()
        traits = JSONObject()
        context = JSONObject()
    }

    /// A `track` of something that a user did.
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

    /// The user that vendors with one identifier for everybody are told: ``userId``, or else ``anonymousId``.
    public var distinctId: String { userId ?? anonymousId ?? "" }
}
