// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// How a host notices changes of its files.
public struct FileWatching: Sendable, Hashable {
    /// Whether the system reports changes; if not, the host compares digests every second.
    public var hasEvents: Bool
    /// Why the system does not report changes; nil if it does.
    public var reason: String?

    /// Describes a way of noticing changes.
    init(hasEvents: Bool, reason: String? = nil) {
        (self.hasEvents, self.reason) = (hasEvents, reason)
    }

    /// The watch's part of the document.
    var json: JSONValue {
        var object: JSONObject = ["events": .bool(hasEvents)]
        object["reason"] = reason.map(JSONValue.string)
        return .object(object)
    }

    /// Reads the document; nil if a member is missing.
    init?(json: JSONValue) {
        guard let hasEvents = json["events"]?.bool else { return nil }
        self.init(hasEvents: hasEvents, reason: json["reason"]?.string)
    }
}
