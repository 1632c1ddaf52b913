// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost

/// What runs after a connector has stayed as it was, and what later plans compare with.
@Suite(.timeLimit(.minutes(5))) struct ReloadRollbackTests: ReloadedLeaves {
    let name = TestHost.unique("rollback")

    private static let optional = #""probe": "off", "required": false"#
    private static let changed =
        optional + #", "timeout": "3s", "breaker": {"failures": 2}, "http": {"cacheBytes": 1000}"#

    @Test func `after a rollback a plan has every setting that does not run, and a later reload applies them`()
        async throws
    {
        let test = try await TestHost.opened(leaf(settings: Self.optional), other)
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        let failing = try TestHost.configuration([leaf("gate", ["opens": "fails"], settings: Self.changed), other])
        for _ in 1...2 {
            let reload = await test.host.reload(failing)
            #expect(reload.isActive && reload.rolledBack == ["gate"])
            let fields = reload.plan?["gate"]?.fields.map(\.name) ?? []
            #expect(Set(fields) == ["timeout", "breaker", "http.cacheBytes", "config.opens"])
            #expect(test.host.report.configuration?.errors.map(\.connector) == ["gate"])
            #expect(gate.plan.timeout == Connector.defaultTimeout && gate.plan.breaker == nil)
        }
        let works = try TestHost.configuration([leaf(settings: Self.changed), other])
        let reload = await test.host.reload(works)
        #expect(reload.isActive && reload.rolledBack.isEmpty)
        #expect(Set(reload.plan?["gate"]?.fields.map(\.name) ?? []) == ["timeout", "breaker", "http.cacheBytes"])
        #expect(gate.plan.timeout == .seconds(3))
        #expect(try test.gate("gate").generation == 2 && test.gate("gate").breaker != nil)
        #expect(try await test.host.plan(works).isEmpty)
        await test.host.close()
    }

    @Test func `what the tree reads of a connector that was rolled back is in use, and in no later plan`() async throws
    {
        let test = try await TestHost.opened(TestHost.leaf("gate"), TestHost.leaf("more"), other)
        let next = ["gate", "more"].map { path in
            let settings = #""probe": "off", "required": false, "after": ["other"], "delivery": "direct""#
            return TestHost.leaf(path, ["opens": "fails"], settings: settings)
        }
        let configuration = try TestHost.configuration(next + [other])
        #expect(await test.host.reload(configuration).rolledBack == ["gate", "more"])
        #expect(try !test.gate("gate").isRequired)
        let plan = try await test.host.plan(configuration)
        for path in ["gate", "more"] { #expect(plan[path]?.fields.map(\.name) == ["config.opens"]) }
        await test.host.close()
    }

    @Test func `a connector that left an included file and was rolled back can be what it was`() async throws {
        let directory = ScratchDirectory()
        func leaf(_ path: String, _ config: JSONObject = [:]) -> String {
            TestHost.leaf(path, plugin: Fixtures.contract("calls"), config, settings: Self.optional)
        }
        func write(_ connectors: String..., include: String = "") {
            let text = #"{"version": 1\#(include), "connectors": [\#(connectors.joined(separator: ", "))]}"#
            directory.write(Array(text.utf8), to: "connectors.json")
        }
        directory.write(Array(#"{"version": 1, "connectors": [\#(leaf("gate"))]}"#.utf8), to: "included.json")
        write(leaf("other"), include: #", "include": ["included.json"]"#)
        let host = try ConnectorHost(
            file: "\(directory.path)/connectors.json",
            options: .init(environment: .init([:]), stateDirectory: directory.path)
        )
        #expect(await host.open().isReady)
        write(leaf("other"), leaf("gate", ["opens": "fails"]))
        #expect(await host.reload().rolledBack == ["gate"])
        write(leaf("other"), leaf("gate"))
        let reload = await host.reload()
        #expect(reload.isActive && reload.plan?.isEmpty == true)
        #expect(host.report["gate"]?.generation == 1)
        await host.close()
    }
}
