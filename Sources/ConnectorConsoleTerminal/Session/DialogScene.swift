// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

/// Makes the scenes of dialogs.
enum DialogScene {
    /// The scene of a dialog.
    ///
    /// - Parameters:
    ///   - selected: The selected entry of a menu.
    ///   - lines: The maximum number of lines of a menu.
    static func scene(of dialog: Dialog, _ registry: ConsoleRegistry, selected: Int, lines: Int) -> Scene {
        if let act = dialog.confirmed {
            let notice = NoticeModel(
                StyledText(act.question ?? act.title),
                "",
                StyledText("y", .strong) + "  yes   " + StyledText("n", .strong) + "  no"
            )
            return Scene(Route(["confirmation"]), "Confirm", [registry.component("question", notice)])
        }
        var details = DetailsModel()
        guard dialog.choices.isEmpty else {
            for (index, act) in dialog.choices.enumerated() {
                details.rows.append(row(of: act, at: index, isSelected: index == selected))
            }
            let first = max(0, min(selected - lines / 2, details.rows.count - lines))
            details.rows = Array(details.rows.dropFirst(first).prefix(max(1, lines)))
            return Scene(Route(["menu"]), "Actions", [registry.component("acts", details)])
        }
        for binding in KeyBinding.all where !binding.name.isEmpty {
            details.add(binding.name, StyledText(binding.meaning))
        }
        return Scene(Route(["help"]), "Keys", [registry.component("keys", details)])
    }

    private static func row(of act: ConsoleAct, at index: Int, isSelected: Bool) -> Row {
        let mark = StyledText(isSelected ? ">" : " ", .strong)
        let number = StyledText(index < 9 ? " \(index + 1)" : "  ", .muted)
        let menu = StyledText(act.menu.isEmpty ? "" : "\(act.menu): ", .muted)
        let state = act.state.text.isEmpty ? "" : "  " + act.state.text
        return Row(act.id, [mark + number, menu + StyledText(act.title, isSelected ? .strong : .text) + state])
    }
}
