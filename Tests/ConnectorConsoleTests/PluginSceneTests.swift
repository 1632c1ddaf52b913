// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorPlatform
import ConnectorServices
import ConnectorTestSupport
import Testing

@testable import ConnectorConsole
@testable import ConnectorConsoleTerminal
@testable import ConnectorConsoleWeb
@testable import ConnectorHost

/// Scenes that plugins describe in their manifests.
@Suite(.timeLimit(.minutes(5))) struct PluginSceneTests {
    private static let manifest = try? Manifest(
        parsing: Array(
            #"""
            {"manifest": 1, "id": "meter", "version": "1.0.0", "abi": [1, 1], "entry": "e", "capabilities": {"sensor/1": {}},
             "scenes": {"gates": {"title": "Meter", "components": {
               "now": {"title": "Now", "operation": "latest", "rows": "all", "every": "5s",
                       "columns": [{"title": "sensor", "value": "sensor"}, {"title": "value", "value": "value", "number": true}]},
               "curve": {"as": "chart", "operation": "latest", "columns": [{"value": "value", "number": true}]},
               "last": {"title": "Last", "as": "log", "events": ["limit"]}}}}}
            """#.utf8
        ),
        file: ""
    )

    private func scene() throws -> PluginScene {
        let manifest = try #require(Self.manifest)
        let scenes = PluginScene.scenes(of: [("a", manifest), ("b/c", manifest)], besides: ["gates"])
        #expect(scenes.count == 1 && scenes[0].gates == ["a", "b/c"])
        return scenes[0]
    }

    private func registry() throws -> ConsoleRegistry {
        var registry = ConsoleRegistry.standard
        registry.register(try scene().descriptor)
        return registry
    }

    @Test func `a scene whose name is taken is prefixed with its plugin's id`() throws {
        #expect(try scene().root == "meter.gates" && scene().descriptor.title == "Meter")
    }

    @Test func `a scene's command line makes the scene's first call, with its arguments`() throws {
        let text = #"""
            {"manifest": 1, "id": "meter", "version": "1.0.0", "abi": [1, 1], "entry": "e",
             "capabilities": {"mine/1": {"read": {"symbol": "r", "signature": "(name: string, n: i32, of: json?) -> json"}}},
             "scenes": {"meter": {"title": "Meter", "components": {
               "last": {"as": "log", "events": ["limit"]},
               "now": {"operation": "read", "arguments": {"name": "the load", "n": 3, "of": {"unit": "W"}}}}}}}
            """#
        let manifest = try Manifest(parsing: Array(text.utf8), file: "")
        let scene = try #require(PluginScene.scenes(of: [("a", manifest)], besides: []).first)
        var registry = ConsoleRegistry.standard
        registry.register(scene.descriptor)
        let route = Route(["meter"])
        let line = registry.scene(for: route, of: Mock.snapshot(route)).commandLine
        #expect(line == "connector-host call a read 'name=the load' n=3 unit=W")
    }

    @Test func `answers become a bounded number of bounded rows, and missing members empty cells`() throws {
        let component = try #require(Self.manifest?.scenes[0].components[0])
        let long = String(repeating: "x", count: 1000)
        let rows = PluginFeed.rows(
            of: ["all": [["sensor": "t", "value": 1.5], ["sensor": .string(long)], 7]],
            component
        )
        #expect(rows[0] == ["t", "1.5"] && rows[1][0].count <= PluginFeed.cellLimit + 1 && rows[2] == ["", ""])
        #expect(PluginFeed.rows(of: ["other": 1], component).isEmpty && PluginFeed.rows(of: .null, component).isEmpty)
        let many = JSONValue.array(Array(repeating: ["sensor": "t"], count: 1000))
        #expect(PluginFeed.rows(of: ["all": many], component).count == PluginFeed.rowLimit)
    }

    @Test func `a call is due at once, not while it runs, and again after its interval`() throws {
        let scene = try scene()
        var feeds = PluginFeeds()
        #expect(feeds.calls(for: scene, at: 100).count == 4)
        #expect(feeds.calls(for: scene, at: 200).isEmpty)
        let key = PluginFeed.key(scene, "a", scene.scene.components[0])
        feeds.end(key, .success([["t", "1"]]), next: 5000)
        #expect(feeds.feeds[key]?.state == .loaded && feeds.calls(for: scene, at: 4999).isEmpty)
        #expect(feeds.calls(for: scene, at: 5000).map(\.key) == [key])
        feeds.end(key, .failure(ConnectorError(.timedOut, "nobody came")), next: 9000)
        #expect(
            feeds.feeds[key]?.state.isFailed == true && feeds.feeds[key]?.rows == [["t", "1"]],
            "the old rows stay"
        )
    }

    /// What a host says of the scene: one gate answers, the other fails with a text that looks like markup.
    private func snapshot() throws -> ConsoleSnapshot {
        let scene = try scene()
        var snapshot = Mock.snapshot(Route([scene.root]))
        let component = scene.scene.components[0]
        snapshot.feeds[PluginFeed.key(scene, "a", component)] = PluginFeed(state: .loaded, rows: [["<b>t</b>", "1.5"]])
        let error = ConnectorError(.unavailable, "it is \u{1B}[31maway<script>")
        snapshot.feeds[PluginFeed.key(scene, "b/c", component)] = PluginFeed(state: .failed(error), rows: [])
        snapshot.events = ["limit", "other"].map {
            ConnectorEvent(connector: "a", name: $0, payload: ["left": 3], time: Mock.now)
        }
        return snapshot
    }

    @Test func `a scene shows answers, failures and events`() throws {
        let scene = try registry().scene(for: Route(["meter.gates"]), of: snapshot())
        #expect(scene.components.count == 6 && scene.text.contains("a: Now\n<b>t</b> | 1.5"))
        #expect(scene.component("b/c now")?.state.code == .unavailable)
        #expect(scene.component("a curve")?.state == .loading)
        #expect(scene.component("a last")?.rows.map(\.cells[0].text) == [#"{"left":3}"#])
        #expect(scene.component("b/c last")?.state == .empty("no events yet"))
    }

    @Test func `both platforms draw a scene in a tab of its own, and escape what its plugin says`() throws {
        let route = Route(["meter.gates"])
        let content = PageContent(PageAddress(route), try registry(), try snapshot())
        let page = PageView(title: "", canAct: true).page(content, version: "").text
        #expect(page.contains(">Meter</a>") && page.contains("&lt;b&gt;t") && !page.contains("away<script"))
        #expect(page.contains("class=\"state v-failed\" role=\"alert\"") && page.contains("aria-busy=\"true\""))
        let session = TerminalSession(
            try registry(),
            try snapshot(),
            palette: TerminalPalette(isColoured: true, isUnicode: true),
            at: route,
            width: 100,
            height: 60
        )
        let canvas = session.draw()
        let screen = (0..<canvas.height).map { canvas.text(ofLine: $0) }.joined(separator: "\n")
        #expect(screen.contains("7 Meter") && screen.contains("<b>t</b>") && screen.contains("[unavailable]"))
        #expect(screen.contains("loading") && !screen.contains("\u{1B}"))
    }

    @Test(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
    func `a plugin with a scene gets a tab, and its values come from a call`() async throws {
        let host = try ConnectorHost.testing(
            #"[{"name": "machine", "plugin": "system-sensor"}]"#,
            plugins: ["\(ConnectorHost.Options.executableDirectory ?? "")/libsystem-sensor.so"]
        )
        await host.open()
        let console = Console(HostConsoleModel(host), .standard)
        #expect(console.registry.tabs.last?.title == "System")
        let route = Route(["system"])
        var scene = console.registry.scene(for: route, of: await console.snapshot(for: [route]))
        while scene.components.contains(where: { $0.state == .loading }) {
            try await Task.checkedYield()
            scene = console.registry.scene(for: route, of: await console.snapshot(for: [route]))
        }
        #expect(scene.component("machine now")?.rows.contains { $0.cells[0].text == "load.1m" } == true)
        await host.close()
    }

    // MARK: Reloads

    private func configuration(_ leaves: (name: String, plugin: String)...) throws -> Configuration {
        let leaves = leaves.map { #"{"name": "\#($0)", "plugin": "\#($1)"}"# }.joined(separator: ",")
        return try Configuration(
            parsing: #"{"version": 1, "connectors": [\#(leaves)]}"#,
            environment: Configuration.Environment([:])
        )
    }

    @Test(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
    func `a reload that adds or removes a plugin adds or removes its tab on both platforms`() async throws {
        let images = try #require(ConnectorHost.Options.executableDirectory)
        let host = try ConnectorHost.testing(
            #"[{"name": "a", "plugin": "calls"}]"#,
            plugins: [Fixtures.contract("calls"), "\(images)/libsystem-sensor.so"]
        )
        await host.open()
        let console = Console(HostConsoleModel(host), .standard)
        var session = TerminalSession(
            console.registry,
            await console.snapshot(for: [.gates]),
            palette: TerminalPalette(isColoured: true, isUnicode: true),
            at: .gates,
            width: 140,
            height: 40
        )
        let system = Route(["system"])
        func content() async -> PageContent {
            let snapshot = await console.snapshot(for: [system])
            return PageContent(PageAddress(system), console.registry, snapshot)
        }
        func bar() async -> String {
            _ = session.update(await console.snapshot(for: session.routes), console.registry)
            return session.draw().text(ofLine: 0)
        }
        let before = await content()
        #expect(before.tabs.last?.title == "Config" && !before.isFound)

        #expect(await host.reload(try configuration(("a", "calls"), ("machine", "system-sensor"))).isActive)
        let added = await content()
        #expect(added.tabs.last?.title == "System" && added.isFound)
        let operations = PageDifference(from: before, to: added, canAct: true).operations
        let tabs = operations.first { $0[0] == "replace" && $0[1] == "tabs" }
        #expect(tabs?[2]?.string?.contains(#"<a href="/system" aria-current="page">System</a>"#) == true)
        #expect(await bar().contains("7 System"))
        _ = session.handle(.key(.character("7")))
        #expect(session.coordinator.route == system)

        #expect(await host.reload(try configuration(("b", "calls"))).isActive)
        #expect(await content().tabs == before.tabs)
        #expect(await !bar().contains("System") && session.coordinator.route == .gates)
        await host.close()
    }
}
