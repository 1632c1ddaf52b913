// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The contents of a console at a route, independent of any platform.
public struct Scene: Sendable, Hashable {
    /// The route.
    public package(set) var route: Route
    /// The title.
    public let title: String
    /// The components, from the top.
    public var components: [Component]
    /// The acts on the subject of the scene.
    public var acts: [ConsoleAct] = []
    /// The acts that it offered earlier. A page that shows an older version of the scene may still have them, and an operator who
    /// performs one is told why that is no longer possible.
    package var earlierActs: [ConsoleAct] = []
    /// The equivalent command line; nil if there is none.
    public var commandLine: String?

    /// The routes of the scenes mounted in its slots, and in theirs, including hidden ones.
    public internal(set) var mounted: [Route] = []

    /// Creates a scene.
    public init(_ route: Route, _ title: String, _ components: [Component]) {
        self.route = route
        self.title = title
        self.components = components
    }

    /// Every act that it offers, including the acts of its rows.
    public var allActs: [ConsoleAct] { acts + components.flatMap { $0.rows.flatMap(\.acts) } }

    /// The act with an id, even if only an earlier version of the scene offered it; nil if there is none.
    public func act(_ id: String) -> ConsoleAct? {
        acts.first { $0.id == id } ?? components.lazy.flatMap(\.rows).flatMap(\.acts).first { $0.id == id }
            ?? earlierActs.first { $0.id == id }
    }

    /// The component with an id; nil if there is none.
    public func component(_ id: String) -> Component? { components.first { $0.id == id } }

    /// The scene with only the rows that contain a text, ignoring case, and in a tree also their ancestors.
    ///
    /// - Parameter text: The text to search for; empty keeps everything.
    public func filtered(by text: String) -> Scene {
        let text = text.lowercased()
        guard !text.isEmpty else { return self }
        var scene = self
        for index in scene.components.indices where scene.components[index].isList {
            scene.components[index].rows = scene.components[index].matches(text)
        }
        return scene
    }
}

extension Component {
    /// Whether a search filters its rows.
    fileprivate var isList: Bool { [.tree, .table, .timeline, .log, .text].contains(shape) }

    fileprivate func matches(_ text: String) -> [Row] {
        guard shape == .tree else { return rows.filter { $0.contains(text) } }
        // Going backwards, a row is kept if it matches, or if it is the parent of the row kept last.
        var kept: [Row] = []
        var needed = -1
        for row in rows.reversed() {
            if row.contains(text) || row.depth == needed {
                kept.append(row)
                needed = row.depth - 1
            }
        }
        return kept.reversed()
    }
}
