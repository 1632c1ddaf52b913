// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@testable import ConnectorConsole

/// Scenes of an application that act, without a host and without a platform.
@Suite struct ApplicationSceneTests {
    private let sites = Sites()
    private let list = Route(Sites.Place.list)

    private func scene(_ console: Console, _ route: Route) async -> Scene {
        console.registry.scene(for: route, of: await console.snapshot(for: [route]))
    }

    @Test(arguments: [Sites.Place.list, .site("a/b c"), .within("ü", tab: 3)])
    func `a route carries a value through text`(_ place: Sites.Place) throws {
        let route = try #require(Route(Route(place).description))
        #expect(route.value(as: Sites.Place.self) == place)
        #expect(Route(["sites", "a", "not a number"]).value(as: Sites.Place.self) == nil)
        #expect(Route(["gates"]).value(as: Sites.Place.self) == nil)
    }

    @Test func `a button calls its closure, and the scene shows what it did`() async throws {
        let console = Console(registry: sites.registry())
        let act = try #require(await scene(console, list).act("remove bonn at /sites"))
        #expect(act.question == "Remove it?" && act.verb.rawValue == "remove")
        #expect(await console.perform(act) == "removed bonn")
        let after = await scene(console, list)
        #expect(after.component("list")?.rows.map(\.id) == ["berlin"])
        let again = await console.perform(act)
        #expect(again.isFailure && again.code == .conflict, "it is not offered any more")
    }

    @Test func `a form's fields are checked before its closure runs, and again within it`() async throws {
        let console = Console(registry: sites.registry())
        let form = try #require(await scene(console, list).component("add")?.form)
        let early = #expect(throws: FormFault.self) { try form.act(["limit": "warm"]) }
        #expect(early?.errors.keys.sorted() == ["limit", "name"])
        let late = await console.perform(try form.act(["name": "kiel", "limit": "-1"]))
        #expect(late.isFailure && late.fieldErrors == ["limit": "must be positive"])
        #expect(await scene(console, list).component("add")?.state.isFailed == true)
        let added = await console.perform(try form.act(["name": "kiel", "limit": "12.5"]))
        #expect(added.route == Route("/sites/kiel") && sites.all.map(\.name) == ["berlin", "bonn", "kiel"])
        #expect(await scene(console, list).component("add")?.state == .loaded)
    }

    @Test func `an act runs once at a time, is pending meanwhile, and stays failed until it succeeds`() async throws {
        let (steps, step) = AsyncStream.makeStream(of: Bool.self)
        let console = Console(
            registry: sites.registry {
                for await isGood in steps {
                    guard isGood else { throw ConnectorError(.timedOut, "nobody came") }
                    return
                }
            }
        )
        let act = try #require(await scene(console, list).act("wait at /sites"))
        let running = console.begin(act)
        #expect(await scene(console, list).act(act.id)?.state.isPending == true)
        let refused = await console.perform(act)
        #expect(refused.sentence == "still running: wait" && refused.isFailure && refused.code == .conflict)
        step.yield(false)
        #expect(await running.value.sentence == "wait failed: nobody came [timed-out]")
        let failed = try #require(await scene(console, list).act(act.id))
        #expect(failed.state == .failed("wait failed: nobody came [timed-out]"))
        let again = console.begin(failed)
        step.yield(true)
        #expect(await again.value == "waited")
        #expect(await scene(console, list).act(act.id)?.state == .loaded)
    }

    @Test func `a running act is cancelled with the task that waits for it`() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let console = Console(
            registry: sites.registry {
                begin.yield()
                // Ends only when it is cancelled.
                for await _ in AsyncStream<Never>.makeStream().stream {}
                try Task.checkCancellation()
            }
        )
        let act = try #require(await scene(console, list).act("wait at /sites"))
        let task = Task { await console.perform(act) }
        for await _ in begun { break }
        task.cancel()
        #expect(await task.value.sentence == "wait failed: it was cancelled")
    }

    @Test func `acts that share a name do nothing, and say why`() async throws {
        var registry = ConsoleRegistry.componentsAlone
        registry.register(
            SceneDescriptor("twins", title: "Twins") { context in
                var scene = Scene(context.route, "Twins", [])
                scene.acts = [context.act("a", "one") { "one" }, context.act("a", "other") { "other" }]
                return scene
            }
        )
        let console = Console(registry: registry)
        let act = try #require(await scene(console, Route(["twins"])).acts.first)
        #expect(await console.perform(act).sentence == "one failed: the scene has two acts named a")
    }

    @Test func `an act on the host is refused when there is no host`() async {
        let console = Console(registry: sites.registry())
        let outcome = await console.perform(ConsoleAct(.retry, .gate("a"), title: "retry a"))
        #expect(outcome.isFailure && outcome.code == .unsupported)
    }

    @Test func `a model puts values into the snapshot`() async {
        struct Model: ConsoleModel {
            func snapshot(for routes: [Route]) async -> ConsoleSnapshot {
                var snapshot = ConsoleSnapshot()
                snapshot[[String].self] = routes.map(\.description)
                return snapshot
            }
        }
        var registry = ConsoleRegistry.componentsAlone
        registry.register(
            SceneDescriptor("asked", title: "Asked") { context in
                let asked = context.value([String].self) ?? []
                let log = LogModel(asked.map { StyledText($0) })
                return Scene(context.route, "Asked", [context.component("asked", log)])
            }
        )
        let scene = await scene(Console(Model(), registry), Route(["asked"]))
        #expect(scene.text == "/asked")
        #expect(registry.scene(for: Route(["asked"]), of: ConsoleSnapshot()).components.first?.rows.isEmpty == true)
    }
}
