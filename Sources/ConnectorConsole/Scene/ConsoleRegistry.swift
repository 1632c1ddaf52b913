// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The scenes that a console can show, and the components made from models.
///
/// An application adds scenes and components, or replaces the host's own:
///
/// ```swift
/// var registry = ConsoleRegistry.standard
/// registry.register(SceneDescriptor("calculator", title: "Calculator") { context in
///     Scene(context.route, "Calculator", [context.component("operations", TableModel(columns, rows))])
/// })
/// ```
public struct ConsoleRegistry: Sendable {
    private var components: [ObjectIdentifier: any Sendable] = [:]
    /// The scenes, in the order of their tabs.
    public private(set) var scenes: [SceneDescriptor] = []

    /// The scenes that have a tab, in order.
    public var tabs: [SceneDescriptor] { scenes.filter(\.hasTab) }

    /// Whether a console also shows the scenes that its model adds, such as those of plugins.
    public var showsModelScenes = false

    /// Creates an empty registry.
    public init() {}

    /// Registers the descriptor for models of a type, replacing an earlier one.
    public mutating func register<Model>(_ descriptor: ComponentDescriptor<Model>) {
        components[ObjectIdentifier(Model.self)] = descriptor
    }

    /// Registers a scene, replacing an earlier one with the same root.
    public mutating func register(_ scene: SceneDescriptor) {
        if let index = scenes.firstIndex(where: { $0.root == scene.root }) {
            scenes[index] = scene
        } else {
            scenes.append(scene)
        }
    }

    /// The component of a model; a notice if nothing is registered for the model's type.
    ///
    /// - Parameters:
    ///   - id: Unique in the scene.
    ///   - title: The title above it; empty for none.
    public func component<Model: Sendable>(_ id: String, title: String = "", _ model: Model) -> Component {
        if let descriptor = components[ObjectIdentifier(Model.self)] as? ComponentDescriptor<Model> {
            return descriptor.component(id, title: title, model)
        }
        var component = Component(id: id, kind: "notice", shape: .notice, title: title)
        component.rows = [Row("0", [StyledText("no component is registered for \(Model.self)", .warning)])]
        return component
    }

    /// A component of the kind registered for a type of model, with a state in place of a model.
    func component<Model: Sendable>(_ id: String, title: String, _ type: Model.Type, _ state: ViewState) -> Component {
        let descriptor = components[ObjectIdentifier(type)] as? ComponentDescriptor<Model>
        return descriptor?.component(id, title: title, state)
            ?? component(id, title: title, NoticeModel(StyledText("no component is registered for \(type)", .warning)))
    }

    /// The scene of a route, with the scenes of its slots mounted and the states of its acts.
    ///
    /// - Returns: A scene that says "Not found" if there is none, and a placeholder until the snapshot covers the route.
    public func scene(for route: Route, of snapshot: ConsoleSnapshot) -> Scene {
        var budget = SlotBudget()
        return snapshot.stamped(scene(for: route, of: snapshot, below: [], &budget))
    }

    /// The scene of a route; nil if there is none.
    package func knownScene(for route: Route, of snapshot: ConsoleSnapshot) -> Scene? {
        guard let scene = build(route, snapshot)?.scene else { return nil }
        var budget = SlotBudget()
        return snapshot.stamped(mounted(scene, of: snapshot, below: [], &budget))
    }

    /// The scene of a route, without the scenes in its slots, and the closures of its acts; nil if there is none.
    func build(_ route: Route, _ snapshot: ConsoleSnapshot) -> (scene: Scene, handlers: ActHandlers)? {
        let context = SceneContext(route: route, snapshot: snapshot, registry: self)
        guard let scene = descriptor(of: route)?.build(context) else { return nil }
        return (scene, context.handlers)
    }

    /// The descriptor of the scenes at a route; nil if there is none.
    func descriptor(of route: Route) -> SceneDescriptor? { scenes.first { $0.root == route.root } }

    /// The standard components, without scenes.
    public static let componentsAlone: ConsoleRegistry = {
        var registry = ConsoleRegistry()
        registry.register(
            ComponentDescriptor<TreeModel>("tree", as: .tree) { ($1.columns, $1.rows) = ($0.columns, $0.rows) }
        )
        registry.register(
            ComponentDescriptor<TableModel>("table", as: .table) { ($1.columns, $1.rows) = ($0.columns, $0.rows) }
        )
        registry.register(ComponentDescriptor<DetailsModel>("details", as: .details) { $1.rows = $0.rows })
        registry.register(ComponentDescriptor<TimelineModel>("timeline", as: .timeline) { $1.rows = $0.rows })
        registry.register(ComponentDescriptor<LogModel>("log", as: .log) { $1.rows = $0.rows })
        registry.register(ComponentDescriptor<TextModel>("text", as: .text) { $1.rows = $0.rows })
        registry.register(
            ComponentDescriptor<SceneForm>("form", as: .form) { form, component in
                component.form = form
                component.rows = form.fields.map(\.row)
            }
        )
        registry.register(
            ComponentDescriptor<ButtonsModel>("buttons", as: .buttons) { $1.rows = $0.acts.map(\.row) }
        )
        registry.register(
            ComponentDescriptor<NoticeModel>("notice", as: .notice) { notice, component in
                component.rows = notice.lines.enumerated().map { Row("\($0.offset)", [$0.element]) }
            }
        )
        registry.register(
            ComponentDescriptor<ChartModel>("chart", as: .chart) { chart, component in
                component.series = chart.series
                (component.interval, component.unit) = (chart.interval, chart.unit)
            }
        )
        return registry
    }()
}

extension ConsoleAct {
    /// The act as a row: its label, and what it does.
    fileprivate var row: Row {
        let title = title == verb.rawValue ? "" : title
        var row = Row(id, [StyledText(verb.rawValue, .link)] + (title.isEmpty ? [] : [StyledText(title)]))
        row.acts = [self]
        return row
    }
}

extension FormField {
    /// The field as a row: its name, and the values that it accepts.
    fileprivate var row: Row {
        let kind = kind.choices.isEmpty ? kind.name : kind.choices.joined(separator: ", ")
        let hints = [
            isRequired ? "" : "optional", help.isEmpty ? kind : help, example.isEmpty ? "" : "such as \(example)",
        ]
        let hint = hints.filter { !$0.isEmpty }.joined(separator: "; ")
        return Row(name, [StyledText(label, .strong), value.isEmpty ? StyledText(hint, .muted) : StyledText(value)])
    }
}
