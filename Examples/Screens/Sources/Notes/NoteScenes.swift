// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorConsole

/// The scenes of the application. Every platform draws them; none is named here.
public struct NoteScenes: Sendable {
    private let store: NoteStore

    /// Creates the scenes of a store.
    public init(_ store: NoteStore) { self.store = store }

    /// Registers the scenes.
    public func register(in registry: inout ConsoleRegistry) {
        registry.register(
            SceneDescriptor(NoteRoute.self, title: "Notes") { place, context in
                switch place {
                case .list: list(context)
                case .note(let title, let tab): note(title, tab, context)
                }
            }
        )
        // What the tabs of a note show.
        var parts = SceneDescriptor("note-parts", title: "Parts") { part($0) }
        parts.hasTab = false
        registry.register(parts)
    }

    private func list(_ context: SceneContext) -> Scene {
        let rows = store.titles.map { title in
            var row = Row(
                title,
                [StyledText(title, .link), StyledText("\(store[title]?.count ?? 0)")],
                link: Route(NoteRoute.note(title))
            )
            row.acts = [
                context.act(
                    "remove \(title)",
                    "remove",
                    title: "remove \(title)",
                    question: "Remove \(title)? It is lost for good."
                ) {
                    store[title] = nil
                    return "removed \(title)"
                }
            ]
            return row
        }
        let columns: [Component.Column] = [.init("title"), .init("letters", isNumber: true)]
        let table =
            rows.isEmpty
            ? context.component("notes", TableModel.self, .empty("no notes yet"))
            : context.component("notes", TableModel(columns, rows))
        let form = context.form(
            "add",
            title: "Add a note",
            button: "Add",
            fields: [FormField("title", isRequired: true), FormField("text", value: "empty")]
        ) { values in
            guard store[values["title"]] == nil else { throw FormFault(["title": "there is a note of this title"]) }
            store[values["title"]] = values["text"]
            return ActOutcome("added \(values["title"])", opening: Route(NoteRoute.note(values["title"])))
        }
        return Scene(context.route, "Notes", [table, form])
    }

    private func note(_ title: String, _ tab: NoteRoute.Tab, _ context: SceneContext) -> Scene? {
        guard store[title] != nil else { return nil }
        let entries = NoteRoute.Tab.allCases.map { tab in
            Slot.Entry(
                tab.rawValue,
                Route(["note-parts", title, tab.rawValue]),
                link: Route(NoteRoute.note(title, tab))
            )
        }
        let selected = NoteRoute.Tab.allCases.firstIndex(of: tab)
        var scene = Scene(context.route, title, [context.slot(Slot("part", .tabs), entries, selected: selected)])
        scene.acts = context.menu(
            "Case",
            [
                context.act("upper", "upper", title: "to upper case") {
                    store[title] = store[title]?.uppercased()
                    return "done"
                },
                context.act("title", "title", title: "to title case") { throw UnsupportedCase() },
            ]
        )
        return scene
    }

    private func part(_ context: SceneContext) -> Scene? {
        let parts = context.route.parts
        guard parts.count == 3, let text = store[parts[1]], let tab = NoteRoute.Tab(rawValue: parts[2]) else {
            return nil
        }
        var details = DetailsModel()
        switch tab {
        case .text: details.add("text", StyledText(text))
        case .numbers:
            details.add("letters", StyledText("\(text.count)"))
            details.add("words", StyledText("\(text.split(separator: " ").count)"))
        }
        return Scene(context.route, parts[1], [context.component("part", details)])
    }
}

/// Thrown by an act that the application does not support.
struct UnsupportedCase: Error, CustomStringConvertible {
    var description: String { "nobody has written it" }
}
