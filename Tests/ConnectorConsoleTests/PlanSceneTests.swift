// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorConsole
@testable import ConnectorConsoleTerminal
@testable import ConnectorConsoleWeb
@testable import ConnectorHost

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The page of what a reload would change, and its button.
@Suite(.enabled(if: !Sanitizer.isPresent, "the fixtures are not built for a sanitizer"), .timeLimit(.minutes(5)))
struct PlanSceneTests {
    /// A host on a file.
    private final class FileHost: Sendable {
        let directory: String
        let host: ConnectorHost

        init() throws {
            var template = Array("/tmp/connector-plan-XXXXXX".utf8CString)
            directory = try unsafe String(cString: #require(unsafe mkdtemp(&template)))
            try Self.write("1", in: directory)
            host = try ConnectorHost(
                file: "\(directory)/connectors.json",
                options: .init(environment: .init([:]), pluginDirectories: [], stateDirectory: directory)
            )
        }

        func write(_ replies: String) throws { try Self.write(replies, in: directory) }

        private static func write(_ replies: String, in directory: String) throws {
            let gate: JSONValue = [
                "name": "gate", "plugin": .string(Fixtures.contract("calls")), "probe": "off",
                "config": ["replies": .string(replies)],
            ]
            let file: JSONValue = ["version": 1, "connectors": [gate]]
            try Self.write(text: file.serialized(), in: directory)
        }

        func write(text: String) throws { try Self.write(text: text, in: directory) }

        private static func write(text: String, in directory: String) throws {
            let file = unsafe try #require(fopen("\(directory)/connectors.json", "w"))
            unsafe fputs(text, file)
            unsafe fclose(file)
        }

        deinit {
            unsafe unlink("\(directory)/connectors.json")
            unsafe rmdir(directory)
        }
    }

    /// The snapshot of a model once its plan has been made.
    private func snapshot(_ model: HostConsoleModel) async throws -> ConsoleSnapshot {
        while true {
            let snapshot = await model.snapshot(for: [.plan])
            if snapshot.plan != nil { return snapshot }
            try await Task.checkedYield()
        }
    }

    private func scene(_ model: HostConsoleModel) async throws -> Scene {
        ConsoleRegistry.standard.scene(for: .plan, of: try await snapshot(model))
    }

    @Test func `the button applies the plan as shown, and is refused with what has changed since`() async throws {
        let test = try FileHost()
        await test.host.open()
        let model = HostConsoleModel(test.host)
        let loading = ConsoleRegistry.standard.scene(for: .plan, of: await model.snapshot(for: [.plan]))
        #expect(loading.components.first?.state == .loading)
        var scene = try await scene(model)
        #expect(scene.text.contains("nothing to do: 1 connector runs as the file says"))
        #expect(scene.acts.map(\.verb) == [.plan])

        try test.write("2")
        #expect(await model.perform(scene.acts[0]).isFailure == false)
        scene = try await self.scene(model)
        #expect(scene.text.contains("~ gate") && scene.text.contains("opens beside the one that runs"))
        #expect(scene.text.contains("config.replies: 1 → 2"))
        let apply = try #require(scene.acts.first { $0.verb == .apply })
        try test.write("3")
        let refused = await model.perform(apply)
        #expect(refused.isFailure && refused.code == .conflict)
        #expect(refused.sentence.contains("the file \(test.directory)/connectors.json"))
        #expect(try await test.host.gate("gate").call("answer", ["value": 0]) == 1)

        scene = try await self.scene(model)
        #expect(scene.text.contains("config.replies: 1 → 3"))
        let next = try #require(scene.acts.first { $0.verb == .apply })
        #expect(next.id != apply.id)
        #expect(await model.perform(next).sentence == "applied: 1 changed, 0 kept")
        #expect(try await test.host.gate("gate").call("answer", ["value": 0]) == 3)
        scene = try await self.scene(model)
        #expect(scene.text.contains("nothing to do"))

        try test.write(text: "{")
        _ = await model.perform(scene.acts[0])
        scene = try await self.scene(model)
        #expect(scene.text.contains("the file is not valid") && scene.text.contains("[syntax]"))
        #expect(scene.acts.map(\.verb) == [.plan])
        await test.host.close()
    }

    @Test func `a click on an outdated page's button names what has changed, and the page shows the new plan`()
        async throws
    {
        let test = try FileHost()
        await test.host.open()
        let generation = test.host.report.gates.first?.generation
        try test.write("2")
        let console = try await ServedConsole(test.host)
        let fields = [
            "Cookie": try await console.enter(), "Origin": "http://\(console.authority)", "Accept": "text/html",
        ]
        func page(_ text: String) async throws -> String {
            while true {
                let page = try await console.ask("GET", "/plan", fields)
                if page.contains(text) { return page }
            }
        }
        func button(_ page: String) -> String? {
            page.firstRange(of: "value=\"apply plan ").map { range in
                "apply+plan+" + page[range.upperBound...].prefix { $0 != "\"" }
            }
        }
        let old = try #require(button(await page("config.replies: 1 → 2")))
        try test.write("3")
        // Another operator makes the plan again.
        let again = try await console.ask("POST", "/-/act", fields, body: "at=%2Fplan&act=plan+plan+0")
        #expect(again.status == 303)
        let new = try #require(button(await page("config.replies: 1 → 3")))
        #expect(new != old)
        let moved = "there have been changes of the file \(test.directory)/connectors.json"
        let clicked = try await console.ask("POST", "/-/act", fields, body: "at=%2Fplan&act=\(old)")
        #expect(clicked.status == 303 && clicked.field("location") == "/plan")
        let told = try await console.ask("GET", "/plan", fields)
        #expect(told.contains(moved), "\(told)")
        let script = fields.merging(["Accept": "text/plain"]) { $1 }
        let posted = try await console.ask("POST", "/-/act", script, body: "at=%2Fplan&act=\(old)")
        #expect(posted.status == 409 && posted.contains(moved))
        #expect(test.host.report.gates.first?.generation == generation)
        _ = try await page("config.replies: 1 → 3")
        #expect(try await console.ask("POST", "/-/act", script, body: "at=%2Fplan&act=\(new)").contains("applied: "))
        await console.stop()
        await test.host.close()
    }

    @Test func `both consoles show the plan with its button`() async throws {
        let test = try FileHost()
        await test.host.open()
        try test.write("2")
        let model = HostConsoleModel(test.host)
        let snapshot = try await snapshot(model)
        var session = TerminalSession(
            .standard,
            snapshot,
            palette: TerminalPalette(isColoured: false, isUnicode: true),
            at: .plan,
            width: 100,
            height: 24
        )
        let canvas = session.draw()
        let screen = (0..<canvas.height).map { canvas.text(ofLine: $0) }.joined(separator: "\n")
        #expect(screen.contains("~ gate") && screen.contains("config.replies: 1 → 2"))
        _ = session.handle(.key(.character("a")))
        let effects = session.handle(.key(.enter))
        let isApplied = effects.contains { if case .perform(let act) = $0 { act.verb == .apply } else { false } }
        #expect(isApplied)

        let content = PageContent(PageAddress(.plan), .standard, snapshot)
        let view = PageView(title: "connector-host", canAct: true)
        let page = view.page(content, version: "1", message: nil).text
        #expect(page.contains("config.replies: 1 → 2") && page.contains("value=\"apply plan "))
        let reading = PageView(title: "connector-host", canAct: false)
        #expect(!reading.page(content, version: "1", message: nil).text.contains("value=\"apply plan "))
        await test.host.close()
    }
}
