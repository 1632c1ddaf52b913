// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How a component is made from a model of its own: see ``ConsoleRegistry``.
///
/// ```swift
/// registry.register(
///     ComponentDescriptor<[Calculation]>("calculator.history", as: .log) { history, component in
///         component.rows = history.map { Row($0.id, [StyledText("\($0)")]) }
///     }
/// )
/// ```
public struct ComponentDescriptor<Model: Sendable>: Sendable {
    /// What it makes.
    public let kind: ComponentKind
    private let shape: Component.Shape
    private let fill: @Sendable (Model, inout Component) -> Void

    /// Describes a component.
    ///
    /// - Parameters:
    ///   - kind: Its name.
    ///   - shape: How platforms draw it that have no way of their own.
    ///   - fill: Puts a model into the empty component.
    public init(
        _ kind: ComponentKind,
        as shape: Component.Shape,
        _ fill: @escaping @Sendable (_ model: Model, _ component: inout Component) -> Void
    ) {
        self.kind = kind
        self.shape = shape
        self.fill = fill
    }

    /// The component of a model.
    func component(_ id: String, title: String, _ model: Model) -> Component {
        var component = Component(id: id, kind: kind, shape: shape, title: title)
        fill(model, &component)
        return component
    }
}
