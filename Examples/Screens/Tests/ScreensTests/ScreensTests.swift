// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorConsole
import ConnectorHost
import ConnectorHostTesting
import Notes
import PlainText
import Testing

/// The scenes of the application: as values on the bench, and as plain text.
@Suite struct ScreensTests {
    private let store = NoteStore(["milk": "buy two litres of milk"])
    private var registry: ConsoleRegistry {
        var registry = ConsoleRegistry.componentsAlone
        NoteScenes(store).register(in: &registry)
        return registry
    }

    @Test(arguments: [NoteRoute.list, .note("milk"), .note("milk", .numbers)])
    func `every place of the application has a scene`(_ place: NoteRoute) async {
        let bench = await SceneBench(EmptyConsoleModel(), registry, at: Route(place))
        #expect(bench.scene.title != "Not found" && Route(place).value(as: NoteRoute.self) == place)
    }

    @Test func `a note is added, shown in its tabs, and removed`() async throws {
        var bench = await SceneBench(EmptyConsoleModel(), registry, at: Route(NoteRoute.list))
        try await bench.fill("add", ["title": "milk"])
        #expect(bench.fieldErrors == ["title": "there is a note of this title"])
        try await bench.fill("add", ["title": "bread", "text": "one loaf"])
        #expect(bench.coordinator.route == Route(NoteRoute.note("bread")) && bench.text.contains("text | one loaf"))
        await bench.move(to: NoteRoute.note("bread", .numbers))
        #expect(bench.text.contains("words | 2"))
        try await bench.act("title")
        #expect(bench.message == "to title case failed: nobody has written it")
        await bench.move(to: NoteRoute.list)
        try await bench.act("remove bread")
        await bench.answer(true)
        #expect(store.titles == ["milk"])
    }

    @Test func `lines go in and lines come out`() async throws {
        var session = TextSession(Console(EmptyConsoleModel(), registry), at: Route(NoteRoute.list))
        #expect(
            await session.show() == [
                "== Notes (/notes)", "   title  letters", "   milk   22 [1] {remove milk}", "-- Add a note",
                "   title  text", "   text   empty", "   fill add NAME=VALUE …",
            ]
        )
        let note = try #require(await session.handle("open 1"))
        #expect(note.contains("   text  buy two litres of milk") && note.contains("   do Case > to upper case"))
        #expect(await session.handle("do to upper case")?.first == "> to upper case …")
        #expect(store["milk"] == "BUY TWO LITRES OF MILK")
        _ = await session.handle("back")
        #expect(await session.handle("do remove milk") == ["? Remove milk? It is lost for good. (yes, no)"])
        #expect(await session.handle("yes")?.contains("   (no notes yet)") == true)
        #expect(await session.handle("fill add text=x") == ["! title is missing"])
        #expect(await session.handle("open 9") == ["! there is no link 9"])
        #expect(await session.handle("dance")?.first?.hasPrefix("! dance is not") == true)
        #expect(await session.handle("quit") == nil)
    }

    @Test func `the scenes of a host are drawn by the same platform`() async throws {
        let error = ConnectorError(.unauthorized, "the key was refused")
        let host = MockHostModel([GateReport(path: "geocoder", state: .failed, error: error)])
        var session = TextSession(Console(host, .standard), at: .gates)
        #expect(await session.show().contains { $0.contains("geocoder") && $0.contains("the key was refused") })
        #expect(await session.handle("do retry geocoder")?.contains("> retry geocoder: done") == true)
        #expect(host.acts.map(\.verb) == [.retry])
    }
}
