// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The scenes below one root, and their tab.
public struct SceneDescriptor: Sendable {
    /// The first part of the scenes' routes.
    public let root: String
    /// The title of the tab.
    public let title: String
    /// Whether the scenes have a tab. Without one, they are reached by links or mounted in slots.
    public var hasTab = true
    /// Makes the scene of a snapshot; returns nil if there is none at the route.
    let build: @Sendable (SceneContext) -> Scene?
    /// Whether its scenes may have slots; the scenes of the host have none.
    let hasSlots: Bool

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
        hasSlots = true
    }

    /// Creates the descriptor of scenes without slots.
    init(host root: String, title: String, _ build: @escaping @Sendable (SceneContext) -> Scene?) {
        self.root = root
        self.title = title
        self.build = build
        hasSlots = false
    }

    /// Creates a descriptor whose routes carry values of the application's own type.
    ///
    /// ```swift
    /// SceneDescriptor(SiteRoute.self, title: "Sites") { place, context in
    ///     switch place { … }
    /// }
    /// ```
    ///
    /// - Parameter build: As in the other initializer, with the value that the route carries; a route that carries none is not found.
    public init<Value: RouteValue>(
        _ type: Value.Type,
        title: String,
        _ build: @escaping @Sendable (_ place: Value, _ context: SceneContext) -> Scene?
    ) {
        self.init(Value.root, title: title) { context in
            context.route.value(as: type).flatMap { build($0, context) }
        }
    }
}
