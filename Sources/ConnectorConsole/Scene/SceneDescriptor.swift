// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The scenes below one root, and their tab.
public struct SceneDescriptor: Sendable {
    /// The first part of the scenes' routes.
    public let root: String
    /// The title of the tab.
    public let title: String
    /// Makes the scene of a snapshot; returns nil if there is none at the route.
    let build: @Sendable (SceneContext) -> Scene?

    /// Creates a descriptor.
    ///
    /// - Parameters:
    ///   - root: The first part of the scenes' routes.
    ///   - title: The title of the tab.
    ///   - build: Makes the scene of a snapshot, at least once a second while it is visible; must not block. Returns nil if there
    ///     is none at the route.
    public init(_ root: String, title: String, _ build: @escaping @Sendable (SceneContext) -> Scene?) {
        self.root = root
        self.title = title
        self.build = build
    }
}

/// The input from which a scene is made.
public struct SceneContext: Sendable {
    /// The route to show.
    public let route: Route
    /// The state of the host.
    public let snapshot: ConsoleSnapshot
    let registry: ConsoleRegistry

    /// Makes the component of a model: see ``ConsoleRegistry/component(_:title:_:)``.
    public func component<Model: Sendable>(_ id: String, title: String = "", _ model: Model) -> Component {
        registry.component(id, title: title, model)
    }
}
