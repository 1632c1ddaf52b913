// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

/// Makes the scenes of dialogs.
enum DialogScene {
    /// The scene of a dialog.
    static func scene(of dialog: Dialog, _ registry: ConsoleRegistry) -> Scene {
        switch dialog {
        case .help:
            var details = DetailsModel()
            for binding in KeyBinding.all where !binding.name.isEmpty {
                details.add(binding.name, StyledText(binding.meaning))
            }
            return Scene(Route(["help"]), "Keys", [registry.component("keys", details)])
        case .confirmation(let act):
            let notice = NoticeModel(
                StyledText(act.question ?? act.title),
                "",
                StyledText("y", .strong) + "  yes      " + StyledText("n", .strong) + "  no"
            )
            return Scene(Route(["confirmation"]), "Confirm", [registry.component("question", notice)])
        }
    }
}
