// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import ConnectorServices
import Testing

@testable import ConnectorConsole
@testable import ConnectorConsoleTerminal

/// The console's session in a terminal, tested without a terminal.
@Suite
struct TerminalSessionTests {
    private func session(
        _ route: Route = .gates,
        width: Int = 80,
        height: Int = 24,
        isUnicode: Bool = true
    ) -> TerminalSession {
        TerminalSession(
            .standard,
            Mock.snapshot(.gates, .outbox, .dead, .event("m3"), .plugins),
            palette: TerminalPalette(isColoured: true, isUnicode: isUnicode),
            at: route,
            width: width,
            height: height
        )
    }

    private func screen(_ session: TerminalSession) -> [String] {
        let canvas = session.draw()
        return (0..<canvas.height).map { canvas.text(ofLine: $0) }
    }

    private func press(_ session: inout TerminalSession, _ keys: TerminalInput.Key...) -> [TerminalSession.Effect] {
        keys.flatMap { session.handle(.key($0)) }
    }

    @Test func `the gates fit into 80 columns, with the tree, the states and the reasons`() {
        let screen = screen(session())
        #expect(
            screen[0].hasPrefix(" 1 Gates  2 Outbox  3 Dead  4 Events  5 Plugins  6 Config")
                && screen[0].hasSuffix("✗ 1/2")
        )
        #expect(screen[1] == "/gates")
        #expect(screen[2] == "  not ready: 1 of 2 gates open")
        #expect(screen[5].hasPrefix("> ! analytics   degraded"))
        #expect(screen[6].hasPrefix("  ├─ ✓ segment") && screen[7].hasPrefix("  └─ ✗ posthog"))
        #expect(screen[7].contains("failed") && screen[7].contains("the key was refused"))
        #expect(screen.last?.contains("? keys") == true && screen.last?.contains("r retry") == true)
    }

    @Test func `a chart says how far back it reaches`() {
        var load = LoadHistory()
        for _ in 0..<90 { load.sample(Mock.report, [:]) }
        var snapshot = Mock.snapshot(.gate("analytics/segment"))
        snapshot.load["analytics/segment"] = load["analytics/segment"]
        let session = TerminalSession(
            .standard,
            snapshot,
            palette: TerminalPalette(isColoured: true, isUnicode: true),
            at: .gate("analytics/segment"),
            width: 80,
            height: 60
        )
        let screen = screen(session)
        #expect(screen.contains { $0.hasSuffix("Waiting events, the last 1 min") }, "\(screen)")
    }

    @Test func `in ASCII mode nothing but ASCII is shown`() {
        for line in screen(session(isUnicode: false)) { #expect(line.utf8.allSatisfy { $0 < 0x80 }) }
    }

    @Test func `a wide terminal shows what the selected row leads to beside the list`() {
        var session = session(width: 200, height: 60)
        _ = press(&session, .down, .down)
        #expect(session.routes == [.gates, .gate("analytics/posthog")])
        #expect(screen(session).contains { $0.contains("│ /gates/analytics/posthog") })
        #expect(screen(session).contains { $0.contains("remedy") && $0.contains("give it another") })
        _ = press(&session, .enter)
        #expect(session.routes == [.gate("analytics/posthog")])
        _ = press(&session, .escape)
        #expect(session.routes == [.gates, .gate("analytics/posthog")], "the row is still selected")
    }

    @Test func `keys lead from the tree to a gate, to an operation, and back`() {
        var session = session()
        #expect(press(&session, .down, .enter) == [.refresh])
        #expect(session.coordinator.route == .gate("analytics/segment"))
        _ = press(&session, .end, .enter)
        #expect(session.coordinator.route == .operation("track", of: "analytics/segment"))
        _ = press(&session, .escape, .left)
        #expect(session.coordinator.route == .gates)
        _ = press(&session, .character("3"))
        #expect(session.coordinator.route == .dead)
        _ = press(&session, .tab)
        #expect(session.coordinator.route == .events)
        #expect(press(&session, .character("q")) == [.quit])
    }

    @Test func `a gate is retried at once, and the last line shows the outcome`() {
        var session = session()
        let act = GateScene.acts(on: Mock.report.gates[2], shared: Mock.report.sharedGates)[0]
        #expect(press(&session, .end, .character("r")) == [.perform(act)])
        #expect(screen(session).last == "retry analytics/posthog …")
        #expect(session.done("analytics/posthog is open") == [.refresh])
        #expect(screen(session).last == "analytics/posthog is open")
    }

    @Test func `a dead letter is dropped only after y`() {
        var session = session(.dead)
        #expect(press(&session, .character("d")).isEmpty)
        #expect(screen(session).contains { $0.contains("Drop the dead letter m3 of analytics/segment?") })
        #expect(press(&session, .enter).isEmpty, "a key that was meant for something else")
        #expect(session.coordinator.dialog != nil)
        #expect(press(&session, .character("n")).isEmpty && session.coordinator.dialog == nil)
        _ = press(&session, .character("d"))
        guard case .perform(let act)? = press(&session, .character("y")).first else {
            Issue.record("nothing is done")
            return
        }
        #expect(act.verb == .drop && act.subject == .letter("m3", connector: "analytics/segment"))
    }

    @Test func `only a capital letter acts on every dead letter`() {
        var session = session(.dead)
        _ = press(&session, .character("P"))
        guard let act = session.coordinator.dialog?.confirmed else {
            Issue.record("there is no question")
            return
        }
        #expect(act.subject.isEveryLetter)
        var gates = self.session()
        #expect(press(&gates, .character("P")).isEmpty)
        #expect(screen(gates).last == "there is nothing here to replay")
    }

    @Test func `the command line that does the same is copied`() {
        var session = session(.dead)
        #expect(press(&session, .character("y")) == [.copy("connector-host outbox explain m3")])
        #expect(screen(session).last == "copied: connector-host outbox explain m3")
    }

    @Test func `cursors and searches are kept for going back, and their number is bounded`() {
        var session = session()
        _ = press(&session, .character("/"), .character("p"), .enter)
        for number in 0..<200 {
            _ = session.dispatch(.move(.event("m\(number)")))
            _ = press(&session, .character("/"), .character("x"), .enter)
            _ = session.dispatch(.back)
        }
        #expect(session.coordinator.route == .gates && session.searches[.gates] == "p")
        #expect(session.cursors.count <= TerminalSession.sceneLimit)
        #expect(session.searches.count <= TerminalSession.sceneLimit)
    }

    @Test func `a search shows only what it finds, until Escape`() {
        var session = session()
        _ = press(&session, .character("/"), .character("p"), .character("o"), .character("s"))
        #expect(screen(session).last == "/pos")
        #expect(!screen(session).contains { $0.contains("segment") })
        _ = press(&session, .enter, .end, .enter)
        #expect(session.coordinator.route == .gate("analytics/posthog"))
        _ = press(&session, .escape)
        #expect(session.coordinator.route == .gates && screen(session)[1] == "/gates   / pos")
        _ = press(&session, .escape)
        #expect(screen(session).contains { $0.contains("segment") })
    }

    @Test func `a search of the outbox asks for what it finds on all pages, and shows the known rows meanwhile`() {
        var session = session(.dead)
        #expect(press(&session, .character("/"), .character("x")) == [.refresh])
        let found = Route.dead.searched(by: "x")
        #expect(session.routes == [found] && session.coordinator.route == .dead)
        #expect(!screen(session).contains { $0.contains("m3") || $0.contains("…") })
        var snapshot = Mock.snapshot(found)
        snapshot.records[found] = RecordPage([Mock.record("x9", .dead)])
        _ = session.update(snapshot)
        #expect(screen(session).contains { $0.contains("x9") } && screen(session)[1].hasPrefix("/dead"))
        _ = press(&session, .enter)
        #expect(press(&session, .escape) == [.refresh] && session.routes.first == .dead)
        _ = press(&session, .character("/"))
        _ = session.handle(.paste(String(repeating: "x", count: 10_000)))
        #expect(session.prompt?.count == TerminalSession.searchLimit)
    }

    @Test func `a screen of any claimed size takes a bounded number of cells`() {
        var session = session(width: 65_535, height: 65_535)
        let limit = TerminalSession.sizeLimit
        #expect(session.windows.width == limit.width && session.windows.height == limit.height)
        _ = session.resize(width: 80, height: 24)
        _ = session.resize(width: 65_535, height: 10)
        #expect(session.draw().width == limit.width && session.draw().height == 10)
    }

    @Test(arguments: [20, 30, 40, 60])
    func `the current tab is in sight, and a click on it stays there`(_ width: Int) throws {
        var session = session(width: width)
        for (number, title) in ["Gates", "Outbox", "Dead", "Events", "Plugins", "Config"].enumerated() {
            _ = press(&session, .character(Character("\(number + 1)")))
            let bar = screen(session)[0]
            let place = try #require(bar.firstRange(of: "\(number + 1) \(title)"), "\(bar)")
            let route = session.coordinator.route
            _ = session.handle(.click(column: bar.distance(from: bar.startIndex, to: place.lowerBound), line: 0))
            #expect(session.coordinator.route == route)
        }
    }

    @Test func `help names every key, and fits into 24 lines`() {
        var session = session()
        _ = press(&session, .character("?"))
        let screen = screen(session).joined(separator: "\n")
        for binding in KeyBinding.all { #expect(screen.contains(binding.name), "\(binding.name)") }
        _ = press(&session, .character("x"))
        #expect(session.coordinator.dialog == nil)
    }

    @Test func `on a low screen the list of keys is scrolled, and a question shows how to answer it`() {
        var session = session(height: 15)
        _ = press(&session, .character("?"))
        var seen = Set(screen(session))
        #expect(!seen.contains { $0.contains("q, control-c") })
        for _ in 0..<40 {
            _ = press(&session, .down)
            seen.formUnion(screen(session))
        }
        for binding in KeyBinding.all where !binding.name.isEmpty {
            #expect(seen.contains { $0.contains("│ \(binding.name) ") }, "\(binding.name)")
        }
        #expect(session.coordinator.dialog == .help && screen(session).contains { $0.contains("up, down") })
        _ = press(&session, .character("x"))
        #expect(session.coordinator.dialog == nil)
        var narrow = self.session(.dead, width: 20, height: 6)
        _ = press(&narrow, .character("D"))
        #expect(screen(narrow).contains { $0.contains("y  yes") }, "\(screen(narrow))")
    }

    @Test func `the mouse selects, opens, scrolls and turns to tabs`() {
        var session = session()
        #expect(session.handle(.click(column: 10, line: 7)).isEmpty)
        #expect(session.row?.id == "analytics/posthog")
        #expect(session.handle(.click(column: 10, line: 7)) == [.refresh])
        #expect(session.coordinator.route == .gate("analytics/posthog"))
        _ = session.handle(.click(column: 12, line: 0))
        #expect(session.coordinator.route == .outbox)
        _ = session.handle(.wheel(1))
        _ = session.handle(.click(column: 79, line: 0))
        _ = session.handle(.click(column: 500, line: 500))
        #expect(session.coordinator.route == .outbox)
    }

    @Test func `the row stays selected while others come and go`() {
        var session = session()
        _ = press(&session, .end)
        var snapshot = Mock.snapshot(.gates)
        snapshot.report.gates.insert(Mock.gate("analytics/a"), at: 1)
        let isOther = session.update(snapshot)
        #expect(isOther && session.row?.id == "analytics/posthog")
        snapshot.report.gates.removeLast()
        _ = session.update(snapshot)
        #expect(session.row?.id == "analytics/segment", "the last one that is left")
        let isOtherAgain = session.update(snapshot)
        #expect(!isOtherAgain)
    }

    @Test func `the latest events stay in view until somebody goes up`() {
        var session = session(.events, height: 10)
        var snapshot = Mock.snapshot()
        snapshot.events = (0..<100).map { .init(connector: "a", name: "n\($0)", time: Mock.now) }
        _ = session.update(snapshot)
        #expect(screen(session).contains { $0.contains("n99") })
        _ = press(&session, .home)
        _ = session.update(snapshot)
        #expect(screen(session).contains { $0.contains("n0") } && !screen(session).contains { $0.contains("n99") })
    }

    @Test(arguments: [(0, 0), (1, 1), (3, 2), (10, 5), (79, 3), (120, 4), (121, 24), (500, 200)])
    func `no size is too small or too large`(size: (width: Int, height: Int)) {
        var session = session(width: 80, height: 24)
        for route in [
            Route.gates, .gate("analytics/segment"), .outbox, .event("m3"), .dead, .events, .plugins, .configuration,
            .plan,
        ] {
            session = self.session(route, width: 80, height: 24)
            _ = session.resize(width: size.width, height: size.height)
            for key in [.end, .up, .pageDown, .enter, .escape, .character("?"), .home] as [TerminalInput.Key] {
                _ = press(&session, key)
                #expect(session.draw().width == size.width)
            }
        }
    }

    @Test func `long reasons are wrapped, not cut`() {
        var snapshot = Mock.snapshot()
        let reason = (1...60).map { "word\($0)" }.joined(separator: " ") + " " + String(repeating: "x", count: 300)
        snapshot.report.gates[2].error?.message = reason
        var session = session(.gate("analytics/posthog"))
        _ = session.update(snapshot)
        let screen = screen(session).joined(separator: " ")
        #expect(screen.contains("word60") && screen.count { $0 == "x" } >= 300)
    }

    @Test(arguments: [TerminalInput.Key.down, .up, .pageDown, .pageUp])
    func `no line of a row that is taller than the page is skipped`(_ key: TerminalInput.Key) {
        let (start, end): (TerminalInput.Key, TerminalInput.Key) =
            [.down, .pageDown].contains(key) ? (.home, .end) : (.end, .home)
        let words = Set((1...300).map { "word\($0)" })
        var snapshot = Mock.snapshot()
        snapshot.report.gates[2].error?.message = words.sorted().joined(separator: " ")
        var session = session(.gate("analytics/posthog"), height: 10)
        func shown() -> Set<String> {
            Set(screen(session).joined(separator: " ").split(separator: " ").map(String.init)).intersection(words)
        }
        _ = session.update(snapshot)
        _ = press(&session, start)
        var seen = shown()
        #expect(seen.count < 300)
        for _ in 0..<80 {
            _ = press(&session, key)
            seen.formUnion(shown())
        }
        #expect(seen == words, "\(words.subtracting(seen).sorted())")
        let last = session.cursor.place
        _ = press(&session, end)
        #expect(session.cursor.place == last, "the key leads to the end, too")
    }
}
