// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Dispatch
import Synchronization
import Testing

@testable import ConnectorConsole
@testable import ConnectorHost

/// What the console knows about a host.
@Suite(.timeLimit(.minutes(5))) struct HostModelTests {
    @Test func `the history tells since when a state holds and what changed, and forgets the oldest changes`() {
        var history = HostHistory()
        var report = Mock.report
        history.note(report, at: Mock.ago(10))
        #expect(history.since("analytics/segment") == nil && history.transitions.isEmpty)
        report.gates[1].state = .failed
        report.gates[1].error = ConnectorError(.unavailable, "no answer")
        history.note(report, at: Mock.ago(5))
        #expect(history.since("analytics/segment") == Mock.ago(5))
        #expect(history.transitions.map(\.reason) == ["no answer"])
        for number in 0..<500 {
            report.gates[1].state = number.isMultiple(of: 2) ? .open : .failed
            history.note(report, at: Mock.now)
        }
        #expect(history.transitions.count == HostHistory.transitionLimit)
    }

    @Test func `a connector that is removed and added again counts as unchanged since`() {
        var history = HostHistory()
        var report = Mock.report
        history.note(report, at: Mock.ago(10))
        report.gates[1].state = .failed
        history.note(report, at: Mock.ago(5))
        history.note(Report(gates: [report.gates[0]], state: .degraded), at: Mock.ago(4))
        #expect(history.since("analytics/segment") == nil)
        report.gates[1].state = .open
        history.note(report, at: Mock.ago(3))
        #expect(history.since("analytics/segment") == nil && history.transitions.map(\.state) == [.failed])
    }

    @Test(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
    func `the model shows a host, acts on it, and tells each failure in a sentence`() async throws {
        let images = try #require(ConnectorHost.Options.executableDirectory)
        // Nobody listens on that port.
        let host = try ConnectorHost.testing(
            #"""
            [{"name": "a", "plugin": "segment", "config": {"endpoint": "http://127.0.0.1:1", "writeKey": {"secret": "env:KEY"}}}]
            """#,
            plugins: ["\(images)/libsegment.so"],
            environment: ["KEY": "key"]
        )
        let model = HostConsoleModel(host) { [PluginSummary(path: "/p", manifest: nil, problem: "none")] }
        await host.open()
        let following = Task { await model.run() }
        var changes = model.changes.makeAsyncIterator()
        await changes.next()
        let later = [Route(["dead", "after", "0.1.a"]), Route(["outbox", "after", "0.1.a"])]
        let routes = [Route.gates, .gate("a"), .outbox, .dead, .event("m1"), .plugins]
        let snapshot = await model.snapshot(for: routes + later)
        #expect(snapshot.report["a"]?.state == .failed)
        #expect(snapshot.plugins.map(\.path) == ["/p"])
        #expect(snapshot.failure == nil)
        #expect(([.outbox, .dead] + later).allSatisfy { snapshot.records[$0]?.records.isEmpty == true })
        let leaf = try #require(await model.snapshot(for: [.configuration]).leaves.first)
        #expect(leaf.path == "a" && leaf.sendsEvents == true)
        let key = leaf.fields.first { $0.name == "writeKey" }
        #expect(key?.value == .secret(reference: "env:KEY") && key?.source == .environment(["KEY"]))
        let retry = ConsoleAct(.retry, .gate("a"), title: "retry a")
        #expect(await model.perform(retry).sentence.hasPrefix("a is failed: "))
        let close = ConsoleAct(.close, .gate("a"), title: "close a")
        #expect(await model.perform(close) == "a is closed")
        #expect(await model.perform(ConsoleAct(.drop, .letters, title: "drop")) == "dropped 0 dead letters")
        let wrong = await model.perform(ConsoleAct(.open, .letters, title: "open letters"))
        #expect(wrong.isFailure && wrong.code == .unsupported)
        let unknown = await model.perform(ConsoleAct(.retry, .gate("b"), title: "retry b"))
        #expect(unknown.sentence.hasPrefix("retry b failed: ") && unknown.sentence.hasSuffix("[unknown-connector]"))
        following.cancel()
        await following.value
        await host.close()
        let late = await model.perform(ConsoleAct(.open, .gate("a"), title: "open a"))
        #expect(late.isFailure && late.code == .notOpen)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a plugin search that began before a reload does not count after it`() async throws {
        let connectors = #"{"version": 1, "connectors": []}"#
        let host = try ConnectorHost.testing(connectors)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let isReloaded = DispatchSemaphore(value: 0)
        let searches = Atomic(0)
        let model = HostConsoleModel(host) {
            let number = searches.add(1, ordering: .relaxed).newValue
            if number == 1 {
                begin.finish()
                isReloaded.wait()
            }
            return [PluginSummary(path: "/\(number)", manifest: nil, problem: "none")]
        }
        async let early = model.snapshot(for: [.plugins])
        for await _ in begun {}
        #expect(await host.reload(try Configuration(parsing: connectors)).isActive)
        _ = await model.snapshot(for: [.gates])
        isReloaded.signal()
        #expect(await early.plugins.map(\.path) == ["/1"])
        for _ in 0..<2 { #expect(await model.snapshot(for: [.plugins]).plugins.map(\.path) == ["/2"]) }
        await host.close()
    }

    /// A host with a plugin of the fixtures, and the model that follows it.
    private func withModel(
        _ connectors: String,
        _ plugin: String,
        _ body: (HostConsoleModel) async throws -> Void
    ) async throws {
        let host = try ConnectorHost.testing(connectors, plugins: [Fixtures.contract(plugin)])
        await host.open()
        let model = HostConsoleModel(host)
        let following = Task { await model.run() }
        try await body(model)
        following.cancel()
        await following.value
        await host.close()
    }

    /// Makes the act of an operation's form, as a platform does.
    private func act(_ model: HostConsoleModel, _ route: Route, _ texts: [String: String]) async throws -> ConsoleAct {
        let scene = ConsoleRegistry.standard.scene(for: route, of: await model.snapshot(for: [route]))
        return try #require(scene.components.compactMap(\.form).first).act(texts)
    }

    @Test(.enabled(if: !Sanitizer.isPresent, "the fixtures are not built for a sanitizer"))
    func `an operation called through its form shows progress, an answer or an error`() async throws {
        try await withModel(#"[{"name": "a", "plugin": "calls"}]"#, "calls") { model in
            let (begin, progress, finish) = (
                Route.operation("begin", of: "a"), Route.operation("progress", of: "a"),
                Route.operation("finish", of: "a")
            )
            let beginning = try await act(model, begin, ["name": "console"])
            let call = Task { await model.perform(beginning) }
            // Until the plugin knows the call, it has no progress to tell.
            let telling = try await act(model, progress, ["name": "console", "text": "{\"done\": 1}"])
            while await model.perform(telling).sentence.contains("failed") { try await Task.checkedYield() }
            var shown = await model.snapshot(for: [begin]).calls[begin]
            #expect(shown?.progress == [#"{"done":1}"#] && shown?.outcome == nil)
            let ending = try await act(model, finish, ["name": "console", "value": "[1]"])
            #expect(await model.perform(ending).sentence.hasPrefix("call finish of a: done in "))
            #expect(await call.value.sentence.hasPrefix("call begin of a: done in "))
            shown = await model.snapshot(for: [begin]).calls[begin]
            guard case .answer(let lines, omitted: 0)? = shown?.outcome else {
                Issue.record("there is no answer")
                return
            }
            #expect(lines.joined() == "[  1]")
            let refused = try await act(model, .operation("refuse", of: "a"), ["status": "5"])
            #expect(await model.perform(refused).sentence.hasPrefix("call refuse of a failed: "))
            shown = await model.snapshot(for: [.operation("refuse", of: "a")]).calls[.operation("refuse", of: "a")]
            guard case .failure? = shown?.outcome else {
                Issue.record("there is no error")
                return
            }
        }
    }

    @Test(.enabled(if: !Sanitizer.isPresent, "the fixtures are not built for a sanitizer"))
    func `an event is sent through its form, and its receipt leads to it`() async throws {
        try await withModel(#"[{"name": "a", "plugin": "deliveries"}]"#, "deliveries") { model in
            let track = Route.operation("track", of: "a")
            let sending = try await act(model, track, ["event.event": "Seen", "event.userId": "u1"])
            #expect(await model.perform(sending).sentence.hasPrefix("stored "))
            let scene = ConsoleRegistry.standard.scene(for: track, of: await model.snapshot(for: [track]))
            let link = try #require(scene.components.flatMap(\.rows).compactMap(\.link).first { $0.root == "outbox" })
            let event = ConsoleRegistry.standard.scene(for: link, of: await model.snapshot(for: [link]))
            #expect(event.text.contains(#""userId": "u1""#))
        }
    }
}
