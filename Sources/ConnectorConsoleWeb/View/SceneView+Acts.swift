// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

/// Draws the acts that a scene offers, and the states of its components.
extension SceneView {
    /// Draws the buttons of acts; those of a menu are in a list that opens.
    static func buttons(_ acts: [ConsoleAct]) -> Markup {
        var markup = Markup()
        var menus: Set<String> = [""]
        for act in acts {
            guard !act.menu.isEmpty else {
                markup.append(button(act))
                continue
            }
            guard menus.insert(act.menu).inserted else { continue }
            markup.element("details", ("class", "menu")) { markup in
                markup.element("summary", text: act.menu)
                for entry in acts where entry.menu == act.menu { markup.append(button(entry)) }
            }
        }
        return markup
    }

    /// Draws the button of an act, marked as busy while it is pending, and its error if it failed.
    private static func button(_ act: ConsoleAct) -> Markup {
        var markup = Markup()
        markup.element(
            "button",
            ("form", actForm),
            ("name", "act"),
            ("value", act.id),
            ("class", act.question == nil ? nil : "danger"),
            ("aria-label", act.title),
            ("aria-busy", act.state.isPending ? "true" : nil),
            ("aria-keyshortcuts", act.shortcut.map { String($0) }),
            ("data-ordered", act.isOfApplication ? "" : nil),
            text: act.verb.rawValue
        )
        if act.state.isFailed { markup.element("span", ("class", "act-state")) { spans(act.state.text, &$0) } }
        return markup
    }

    /// Draws the state of a component, unless its contents speak for themselves.
    static func state(_ state: ViewState, _ markup: inout Markup) {
        guard !state.text.isEmpty else { return }
        markup.element(
            "p",
            ("class", "state v-\(state.name)"),
            ("role", state.isFailed ? "alert" : "status"),
            ("aria-busy", state.isBusy ? "true" : nil)
        ) { spans(state.text, &$0) }
    }

    /// Draws the links between the scenes of a slot.
    func tabs(_ component: Component, _ markup: inout Markup) {
        markup.element(
            "nav",
            ("class", "slot"),
            ("aria-label", component.title.isEmpty ? content.scene.title : component.title)
        ) { markup in
            markup.element("ul") { markup in
                for row in component.rows {
                    let name = row.cells.first?.spans.last
                    markup.element("li") { markup in
                        markup.element(
                            "a",
                            ("href", row.link?.description),
                            ("aria-current", name?.style == .strong ? "true" : nil),
                            text: name?.text ?? ""
                        )
                    }
                }
            }
        }
    }
}
