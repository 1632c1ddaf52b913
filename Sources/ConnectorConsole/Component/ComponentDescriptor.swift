// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Makes components from models of one type: see ``ConsoleRegistry``.
///
/// ```swift
/// registry.register(
///     ComponentDescriptor<[Calculation]>("calculator.history", as: .log) { history, component in
///         component.rows = history.map { Row($0.id, [StyledText("\($0)")]) }
///     }
/// )
/// ```
public struct ComponentDescriptor<Model: Sendable>: Sendable {
    /// The kind of component that it makes.
    public let kind: ComponentKind
    private let shape: Component.Shape
    private let fill: @Sendable (Model, inout Component) -> Void

    /// Creates a descriptor.
    ///
    /// - Parameters:
    ///   - kind: The component's kind.
    ///   - shape: How platforms that do not know the kind draw it.
    ///   - fill: Fills the empty component from a model.
    public init(
        _ kind: ComponentKind,
        as shape: Component.Shape,
        _ fill: @escaping @Sendable (_ model: Model, _ component: inout Component) -> Void
    ) {
        self.kind = kind
        self.shape = shape
        self.fill = fill
    }

    /// Makes the component of a model.
    func component(_ id: String, title: String, _ model: Model) -> Component {
        var component = Component(id: id, kind: kind, shape: shape, title: title)
        fill(model, &component)
        return component
    }

    /// Makes an empty component in a state.
    func component(_ id: String, title: String, _ state: ViewState) -> Component {
        var component = Component(id: id, kind: kind, shape: shape, title: title)
        component.state = state
        return component
    }
}
