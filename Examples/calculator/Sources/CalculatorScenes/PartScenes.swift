// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CalculatorModel
internal import ConnectorConsole

/// What was entered, and the result.
struct DisplayScene {
    let presenter: any DisplayPresenting

    func scene(_ context: SceneContext) -> Scene {
        let entry = presenter.entry
        let state: ViewState =
            presenter.isBusy ? .pending("calculating") : presenter.failure.map { .failed($0) } ?? .loaded
        let text = NoticeModel(StyledText(entry.isEmpty ? "0" : entry, .strong))
        return Scene(context.route, "Display", [context.component("display", text, state)])
    }
}

/// Keys to press, by a click or on the keyboard.
struct KeypadScene {
    let presenter: any KeypadPresenting

    func scene(_ context: SceneContext) -> Scene {
        let rows = Key.pad.enumerated().map { number, keys in
            context.buttons("row \(number)", keys.map { key in act(key, context) })
        }
        return Scene(context.route, "Keypad", rows)
    }

    private func act(_ key: Key, _ context: SceneContext) -> ConsoleAct {
        var act = context.act(key.title, key.title, title: "press \(key.title)") { [presenter] in
            await presenter.press(key)
            return ""
        }
        act.shortcut =
            switch key {
            case .character(let character): character
            case .equals: "="
            case .clear: "c"
            case .back: "x"
            }
        return act
    }
}

/// The calculations so far.
struct HistoryScene {
    let presenter: any HistoryPresenting

    func scene(_ context: SceneContext) -> Scene {
        let rows = presenter.calculations.map { calculation in
            var row = Row(
                "\(calculation.id)",
                [StyledText(calculation.expression), StyledText(calculation.outcome, .strong)]
            )
            row.acts = [
                context.act("recall \(calculation.id)", "again", title: "enter \(calculation.expression)") {
                    [presenter] in
                    presenter.recall(calculation)
                    return "entered \(calculation.expression)"
                }
            ]
            return row
        }
        let table = TableModel([.init("expression"), .init("result")], rows)
        var scene = Scene(
            context.route,
            "History",
            [context.component("history", table, rows.isEmpty ? .empty("nothing calculated yet") : .loaded)]
        )
        guard !rows.isEmpty else { return scene }
        scene.acts = [
            context.act("clear", "clear", title: "clear the history", question: "Forget every calculation?") {
                [presenter] in
                presenter.clearHistory()
                return "cleared"
            }
        ]
        return scene
    }
}

/// Which engine calculates, and what is known about it.
struct InfoScene {
    let presenter: any InfoPresenting

    func scene(_ context: SceneContext) -> Scene {
        var details = DetailsModel()
        details.add("calculates", StyledText(presenter.choice, .strong))
        for fact in presenter.facts { details.add(fact.title, StyledText(fact.text)) }
        let choices = presenter.choices.filter { $0 != presenter.choice }.map { choice in
            context.act("choose \(choice)", choice, title: "let \(choice) calculate") { [presenter] in
                try presenter.choose(choice)
                return "\(choice) calculates"
            }
        }
        return Scene(
            context.route,
            "Info",
            [context.component("facts", details), context.buttons("engines", title: "Other engines", choices)]
        )
    }
}
