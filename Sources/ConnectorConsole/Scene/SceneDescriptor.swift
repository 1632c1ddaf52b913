// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What is shown at the routes below one root, and the tab that leads there.
public struct SceneDescriptor: Sendable {
    /// The first part of its routes.
    public let root: String
    /// What the tab says.
    public let title: String
    /// The scene of a moment; nil if there is nothing at the route.
    let build: @Sendable (SceneContext) -> Scene?

    /// Describes a scene.
    ///
    /// - Parameters:
    ///   - root: The first part of its routes.
    ///   - title: What the tab says.
    ///   - build: Makes the scene of a moment, at least once a second while it is shown; it must not wait. Nil if there is
    ///     nothing at the route.
    public init(_ root: String, title: String, _ build: @escaping @Sendable (SceneContext) -> Scene?) {
        self.root = root
        self.title = title
        self.build = build
    }
}

/// What a scene is made from.
public struct SceneContext: Sendable {
    /// What is to be shown.
    public let route: Route
    /// What the host says.
    public let snapshot: ConsoleSnapshot
    let registry: ConsoleRegistry

    /// The component of a model: see ``ConsoleRegistry/component(_:title:_:)``.
    public func component<Model: Sendable>(_ id: String, title: String = "", _ model: Model) -> Component {
        registry.component(id, title: title, model)
    }
}
