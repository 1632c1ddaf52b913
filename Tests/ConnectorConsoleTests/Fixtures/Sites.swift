// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import ConnectorConsole

/// Sites that an application watches: what its scenes show and act on.
final class Sites: Sendable {
    private let limits = Mutex<[String: Double]>(["berlin": 30, "bonn": 25])

    /// The sites in order.
    var all: [(name: String, limit: Double)] {
        limits.withLock { $0.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
    }

    func add(_ name: String, _ limit: Double) { limits.withLock { $0[name] = limit } }

    func remove(_ name: String) { limits.withLock { $0[name] = nil } }

    /// A place among them.
    enum Place: RouteValue {
        case list
        case site(String)
        case within(String, tab: Int)

        static let root = "sites"

        var parts: [String] {
            switch self {
            case .list: []
            case .site(let name): [name]
            case .within(let name, let tab): [name, "\(tab)"]
            }
        }

        init?(parts: [String]) {
            switch parts.count {
            case 0: self = .list
            case 1: self = .site(parts[0])
            case 2:
                guard let tab = Int(parts[1]) else { return nil }
                self = .within(parts[0], tab: tab)
            default: return nil
            }
        }
    }

    /// A registry with their scenes alone.
    ///
    /// - Parameter step: Called by the act `wait`.
    func registry(_ step: @escaping @Sendable () async throws -> Void = {}) -> ConsoleRegistry {
        var registry = ConsoleRegistry.componentsAlone
        registry.register(
            SceneDescriptor(Place.self, title: "Sites") { [self] place, context in
                switch place {
                case .list: list(context, step)
                case .site(let name), .within(let name, _): site(name, place, context)
                }
            }
        )
        registry.register(SceneDescriptor("limit", title: "Limit") { [self] in limit($0) })
        return registry
    }

    private func list(_ context: SceneContext, _ step: @escaping @Sendable () async throws -> Void) -> Scene {
        let rows = all.map { site in
            let cells = [StyledText(site.name), StyledText("\(site.limit)")]
            var row = Row(site.name, cells, link: Route(Place.site(site.name)))
            row.acts = [
                context.act("remove \(site.name)", "remove", title: "remove \(site.name)", question: "Remove it?") {
                    [self] in
                    remove(site.name)
                    return "removed \(site.name)"
                }
            ]
            return row
        }
        let form = context.form(
            "add",
            title: "Add a site",
            button: "Add",
            fields: [FormField("name", isRequired: true), FormField("limit", .number, value: "30")]
        ) { [self] values in
            guard let limit = values.number("limit"), limit > 0 else { throw FormFault(["limit": "must be positive"]) }
            add(values["name"], limit)
            return ActOutcome("added \(values["name"])", opening: Route(Place.site(values["name"])))
        }
        var waiting = context.act("wait", "wait") {
            try await step()
            return "waited"
        }
        waiting.shortcut = "w"
        var scene = Scene(
            context.route,
            "Sites",
            [
                context.component("list", TableModel([.init("site"), .init("limit", isNumber: true)], rows)), form,
                context.component("news", title: "News", LogModel.self, .loading),
                context.buttons("tools", title: "Tools", [waiting]),
            ]
        )
        scene.acts = context.menu("More", [context.act("clear", "clear") { "cleared" }])
        return scene
    }

    private func site(_ name: String, _ place: Place, _ context: SceneContext) -> Scene? {
        guard all.contains(where: { $0.name == name }) else { return nil }
        let tab = if case .within(_, let tab) = place { tab } else { 0 }
        let entries = ["now", "later"].enumerated().map { index, title in
            Slot.Entry(title, Route(["limit", name, title]), link: Route(Place.within(name, tab: index)))
        }
        let slot = context.slot(Slot("limits", .tabs), title: "Limits", entries, selected: tab)
        return Scene(context.route, name, [slot])
    }

    private func limit(_ context: SceneContext) -> Scene? {
        guard context.route.parts.count == 3 else { return nil }
        let name = context.route.parts[1]
        guard let site = all.first(where: { $0.name == name }) else { return nil }
        var scene = Scene(
            context.route,
            "Limit",
            [context.component("limit", NoticeModel(StyledText("\(context.route.parts[2]): \(site.limit)")))]
        )
        scene.acts = [
            context.act("double", "double") { [self] in
                add(name, site.limit * 2)
                return "doubled \(name)"
            }
        ]
        return scene
    }
}
