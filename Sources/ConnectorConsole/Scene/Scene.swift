// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a console shows at a route, as a value that knows no platform.
public struct Scene: Sendable, Hashable {
    /// Where it is.
    public let route: Route
    /// What it is called.
    public let title: String
    /// Its parts, from the top.
    public var components: [Component]
    /// What can be done to what it is about.
    public var acts: [ConsoleAct] = []
    /// What shows or does the same on the command line; nil if nothing does.
    public var commandLine: String?

    /// Takes its parts.
    public init(_ route: Route, _ title: String, _ components: [Component]) {
        self.route = route
        self.title = title
        self.components = components
    }

    /// The scene with those rows alone that say a text, in capitals or not; in a tree, also the rows above them.
    ///
    /// - Parameter text: What is searched for; empty for everything.
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
    /// Whether a search leaves rows out of it.
    fileprivate var isList: Bool { [.tree, .table, .timeline, .log].contains(shape) }

    fileprivate func matches(_ text: String) -> [Row] {
        guard shape == .tree else { return rows.filter { $0.contains(text) } }
        // Backwards, a row is kept if the last one kept is below it.
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
