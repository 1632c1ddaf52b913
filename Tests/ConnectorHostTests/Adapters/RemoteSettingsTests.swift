// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorHostTesting
import ConnectorSimulator
import ConnectorTestSupport
import Testing

/// Settings as an application uses them, kept in an etcd that is simulated.
@Suite(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
struct RemoteSettingsTests {
    /// Runs a test with hosts whose settings are in one etcd.
    ///
    /// - Parameter changes: Fields of the first host's configuration that differ from those of the simulated vendor.
    private func withSettings(
        hosts count: Int = 1,
        changing changes: [String: String] = [:],
        _ body: ([ConnectorHost], Report, Simulator) async throws -> Void
    ) async throws {
        var options = SimulatorOptions()
        options.vendors = ["etcd"]
        let simulator = try Simulator(options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await simulator.run() }
            let config = try await simulator.configuration(of: "etcd").merging(changes) { $1 }
            let fields = JSONObject(config.map { ($0.key, JSONValue.string($0.value)) })
            let connector: JSONObject = ["name": "settings", "plugin": "etcd", "config": .object(fields)]
            var hosts: [ConnectorHost] = []
            var reports: [Report] = []
            for _ in 0..<count {
                let host = try ConnectorHost.testing(
                    JSONValue.array([.object(connector)]).serialized(),
                    plugins: [try BuiltProducts.library("etcd")]
                )
                hosts.append(host)
                reports.append(await host.open())
            }
            let report = try #require(reports.first)
            try await body(hosts, report, simulator)
            for host in hosts { await host.close() }
            simulator.stop()
            try await group.waitForAll()
        }
    }

    @Test func `the adapter keeps the contract of its capability`() async throws {
        try await withSettings { hosts, report, _ in
            #expect(report["settings"]?.evidence.last?.kind == .authenticated)
            let settings = try hosts[0].settings("settings")
            let findings = await SettingsConformance.check(settings)
            #expect(findings == [])
        }
    }

    @Test func `a change by one host is announced to another`() async throws {
        try await withSettings(hosts: 2) { hosts, _, _ in
            var events = hosts[1].events(of: "settings").makeAsyncIterator()
            try await hosts[0].settings("settings").set("dark", for: "theme")
            let event = await events.next()
            #expect(event?.name == "settings-changed" && event?.payload == ["theme": "dark"])
            let theme = try await hosts[1].settings("settings").value(of: "theme")
            #expect(theme == "dark")
        }
    }

    @Test func `a wrong password fails the gate, and an outage is a retryable error of its calls`() async throws {
        try await withSettings(changing: ["password": "wrong"]) { _, report, _ in
            #expect(report["settings"]?.error?.message.contains("authentication failed") == true)
        }
        try await withSettings { hosts, _, simulator in
            simulator.setFaults([try ConnectorSimulator.Fault("etcd:status=503", vendors: ["etcd"])])
            let error = await #expect(throws: ConnectorError.self) {
                _ = try await hosts[0].settings("settings").list()
            }
            #expect(error?.code == .unavailable && error?.isRetryable == true)
        }
    }
}
