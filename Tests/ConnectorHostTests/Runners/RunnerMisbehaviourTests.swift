// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#endif

/// Every plugin of the fixtures that does wrong, in a runner: the host and the gate beside it are unharmed.
@Suite(
    .timeLimit(.minutes(5)),
    .serialized,
    .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer")
)
struct RunnerMisbehaviourTests {
    /// A host with a plugin that does wrong, and one that does not, each in a runner; with the system's clock, as the runners have it.
    ///
    /// - Parameter plugin: Its folder and its id.
    private func host(
        _ plugin: String,
        _ config: JSONObject = [:],
        settings: String = ""
    ) throws -> ConnectorHost {
        let id = String(plugin.split(separator: "/")[1])
        let image = "\(Fixtures.build)/\(plugin.replacing("/", with: "/lib")).so"
        let bad = TestHost.leaf("bad", plugin: id, config, settings: RunnerCallTests.process + settings)
        let good = TestHost.leaf("good", settings: RunnerCallTests.process)
        return try ConnectorHost.testing(
            "[\(bad), \(good)]",
            plugins: [image, Fixtures.contract("calls")],
            clock: SystemHostClock()
        )
    }

    /// Checks that the gate beside is open and answers, closes the host, and waits until no runner is left.
    private func survives(_ host: ConnectorHost) async throws {
        let runners = host.report.runners.map(\.process)
        #expect(host.report["good"]?.state == .open && !runners.isEmpty)
        let answer = try await host.gate("good").call("answer", ["value": 1])
        #expect(answer == 1)
        await host.close()
        #expect(host.report.state == .closed)
        for runner in runners { while kill(pid_t(runner), 0) == 0 { try await Task.checkedYield() } }
    }

    /// Those whose opening ends by itself; that of the others would take until its deadline.
    @Test(
        arguments: [
            ("misbehaving/aborts-in-host", [:], .open), ("misbehaving/asks-undeclared", [:], nil),
            ("misbehaving/blocks-in-destructor", [:], .open), ("misbehaving/breaks", [:], .open),
            ("misbehaving/crashes-in-constructor", [:], .failed), ("misbehaving/crashes-in-open", [:], .failed),
            ("misbehaving/null-evidence", [:], .failed), ("misbehaving/null-function", [:], .failed),
            ("misbehaving/opens-in-create", [:], .failed), ("misbehaving/opens-twice", [:], nil),
            ("misbehaving/says-little", [:], .failed), ("misbehaving/short-table", [:], .failed),
            ("misbehaving/trusts-its-configuration", ["name": "other"], .failed),
            ("misbehaving/works-in-constructor", [:], nil), ("contract/completes-after-destroy", [:], .open),
            ("contract/completes-on-cancel", [:], .open), ("contract/fails-badly", [:], nil),
            ("contract/frees-on-cancel", [:], .open), ("contract/nulls", [:], nil),
        ] as [(String, JSONObject, GateState?)]
    )
    func `a plugin that breaks a rule in a runner harms neither the host nor the gate beside it`(
        _ plugin: String,
        _ config: JSONObject,
        _ state: GateState?
    ) async throws {
        let host = try host(plugin, config)
        let bad = try #require(await host.open()["bad"])
        if let state { #expect(bad.state == state, "\(bad.error?.description ?? "")") }
        try await survives(host)
    }

    @Test(
        arguments: [
            ("misbehaving/never-opens", [:]), ("misbehaving/opens-late", [:]),
            ("misbehaving/blocks-in-constructor", [:]), ("misbehaving/blocks-in-life", ["where": "create"]),
            ("misbehaving/blocks-in-life", ["where": "open"]),
        ] as [(String, JSONObject)]
    )
    func `a plugin that does not open in a runner holds up neither the host nor the gate beside it`(
        _ plugin: String,
        _ config: JSONObject
    ) async throws {
        let host = try host(plugin, config, settings: #", "timeout": "500ms""#)
        let bad = try #require(await host.open()["bad"])
        #expect(bad.state == .failed)
        try await survives(host)
    }

    @Test(arguments: ["close", "destroy"])
    func `a plugin that blocks its end in a runner holds up neither the host nor the gate beside it`(
        _ function: String
    ) async throws {
        let host = try host("misbehaving/blocks-in-life", ["where": .string(function)])
        let bad = try #require(await host.open()["bad"])
        #expect(bad.state == .open, "\(bad.error?.description ?? "")")
        try await survives(host)
    }

    @Test(arguments: ["write", "starve", "jump", "abort", "overflow", "exit", "quick", "vanish", "syscall"])
    func `an operation that ends its runner harms neither the host nor the gate beside it`(
        _ operation: String
    ) async throws {
        let host = try host("misbehaving/ends-the-process")
        let bad = try #require(await host.open()["bad"])
        #expect(bad.state == .open, "\(bad.error?.description ?? "")")
        let arguments: JSONObject = ["exit", "quick"].contains(operation) ? ["status": 3] : [:]
        let error = try await failure { () throws(ConnectorError) in
            try await host.gate("bad").call(operation, arguments)
        }
        #expect(error.code == .crashed, "\(error)")
        try await survives(host)
    }
}
