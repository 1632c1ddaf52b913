// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

/// What a key does. One list serves the keyboard, the help and the last line.
struct KeyBinding {
    /// The keys, any of which does it.
    let keys: [TerminalInput.Key]
    /// How the keys are written; empty if the binding before says it.
    let name: String
    /// What it does, in a few words.
    let meaning: String
    /// What it does.
    let command: Command

    /// What keys do.
    enum Command: Hashable {
        /// Go some rows down, or up if negative.
        case move(Int)
        /// Go some pages down, or up if negative.
        case page(Int)
        /// Go to where the row leads.
        case enter
        /// Go back, or close what is in front.
        case back
        /// Go to the tab so many places to the right.
        case turn(Int)
        /// Search.
        case search
        /// Do something to what the row is about.
        case act(ConsoleAct.Verb)
        /// Do something to everything that the scene shows.
        case actOnAll(ConsoleAct.Verb)
        /// Write in the form.
        case edit
        /// Copy the command line that does the same.
        case copy
        /// Tell what the keys do.
        case help
        /// Draw everything anew.
        case redraw
        /// Stop for the shell that started the program.
        case suspend
        /// End.
        case quit
    }

    private init(_ name: String, _ keys: [TerminalInput.Key], _ meaning: String, _ command: Command) {
        (self.name, self.keys, self.meaning, self.command) = (name, keys, meaning, command)
    }

    /// Every key but the digits, which lead to the tabs.
    static let all: [KeyBinding] = [
        KeyBinding("down, up, j, k", [.down, .character("j")], "next row, row before", .move(1)),
        KeyBinding("", [.up, .character("k")], "", .move(-1)),
        KeyBinding("page down, page up", [.pageDown, .character(" ")], "next page, page before", .page(1)),
        KeyBinding("", [.pageUp], "", .page(-1)),
        KeyBinding(
            "end, home, G, g",
            [.end, .character("G")],
            "last row, which follows a log; first row",
            .move(.max)
        ),
        KeyBinding("", [.home, .character("g")], "", .move(-.max)),
        KeyBinding("enter, right, l", [.enter, .right, .character("l")], "open what the row leads to", .enter),
        KeyBinding("escape, left, h", [.escape, .left, .backspace, .character("h")], "back", .back),
        KeyBinding("tab, shift-tab, 1-9", [.tab], "next tab, tab before, a tab", .turn(1)),
        KeyBinding("", [.backTab], "", .turn(-1)),
        KeyBinding("/", [.character("/")], "search", .search),
        KeyBinding("r", [.character("r")], "retry the gate now", .act(.retry)),
        KeyBinding("o", [.character("o")], "open the gate", .act(.open)),
        KeyBinding("c", [.character("c")], "close the gate", .act(.close)),
        KeyBinding("p", [.character("p")], "replay the dead letter", .act(.replay)),
        KeyBinding("P", [.character("P")], "replay every dead letter", .actOnAll(.replay)),
        KeyBinding("d", [.character("d")], "drop the dead letter", .act(.drop)),
        KeyBinding("D", [.character("D")], "drop every dead letter", .actOnAll(.drop)),
        KeyBinding("e", [.character("e")], "fill in the form: tab leads on, enter sends, escape leaves", .edit),
        KeyBinding("y", [.character("y")], "copy the command line that does the same", .copy),
        KeyBinding("control-l", [.control("l")], "draw everything anew", .redraw),
        KeyBinding("control-z", [.control("z")], "stop; fg goes on", .suspend),
        KeyBinding("?", [.character("?")], "these keys", .help),
        KeyBinding("q, control-c", [.character("q"), .control("c")], "quit", .quit),
    ]

    /// What a key does; nil for nothing.
    static func command(for key: TerminalInput.Key) -> Command? {
        all.first { $0.keys.contains(key) }?.command
    }

    /// The keys of an act, for the last line.
    static func name(of verb: ConsoleAct.Verb, onAll: Bool) -> String {
        all.first { $0.command == (onAll ? .actOnAll(verb) : .act(verb)) }?.name ?? ""
    }
}
