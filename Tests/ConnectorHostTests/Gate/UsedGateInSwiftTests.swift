// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorPlatform
@testable import settings_file

/// A plugin in Swift, linked into the application, that uses a linked gate and a loaded one.
@Suite(.timeLimit(.minutes(5))) struct UsedGateInSwiftTests {
    private let directory = ScratchDirectory()
    private let clock = ManualHostClock()

    private func opened(isExtraEnabled: Bool = false) async throws -> ConnectorHost {
        let host = try ConnectorHost.testing(
            "[\(TestHost.leaf("calls"))]",
            plugins: [Fixtures.contract("calls")],
            appending: [
                Connector(
                    "theme",
                    plugin: ThemePlugin.self,
                    with: ["settings": "preferences", "inner": "calls", "extra": "extra"],
                    probeInterval: nil
                ),
                Connector("extra", same: "calls", isEnabled: isExtraEnabled),
                Connector("preferences", plugin: SettingsFile.self, probeInterval: nil),
            ],
            clock: clock,
            stateDirectory: directory.path
        )
        let report = await host.open()
        #expect(report.isReady, "\(report.gates.compactMap(\.error))")
        return host
    }

    private func use(
        _ host: ConnectorHost,
        _ operation: String,
        _ name: String,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> JSONValue {
        let arguments: JSONObject = ["operation": .string(operation), "name": .string(name)]
        return try await host.gate("theme").call("use", arguments, options: options)
    }

    @Test func `a plugin has the gates that it uses as typed values, while it opens and later`() async throws {
        let host = try await opened()
        #expect(host.report["theme"]?.strongestEvidence?.detail == "0 settings")
        #expect(host.report["theme"]?.uses == ["settings": "preferences", "inner": "calls"])
        #expect(try await use(host, "read", "theme") == "none")
        #expect(try await use(host, "write", "theme") == .null)
        #expect(try await use(host, "read", "theme") == "dark")
        #expect(try await host.settings("preferences").value(of: "theme") == "dark")
        let error = try await failure { () async throws(ConnectorError) in try await use(host, "stranger", "") }
        #expect(error.code == .invalid && error.message.hasPrefix("calls: calls/1 has no operation"))
        await host.close()
    }

    @Test func `an optional use without a connector is nil, and degrades nothing`() async throws {
        let alone = try await opened()
        #expect(alone.report["theme"]?.uses["extra"] == nil)
        #expect(try await use(alone, "extra", "") == "nothing is bound")
        await alone.close()
        let host = try await opened(isExtraEnabled: true)
        #expect(host.report["theme"]?.uses["extra"] == "extra")
        #expect(try await use(host, "extra", "") != "nothing is bound")
        #expect(host.report["calls"]?.places == ["extra"])
        await host.close()
    }

    @Test func `a gate opens although an optional use has failed, and calls to that get its error until it opens`()
        async throws
    {
        let failing = TestHost.leaf("failing", ["name": .string(TestHost.unique()), "opens": "third"])
        let host = try ConnectorHost.testing(
            "[\(TestHost.leaf("calls")), \(failing)]",
            plugins: [Fixtures.contract("calls")],
            appending: [
                Connector(
                    "theme",
                    plugin: ThemePlugin.self,
                    with: ["settings": "preferences", "inner": "calls", "extra": "failing"],
                    probeInterval: nil
                ),
                Connector("preferences", plugin: SettingsFile.self, probeInterval: nil),
            ],
            clock: clock,
            stateDirectory: directory.path
        )
        let report = await host.open()
        #expect(report["failing"]?.state == .failed)
        #expect(report["theme"]?.state == .open && report["theme"]?.error == nil && report["theme"]?.isReady == true)
        #expect(report["theme"]?.uses["extra"] == "failing")
        #expect(try await use(host, "read", "theme") == "none", "what it needs works")
        let error = try await failure { () async throws(ConnectorError) in try await use(host, "extra", "") }
        #expect(error.code == .notOpen && error.message.hasPrefix("failing: the gate has failed"), "\(error)")
        #expect(error.connector == "theme" && error.isRetryable)
        try await host.retry("failing")
        #expect(try await host.retry("failing")["failing"]?.state == .open)
        #expect(try await use(host, "extra", "")["calls"] != .null)
        await host.close()
    }

    @Test func `cancelling the plugin's call cancels the one that it makes`() async throws {
        let host = try await opened()
        let name = TestHost.unique()
        let task = Task { try await failure { () async throws(ConnectorError) in try await use(host, "begin", name) } }
        try await TestHost.taken(name)
        task.cancel()
        #expect(try await task.value.code == .cancelled)
        while try await host.gate("calls").call("counts")["cancels"] != 1 { try await Task.checkedYield() }
        await host.close()
    }

    @Test func `the deadline of the plugin's call ends the one that it makes`() async throws {
        let host = try await opened()
        let name = TestHost.unique()
        let task = Task {
            try await failure { () async throws(ConnectorError) in
                try await use(host, "begin", name, options: CallOptions(timeout: .seconds(3)))
            }
        }
        try await TestHost.taken(name)
        await clock.timers(atLeast: 2)
        clock.advance(by: .seconds(3))
        #expect(try await task.value.code == .timedOut)
        while try await host.gate("calls").call("counts")["cancels"] != 1 { try await Task.checkedYield() }
        await host.close()
    }

    @Test func `closing a gate ends the calls that its plugin has under way`() async throws {
        let host = try await opened()
        let name = TestHost.unique()
        let task = Task {
            try await failure { () async throws(ConnectorError) in
                try await use(host, "begin", name, options: CallOptions(timeout: .seconds(3600)))
            }
        }
        try await TestHost.taken(name)
        async let closing: Void = host.close()
        while host.report["theme"]?.state != .closed {
            if clock.timerCount > 0 { clock.advance(by: .seconds(1)) }
            try await Task.checkedYield()
        }
        await closing
        #expect(try await task.value.code == .notOpen)
        #expect(host.report["theme"]?.misbehaviourCount == 0)
    }
}
