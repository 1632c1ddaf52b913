// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorConsole

/// Scenes mounted in the slots of other scenes.
@Suite struct SlotTests {
    private func registry(_ arrangement: Slot.Arrangement, _ routes: [Route], selected: Int? = nil) -> ConsoleRegistry {
        var registry = ConsoleRegistry.standard
        registry.register(
            SceneDescriptor("outer", title: "Outer") { context in
                let slot = context.slot(
                    Slot("inner", arrangement),
                    title: "Inner",
                    routes.map { Slot.Entry("to \($0.root)", $0) },
                    selected: selected
                )
                return Scene(context.route, "Outer", [context.component("first", NoticeModel("first")), slot])
            }
        )
        return registry
    }

    private func scene(_ registry: ConsoleRegistry) -> Scene {
        registry.scene(for: Route(["outer"]), of: Mock.snapshot(.dead, .outbox, .plugins))
    }

    @Test func `a nested slot shows every scene, with its acts`() throws {
        let scene = scene(registry(.nested, [.events, .dead]))
        #expect(scene.mounted == [.events, .dead])
        #expect(scene.text.contains("left") && scene.text.contains("m3"))
        let buttons = try #require(scene.component("inner/dead#acts"))
        #expect(buttons.shape == .buttons && buttons.rows.count == 2)
        #expect(scene.act(scene.allActs.first { $0.verb == .drop && $0.subject.isEveryLetter }?.id ?? "") != nil)
        #expect(Set(scene.components.map(\.id)).count == scene.components.count)
    }

    @Test func `tabs show the selected scene, and link to the others`() throws {
        let scene = scene(registry(.tabs, [.events, .dead], selected: 1))
        let tabs = try #require(scene.component("inner"))
        #expect(tabs.shape == .tabs && tabs.rows.map(\.link) == [.events, .dead])
        #expect(tabs.rows.map(\.cells[0].text) == ["○ to events", "● to dead"])
        #expect(scene.text.contains("m3") && !scene.text.contains("left"))
        #expect(self.scene(registry(.tabs, [.events], selected: 9)).components.count == 2, "there is no such tab")
    }

    @Test func `a stack shows the last scene, and links to those below`() throws {
        let scene = scene(registry(.stack, [.events, .dead]))
        #expect(scene.component("inner")?.rows.map(\.link) == [.events, .dead])
        #expect(scene.text.contains("m3") && !scene.text.contains("left"))
        #expect(
            self.scene(registry(.stack, [.dead])).component("inner")?.rows.isEmpty == true,
            "there is nothing to go back to"
        )
    }

    @Test func `a hidden slot shows nothing, and its scene is kept up to date`() {
        let scene = scene(registry(.hidden, [.dead]))
        #expect(scene.components.count == 1 && scene.mounted == [.dead])
    }

    @Test func `a slot says if its scene is mounted in itself or does not exist`() {
        #expect(scene(registry(.nested, [Route(["outer"])])).text.contains("/outer cannot be mounted in itself"))
        #expect(scene(registry(.nested, [Route(["nowhere"])])).text.contains("there is nothing at /nowhere"))
    }

    @Test func `scenes that nest endlessly are cut off`() {
        var registry = ConsoleRegistry.componentsAlone
        registry.register(
            SceneDescriptor("deep", title: "Deep") { context in
                let next = (context.route.parts.dropFirst().first.flatMap { Int($0) } ?? 0) + 1
                let entries = (0..<4).map { Slot.Entry("", Route(["deep", "\(next)", "\($0)"])) }
                return Scene(context.route, "Deep", [context.slot(Slot("next"), entries)])
            }
        )
        let scene = registry.scene(for: Route(["deep"]), of: ConsoleSnapshot())
        #expect(scene.components.count < 300 && scene.text.contains("too many scenes in slots"))
    }

    @Test func `a snapshot covers the scenes in slots, and those in their slots`() async {
        var registry = registry(.nested, [.plugins])
        registry.register(
            SceneDescriptor("whole", title: "Whole") { context in
                Scene(context.route, "Whole", [context.slot(Slot("a"), [Slot.Entry("", Route(["outer"]))])])
            }
        )
        struct Model: ConsoleModel {
            func snapshot(for routes: [Route]) async -> ConsoleSnapshot { Mock.snapshot() }
        }
        let console = Console(Model(), registry)
        let snapshot = await console.snapshot(for: [Route(["whole"])])
        #expect(snapshot.routes == [Route(["whole"]), Route(["outer"]), .plugins])
        #expect(registry.scene(for: Route(["whole"]), of: snapshot).text.contains("libsegment"))
    }
}
