// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Which children a composite can do without, and what that means for the whole.
@Suite(.timeLimit(.minutes(10))) struct ReadinessTests {
    private func leaf(_ name: String, opens: String? = nil, _ settings: String = "") -> String {
        let config: JSONObject = opens.map { ["opens": .string($0)] } ?? [:]
        return TestHost.leaf(name, config, settings: #""probe": "off""# + (settings.isEmpty ? "" : ", \(settings)"))
    }

    private func report(_ policy: String, _ children: [String], _ settings: String = "") async throws -> Report {
        let test = try TestHost(
            TestHost.composite("group", policy, children.joined(separator: ","), settings: settings)
        )
        return await test.host.open()
    }

    @Test(arguments: ["first", "fastest"])
    func `with the policies first and fastest, one open child is enough`(_ policy: String) async throws {
        let report = try await report(policy, [leaf("a", opens: "refuses"), leaf("b")])
        #expect(report.isReady)
        #expect(throws: Never.self) { try report.requireReady() }
        #expect(report["group"]?.state == .degraded)
        #expect(report["group"]?.isRequired == true)
        #expect(report["group/a"]?.isRequired == false)
        #expect(report["group/a"]?.error?.code == .unauthorized)
        #expect(report.json["gates"]?[0]?["ready"] == true)
        #expect(report.json["gates"]?[1]?["ready"] == false)
    }

    @Test(arguments: ["first", "fastest"])
    func `a composite without an open child is named in the error, with what its children said`(_ policy: String)
        async throws
    {
        let report = try await report(policy, [leaf("a", opens: "refuses"), leaf("b", opens: "refuses")])
        #expect(!report.isReady)
        let error = #expect(throws: ConnectorError.self) { try report.requireReady() }
        #expect(error?.code == .notOpen)
        #expect(error?.connector == "group")
        #expect(error?.message == "0 of 2 children are open, 1 must be")
        #expect(error?.cause?.contains("group/a") == true && error?.cause?.contains("group/b") == true)
    }

    @Test(arguments: ["first", "fastest"])
    func `a child marked as required that does not open makes the whole not ready`(_ policy: String) async throws {
        let report = try await report(policy, [leaf("a", opens: "refuses", #""required": true"#), leaf("b")])
        #expect(!report.isReady)
        let error = #expect(throws: ConnectorError.self) { try report.requireReady() }
        #expect(error?.connector == "group/a")
        #expect(error?.code == .unauthorized)
    }

    @Test func `with a quorum, that many open children are enough`() async throws {
        let children = [leaf("a", opens: "refuses"), leaf("b"), leaf("c")]
        let enough = try await report("all", children, #""quorum": 2"#)
        #expect(enough.isReady)
        #expect(enough["group"]?.quorum == 2)
        #expect(enough.json["gates"]?[0]?["quorum"] == 2)
        let report = try await report("all", children, #""quorum": 3"#)
        #expect(!report.isReady)
        let error = #expect(throws: ConnectorError.self) { try report.requireReady() }
        #expect(error?.message == "2 of 3 children are open, 3 must be")
    }

    @Test func `with the policy all, every required child must be open`() async throws {
        let report = try await report("all", [leaf("a", opens: "refuses"), leaf("b")])
        #expect(!report.isReady)
        #expect(#expect(throws: ConnectorError.self) { try report.requireReady() }?.connector == "group/a")
        let optional = try await self.report("all", [leaf("a", opens: "refuses", #""required": false"#), leaf("b")])
        #expect(optional.isReady)
    }

    @Test func `a composite inside another one that is not ready counts as a child that is not ready`() async throws {
        let both = TestHost.composite("both", "all", leaf("a"), leaf("b", opens: "refuses"))
        let report = try await report("first", [both, leaf("c")])
        #expect(report.isReady)
        #expect(report["group/both"]?.isReady == false)
        let alone = try await self.report("first", [both])
        #expect(!alone.isReady)
        #expect(#expect(throws: ConnectorError.self) { try alone.requireReady() }?.connector == "group")
    }

    @Test func `a service stays up while one child stands in for another`() async throws {
        let test = try TestHost(TestHost.composite("group", "first", leaf("a", opens: "refuses"), leaf("b")))
        let service = Task { try await test.host.run() }
        _ = await test.host.report { $0["group"]?.state == .degraded && $0.isReady }
        service.cancel()
        try await service.value
        #expect(test.state("group/b") == .closed)
    }
}
