// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import ConnectorServices
import Testing

@testable import ConnectorConsole
@testable import ConnectorConsoleTerminal

/// Forms in a terminal, without one.
@Suite struct TerminalFormTests {
    private static let route = Route.operation("track", of: "analytics/segment")

    private func session(_ route: Route = route) -> TerminalSession {
        TerminalSession(
            .standard,
            Mock.snapshot(route),
            palette: TerminalPalette(isColoured: true, isUnicode: true),
            at: route,
            width: 80,
            height: 24
        )
    }

    private func screen(_ session: TerminalSession) -> [String] {
        let canvas = session.draw()
        return (0..<canvas.height).map { canvas.text(ofLine: $0) }
    }

    private func press(_ session: inout TerminalSession, _ keys: TerminalInput.Key...) -> [TerminalSession.Effect] {
        keys.flatMap { session.handle(.key($0)) }
    }

    private func write(_ text: String, _ session: inout TerminalSession) {
        for character in text { _ = press(&session, .character(character)) }
    }

    @Test func `a form is filled in by keyboard, and enter sends it`() throws {
        var session = session()
        #expect(screen(session).contains { $0.hasPrefix("  event *") && $0.contains("what the user did") })
        #expect(press(&session, .character("e")).isEmpty)
        #expect(session.editedField?.name == "event.event")
        // Keys that do something elsewhere are letters here.
        write("Open q?d/", &session)
        _ = press(&session, .left, .left, .backspace, .end, .tab)
        write("u1", &session)
        #expect(screen(session).contains { $0.hasPrefix("  event *") && $0.contains("Open q?/") == false })
        #expect(screen(session).contains { $0.hasPrefix("> userId") && $0.contains("u1▏") })
        #expect(screen(session).last?.hasPrefix("enter send   tab next   escape leave") == true)
        let effects = press(&session, .enter)
        guard case .perform(let act)? = effects.first else {
            Issue.record("nothing is called: \(effects)")
            return
        }
        #expect(act.commandLine == "connector-host send analytics/segment track 'event=Open qd/' userId=u1")
        #expect(session.editedField == nil)
        #expect(screen(session).last == "send track to analytics/segment …")
    }

    @Test func `an error is shown at its field, and nothing is sent`() {
        var session = session()
        _ = press(&session, .character("e"), .backTab)
        #expect(session.editedField?.name == "event.messageId")
        #expect(press(&session, .enter).isEmpty)
        #expect(session.editedField?.name == "event.event")
        #expect(screen(session).contains { $0.hasPrefix("> event *") && $0.contains("event is missing") })
        #expect(screen(session).last == "event is missing")
        _ = press(&session, .tab, .tab, .tab)
        #expect(session.editedField?.name == "event.properties")
        write("{", &session)
        _ = press(&session, .backTab, .backTab, .backTab)
        write("x", &session)
        #expect(!screen(session).contains { $0.contains("event is missing") })
        #expect(press(&session, .enter).isEmpty && session.editedField?.name == "event.properties")
    }

    @Test func `Escape leaves the form, and what was typed stays`() {
        var session = session()
        _ = press(&session, .character("e"))
        write("abc", &session)
        _ = session.handle(.paste("d\ne"))
        _ = press(&session, .escape)
        #expect(session.editedField == nil)
        #expect(screen(session).contains { $0.hasSuffix("abcd e") })
        // Enter on the field resumes editing, also after a snapshot.
        _ = session.update(Mock.snapshot(Self.route))
        #expect(press(&session, .enter).isEmpty && session.editedField?.name == "event.event")
        #expect(screen(session).contains { $0.contains("abcd e▏") })
        // Escape goes back to another scene, which has no form.
        _ = press(&session, .escape, .escape)
        _ = session.update(Mock.snapshot(.gate("analytics/segment")))
        #expect(press(&session, .character("e")).isEmpty && session.editedField == nil)
    }

    @Test func `text that does not fit into a field is cut, and the last line says so`() {
        var session = session()
        _ = press(&session, .character("e"))
        _ = session.handle(.paste(String(repeating: "x", count: 6000)))
        #expect(!session.message.contains("cut"))
        _ = session.handle(.paste(String(repeating: "x", count: LineEditor.limit)))
        #expect(screen(session).last == "the text was cut: a field takes \(LineEditor.limit) bytes")
        _ = press(&session, .backspace)
        #expect(session.message.isEmpty)
    }

