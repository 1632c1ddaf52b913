// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A page of the console: a path, which is the URL in a browser and the argument of `--route`.
///
/// ```swift
/// Route.gate("analytics/segment").description         // "/gates/analytics/segment"
/// Route("/gates/analytics/segment/operations/track")  // Route.operation("track", of: "analytics/segment")
/// ```
///
/// An application's own scenes have routes of their own, such as `Route(["calculator", "history"])`.
public struct Route: Sendable, Hashable {
    /// The decoded parts of the path. A gate's path is a single part, and so is the name of an operation below it.
    public let parts: [String]

    /// Creates a route from its parts, dropping empty ones.
    public init(_ parts: [String]) {
        self.parts = parts.filter { !$0.isEmpty }
    }

    /// The first part, which names the tab.
    public var root: String { parts.first ?? "" }

    /// Every gate.
    public static let gates = Route(["gates"])
    /// The outbox: the events waiting for delivery.
    public static let outbox = Route(["outbox"])
    /// The dead letters: the events that vendors refused for good.
    public static let dead = Route(["dead"])
    /// The events that plugins emit.
    public static let events = Route(["events"])
    /// Every plugin.
    public static let plugins = Route(["plugins"])
    /// The configuration of the host.
    public static let configuration = Route(["configuration"])

    /// What a reload of the configuration would change.
    public static let plan = Route(["plan"])

    /// A connector.
    public static func gate(_ path: String) -> Route { Route(["gates", path]) }
    /// An operation of a connector.
    public static func operation(_ name: String, of path: String) -> Route { Route(["gates", path, name]) }
    /// An event in the outbox.
    public static func event(_ id: String) -> Route { Route(["outbox", id]) }
    /// A plugin.
    public static func plugin(_ id: String) -> Route { Route(["plugins", id]) }
}

extension Route: LosslessStringConvertible {
    /// The word between the path of a gate and the name of an operation.
    private static let operations = "operations"

    /// Parses a path; nil if the text is not a valid one.
    public init?(_ text: String) {
        guard text.starts(ascii: "/"), text != "/" else { return nil }
        let words = Substring(text.utf8.dropFirst()).split(ascii: "/", omittingEmptySubsequences: false)
        let parts = words.compactMap { PercentCoding.text($0) }.filter { !$0.isEmpty }
        guard parts.count == words.count else { return nil }
        guard parts[0] == "gates", parts.count > 1 else {
            self.init(parts)
            return
        }
        // Only the literal word is a separator: in a connector's path its first letter is percent-encoded.
        let middle = words.count - 2
        let hasOperation = middle > 1 && words[middle] == Self.operations
        let path = 1..<(hasOperation ? middle : words.count)
        guard !words[path].contains(where: { $0 == Self.operations }) else { return nil }
        self.init(["gates", parts[path].joined(separator: "/")] + (hasOperation ? [parts[middle + 1]] : []))
    }

    /// The path, percent-encoded as in a URL.
    public var description: String {
        guard root == "gates", parts.count > 1 else { return parts.map { "/" + PercentCoding.encode($0) }.joined() }
        let path = parts[1].split(separator: "/").map { name in
            name == Self.operations ? "%6Fperations" : PercentCoding.encode(String(name))
        }
        let operation = parts.count > 2 ? "/\(Self.operations)/\(PercentCoding.encode(parts[2]))" : ""
        return "/gates/" + path.joined(separator: "/") + operation
    }
}
