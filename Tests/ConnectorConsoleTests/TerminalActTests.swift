// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@testable import ConnectorConsole
@testable import ConnectorConsoleTerminal

/// What an operator does with an application's scenes in a terminal: shortcuts, the menu of acts, forms.
@Suite struct TerminalActTests {
    private let sites = Sites()

    private func session(_ console: Console) async -> TerminalSession {
        let route = Route(Sites.Place.list)
        return TerminalSession(
            console.registry,
            await console.snapshot(for: [route]),
            palette: TerminalPalette(isColoured: false, isUnicode: true),
            at: route,
            width: 100,
            height: 40
        )
    }

    private func text(_ session: TerminalSession) -> String {
        let canvas = session.draw()
        return (0..<canvas.height).map { canvas.text(ofLine: $0) }.joined(separator: "\n")
    }

    private func press(_ session: inout TerminalSession, _ keys: TerminalInput.Key...) -> [ConsoleAct] {
        keys.flatMap { session.handle(.key($0)) }.performed
    }

    @Test func `shortcuts typed in quick succession are performed one after another, and none is lost`() async {
        var session = await session(Console(registry: sites.registry()))
        let begun = press(&session, .character("w"), .character("w"), .character("w"))
        #expect(begun.map(\.verb.rawValue) == ["wait"] && session.coordinator.waiting.count == 2)
        #expect(text(session).contains("wait waits for wait"))
        var performed = 1
        while session.coordinator.pending != nil { performed += session.done("waited").performed.count }
        #expect(performed == 3)
    }

    @Test func `a shortcut beyond the limit is dropped, and the status line says so`() async {
        var session = await session(Console(registry: sites.registry()))
        for _ in 0..<66 { _ = press(&session, .character("w")) }
        #expect(session.coordinator.waiting.count == 64)
        #expect(text(session).contains("wait was dropped: 64 actions wait for wait"))
    }

    @Test func `the key a opens the menu of what row and scene offer, and a number or Enter chooses`() async {
        var session = await session(Console(registry: sites.registry()))
        #expect(press(&session, .character("a")).isEmpty)
        let menu = text(session)
        #expect(menu.contains("remove berlin") && menu.contains("clear"))
        // The choice that loses something asks first.
        #expect(press(&session, .character("1")).isEmpty)
        #expect(text(session).contains("Remove it?"))
        #expect(press(&session, .character("y")).map(\.title) == ["remove berlin"])
        _ = session.done("removed berlin")
        #expect(press(&session, .character("a"), .down, .enter).map(\.title) == ["clear"])
        _ = session.done("cleared")
        #expect(press(&session, .character("a"), .escape).isEmpty && session.coordinator.dialog == nil)
        #expect(press(&session, .character("a"), .character("9")).isEmpty, "there is no ninth")
    }

    @Test func `a form shows its faults, even if another act ended while it waited`() async throws {
        let console = Console(registry: sites.registry())
        var session = await session(console)
        _ = press(&session, .character("w"), .character("e"))
        #expect(session.editedField?.name == "name")
        for character in "kiel" { _ = press(&session, .character(character)) }
        #expect(press(&session, .enter).isEmpty, "it waits for the act before")
        let form = try #require(session.done("waited").performed.first)
        #expect(session.windows[.main]?.component("add")?.rows.first?.cells.contains { $0.text == "kiel" } == true)
        _ = session.done(.failure(of: form, FormFault(["limit": "must be positive"])))
        #expect(text(session).contains("must be positive"))
    }

    @Test func `the tabs are those of the last snapshot`() async {
        let console = Console(registry: sites.registry())
        var session = await session(console)
        #expect(text(session).hasPrefix(" 1 Sites  2 Limit"))
        var registry = sites.registry()
        registry.register(SceneDescriptor("meter", title: "Meter") { Scene($0.route, "Meter", []) })
        let snapshot = await console.snapshot(for: session.routes)
        _ = session.update(snapshot, registry)
        #expect(text(session).hasPrefix(" 1 Sites  2 Limit  3 Meter"))
        _ = press(&session, .character("3"))
        #expect(session.coordinator.route == Route(["meter"]))
        _ = session.update(snapshot, console.registry)
        #expect(session.coordinator.route == Route(Sites.Place.list) && !text(session).contains("Meter"))
    }
}

extension [TerminalSession.Effect] {
    /// The acts to perform.
    fileprivate var performed: [ConsoleAct] {
        compactMap { if case .perform(let act) = $0 { act } else { nil } }
    }
}