    @Test func `pasted text that arrives as keys is entered as one text`() {
        let text = String(repeating: "wide 漢字 ", count: 1000)
        var (typed, pasted) = (session(), session())
        for _ in 0..<2 { _ = press(&typed, .character("e")) }
        _ = press(&pasted, .character("e"))
        _ = typed.handle(.paste(text))
        var inputs = "e\(text)".map { TerminalInput.key(.character($0)) } + [.key(.left), .key(.character("x"))]
        inputs.append(.key(.escape))
        var rest = inputs[...]
        _ = pasted.handle(&rest)
        #expect(rest.count == 3, "the characters are handled together, and what follows them is not")
        #expect(screen(pasted) == screen(typed))
        while !rest.isEmpty { _ = pasted.handle(&rest) }
        #expect(pasted.editedField == nil)
        var keys = [TerminalInput.key(.character("e")), .key(.character("e"))][...]
        var other = session()
        _ = other.handle(&keys)
        #expect(keys.count == 1, "elsewhere each key is a command")
        var long = (0..<(LineEditor.limit + 1)).map { _ in TerminalInput.key(.character("x")) }[...]
        _ = other.handle(&long)
        #expect(long.isEmpty && other.message == "the text was cut: a field takes \(LineEditor.limit) bytes")
    }

    @Test func `the answer is shown once it has arrived`() throws {
        var session = session()
        _ = press(&session, .character("e"))
        write("Seen", &session)
        guard case .perform(let act)? = press(&session, .enter).first else {
            Issue.record("nothing is called")
            return
        }
        _ = session.done("stored e1")
        var snapshot = Mock.snapshot(Self.route)
        var call = ConsoleCall(act, at: Mock.now)
        call.end(["id": "e1"], after: .zero)
        snapshot.calls[Self.route] = call
        _ = session.update(snapshot)
        #expect(session.row?.cells.first?.text == "at")
        #expect(screen(session).contains("Last call".padded(by: 2)))
    }

    @Test(arguments: [(1, 1), (5, 3), (20, 4), (79, 24), (300, 100)])
    func `a form fits every size`(_ width: Int, _ height: Int) {
        var session = session()
        _ = press(&session, .character("e"))
        // Wider than the widest screen.
        write(String(repeating: "wide 漢字 ", count: 40), &session)
        _ = session.resize(width: width, height: height)
        for key in [.home, .tab, .enter, .escape, .character("e"), .backTab] as [TerminalInput.Key] {
            _ = press(&session, key)
            let canvas = session.draw()
            #expect(canvas.height == height && canvas.width == width)
        }
    }

    @Test func `choices are picked, not typed`() {
        var draft = FormDraft()
        let field = FormField("level", label: "level", .choice(["fatal", "error"]), isRequired: false)
        func text() -> String { draft.texts(of: [field])["level"] ?? "" }
        for (key, expected) in [
            (.right, "fatal"), (.character(" "), "error"), (.right, ""), (.left, "error"), (.character("f"), "fatal"),
            (.character("x"), "fatal"), (.backspace, ""),
        ] as [(TerminalInput.Key, String)] {
            let isKnown = draft.handle(key, in: field)
            #expect(isKnown && text() == expected, "\(key)")
        }
        let isWhole = draft.paste("other", into: field)
        #expect(isWhole && text() == "")
    }

    @Test func `a line is edited as in a shell`() {
        var line = LineEditor("one two  ")
        for (key, expected) in [
            (.control("w"), "one |"), (.character("x"), "one x|"), (.home, "|one x"), (.delete, "|ne x"),
            (.right, "n|e x"), (.control("k"), "n|"), (.backspace, "|"), (.backspace, "|"), (.control("d"), "|"),
            (.left, "|"), (.right, "|"), (.character("é"), "é|"), (.character("👩‍👩‍👧"), "é👩‍👩‍👧|"), (.left, "é|👩‍👩‍👧"),
            (.control("e"), "é👩‍👩‍👧|"), (.control("u"), "|"), (.control("w"), "|"),
        ] as [(TerminalInput.Key, String)] {
            let isKnown = line.handle(key)
            #expect(isKnown)
            #expect(line.halves.before + "|" + line.halves.after == expected, "\(key)")
        }
        let isKnown = line.handle(.pageUp)
        #expect(!isKnown)
        line.insert(String(repeating: "x", count: 2 * LineEditor.limit))
        #expect(line.text.count == LineEditor.limit && line.cursor == LineEditor.limit)
        _ = line.handle(.control("u"))
        let isWhole = line.insert(String(repeating: "é", count: LineEditor.limit / 2))
        #expect(isWhole && line.text.utf8.count == LineEditor.limit, "what was removed makes room")
    }
}

extension String {
    fileprivate func padded(by count: Int) -> String { String(repeating: " ", count: count) + self }
}
