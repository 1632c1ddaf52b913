// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

/// A binding of keys to a command. The keyboard, the help and the status line share one list.
struct KeyBinding {
    /// The keys, any of which triggers the command.
    let keys: [TerminalInput.Key]
    /// The names of the keys for the help; empty if the previous binding's name includes them.
    let name: String
    /// A short description of the command.
    let meaning: String
    /// The command.
    let command: Command

    /// A command that keys trigger.
    enum Command: Hashable {
        /// Move down by some lines, or up if negative, but at least to the next row.
        case move(Int)
        /// Move down by some pages, or up if negative.
        case page(Int)
        /// Open the row's link; without one, edit its form or perform its act.
        case enter
        /// Go back, or close the dialog.
        case back
        /// Move this many tabs to the right, or to the left if negative.
        case turn(Int)
        /// Search.
        case search
        /// Perform an act on the subject of the row.
        case act(ConsoleAct.Verb)
        /// Perform an act on everything in the scene.
        case actOnAll(ConsoleAct.Verb)
        /// List the acts on the row and in the scene.
        case choose
        /// Fill in the form.
        case edit
        /// Copy the equivalent command line.
        case copy
        /// Show the list of keys.
        case help
        /// Redraw everything.
        case redraw
        /// Suspend the process and return to the shell.
        case suspend
        /// Quit.
        case quit
    }

    private init(_ name: String, _ keys: [TerminalInput.Key], _ meaning: String, _ command: Command) {
        (self.name, self.keys, self.meaning, self.command) = (name, keys, meaning, command)
    }

    /// Every binding but the digits, which select tabs.
    static let all: [KeyBinding] = [
        KeyBinding("down, up, j, k", [.down, .character("j")], "next row, previous row", .move(1)),
        KeyBinding("", [.up, .character("k")], "", .move(-1)),
        KeyBinding("page down, page up", [.pageDown, .character(" ")], "next page, previous page", .page(1)),
        KeyBinding("", [.pageUp], "", .page(-1)),
        KeyBinding(
            "end, home, G, g",
            [.end, .character("G")],
            "last row, which also follows a log; first row",
            .move(.max)
        ),
        KeyBinding("", [.home, .character("g")], "", .move(-.max)),
        KeyBinding(
            "enter, right, l",
            [.enter, .right, .character("l")],
            "open the link of the row, or do what it offers",
            .enter
        ),
        KeyBinding("escape, left, h", [.escape, .left, .backspace, .character("h")], "back", .back),
        KeyBinding("tab, shift-tab, 1-9", [.tab], "next tab, previous tab, tab by number", .turn(1)),
        KeyBinding("", [.backTab], "", .turn(-1)),
        KeyBinding("/", [.character("/")], "search", .search),
        KeyBinding("a", [.character("a")], "list the acts on the row and the scene", .choose),
        KeyBinding("r", [.character("r")], "retry the gate now", .act(.retry)),
        KeyBinding("o", [.character("o")], "open the gate", .act(.open)),
        KeyBinding("c", [.character("c")], "close the gate", .act(.close)),
        KeyBinding("p", [.character("p")], "replay the dead letter", .act(.replay)),
        KeyBinding("P", [.character("P")], "replay every dead letter", .actOnAll(.replay)),
        KeyBinding("d", [.character("d")], "drop the dead letter", .act(.drop)),
        KeyBinding("D", [.character("D")], "drop every dead letter", .actOnAll(.drop)),
        KeyBinding(
            "e",
            [.character("e")],
            "fill in the form: tab for the next field, enter sends, escape leaves",
            .edit
        ),
        KeyBinding("y", [.character("y")], "copy the command line that does the same", .copy),
        KeyBinding("control-l, control-z", [.control("l")], "redraw everything; suspend, fg continues", .redraw),
        KeyBinding("", [.control("z")], "", .suspend),
        KeyBinding("?", [.character("?")], "list the keys", .help),
        KeyBinding("q, control-c", [.character("q"), .control("c")], "quit", .quit),
    ]

    /// The command of a key; nil for none.
    static func command(for key: TerminalInput.Key) -> Command? {
        all.first { $0.keys.contains(key) }?.command
    }

    /// The names of an act's keys, for the status line.
    static func name(of verb: ConsoleAct.Verb, onAll: Bool) -> String {
        all.first { $0.command == (onAll ? .actOnAll(verb) : .act(verb)) }?.name ?? ""
    }
}
