// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorControl
import Synchronization
import Testing

@testable import ConnectorConsole
@testable import ConnectorConsoleWeb

/// What is done, and what is not, for someone who may look and not act.
@Suite struct ReaderTests {
    /// A model that notes what it is asked for.
    private final class AskedModel: ConsoleModel {
        private let asked = Mutex<[Route]>([])

        var routes: [Route] { asked.withLock(\.self) }

        func snapshot(for routes: [Route]) async -> ConsoleSnapshot {
            asked.withLock { $0 += routes }
            return ConsoleSnapshot(time: Mock.now)
        }
    }

    @Test func `no plan is made for a reader, and the page says so`() async {
        let model = AskedModel()
        let pages = LivePages(Console(model, .standard))
        let read = await pages.content(of: PageAddress(.plan), for: .read).content
        #expect(read.scene.text.contains("only those who may act see the plan") && read.isFound)
        #expect(!model.routes.contains(.plan))
        let act = await pages.content(of: PageAddress(.plan), for: .act).content
        #expect(act.scene.text.contains("loading"))
        #expect(model.routes.contains(.plan))
    }

    @Test func `a scene that mounts the plan has none made for a reader either`() async {
        var registry = ConsoleRegistry.standard
        registry.register(
            SceneDescriptor("outer", title: "Outer") { context in
                Scene(context.route, "Outer", [context.slot(Slot("inner"), [Slot.Entry("Plan", .plan)])])
            }
        )
        let model = AskedModel()
        let pages = LivePages(Console(model, registry))
        let read = await pages.content(of: PageAddress(Route(["outer"])), for: .read).content
        #expect(read.scene.text.contains("only those who may act see the plan"))
        #expect(!model.routes.contains(.plan) && model.routes.contains(Route(["outer"])))
    }

    @Test func `a page for readers and one for those who may act are updated each from a snapshot of its own`()
        async throws
    {
        let model = AskedModel()
        let pages = LivePages(Console(model, .standard))
        let address = PageAddress(.plan)
        let reader = try #require(await pages.watch(address, as: .read))
        await pages.update()
        #expect(!model.routes.contains(.plan))
        let actor = try #require(await pages.watch(address, as: .act))
        await pages.update()
        #expect(model.routes.contains(.plan))
        await pages.unwatch(address, as: .read, reader.number)
        await pages.unwatch(address, as: .act, actor.number)
    }
}
