// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorConsole
@testable import ConnectorHost

/// What the console knows of a host.
@Suite
struct HostModelTests {
    @Test func `the history knows since when, what changed, and forgets the oldest`() {
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

    @Test(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
    func `a host is looked at and acted on, and what fails is a sentence`() async throws {
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
        let snapshot = await model.snapshot(for: [.gates, .gate("a"), .outbox, .dead, .event("m1"), .plugins])
        #expect(snapshot.report["a"]?.state == .failed)
        #expect(snapshot.plugins.map(\.path) == ["/p"])
        #expect(snapshot.waiting.isEmpty && snapshot.dead.isEmpty && snapshot.failure == nil)
        let retry = ConsoleAct(.retry, .gate("a"), title: "retry a")
        #expect(await model.perform(retry).hasPrefix("a is failed: "))
        let close = ConsoleAct(.close, .gate("a"), title: "close a")
        #expect(await model.perform(close) == "a is closed")
        #expect(await model.perform(ConsoleAct(.drop, .letters, title: "drop")) == "dropped 0 dead letters")
        let unknown = await model.perform(ConsoleAct(.retry, .gate("b"), title: "retry b"))
        #expect(unknown.hasPrefix("retry b failed: ") && unknown.hasSuffix("[unknown-connector]"))
        following.cancel()
        await following.value
        await host.close()
    }
}
