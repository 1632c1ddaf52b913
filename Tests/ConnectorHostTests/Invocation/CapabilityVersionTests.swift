// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation

/// A plugin that offers two versions of a capability, and operations after them.
@Suite(.timeLimit(.minutes(5)), .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
struct CapabilityVersionTests {
    private static let plugin = Fixtures.contract("versions")

    /// A plugin that offers the first version alone.
    private static let old = """
        #include "fixture.h"
        CONNECTOR_MANIFEST({
            "manifest": 1, "id": "old", "version": "1.0.0", "abi": [1, 1], "entry": "fixture_entry",
            "capabilities": {"number/1": {"read": {"symbol": "old_read", "signature": "() -> i64"}}}
        });
        CONNECTOR_EXPORT int32_t old_read(void *instance, int64_t *result, connector_error *error) {
            (void)instance, (void)error;
            *result = 100;
            return CONNECTOR_OK;
        }
        FIXTURE_PLUGIN(fixture_open)
        """

    private func opened(isolation: String) async throws -> TestHost {
        let settings = #""probe": "off", "isolation": "\#(isolation)", "sandbox": "off""#
        let test = try TestHost(TestHost.leaf("gate", plugin: Self.plugin, settings: settings))
        let report = await test.host.open()
        #expect(report.isReady, "\(report["gate"]?.error?.description ?? "")")
        return test
    }

    @Test(arguments: ["none", "process"])
    func `each name calls one version, and the operations after them are their own`(isolation: String) async throws {
        let test = try await opened(isolation: isolation)
        for name in ["read", "number/read", "number/1/read"] {
            #expect(try await test.call("gate", name) == 1, "\(name)")
        }
        #expect(try await test.call("gate", "number/2/read", ["add": 1]) == 21)
        #expect(try await test.call("gate", "last") == 3)
        #expect(try await test.call("gate", "tail/1/final", ["add": 1]) == 41)
        await test.host.close()
    }

    @Test(arguments: ["none", "process"])
    func `prepared and batched calls reach the function that calls by name reach`(isolation: String) async throws {
        let test = try await opened(isolation: isolation)
        let gate = try test.host.gate("gate")
        func prepared(_ name: String, _ argument: Int64? = nil) async throws(ConnectorError) -> Int64 {
            try await gate.withPrepared(name) { call throws(ConnectorError) in
                if let argument { try call.set(argument, at: 0) }
                try call()
                return try call.integer()
            }
        }
        func batched(_ name: String) async throws(ConnectorError) -> [Int64] {
            try await gate.withPrepared(name) { call throws(ConnectorError) in
                var answers: [Int64] = []
                try call.batch(3) { index throws(ConnectorError) in
                    try call.set(Int64(index), at: 0)
                } take: { _ throws(ConnectorError) in
                    answers.append(try call.integer())
                }
                return answers
            }
        }
        #expect(try await prepared("read") == 1)
        #expect(try await prepared("number/2/read", 1) == 21)
        #expect(try await prepared("last") == 3)
        #expect(try await prepared("final", 1) == 41)
        #expect(try await batched("number/2/read") == [20, 21, 22])
        #expect(try await batched("final") == [40, 41, 42])
        #expect(try test.gate("gate").misbehaviourCount == 0)
        await test.host.close()
    }

    @Test func `a plugin that uses a version reaches that version, also through a composite`() async throws {
        try await Fixtures.withDirectory { directory in
            let old = try Fixtures.compile(Self.old, into: directory, as: "old")
            let test = try TestHost(
                TestHost.composite(
                    "group",
                    "all",
                    TestHost.leaf("old", plugin: old),
                    TestHost.leaf("new", plugin: Self.plugin)
                )
            )
            #expect(await test.host.open().isReady)
            func read(_ version: String, of path: String, _ arguments: JSONObject = [:]) async throws -> JSONValue {
                let node = try #require(test.host.current.tree[path])
                let capability = try #require(CapabilityID(version))
                let answer = try await node.call(
                    "read",
                    of: capability,
                    CallArguments(arguments),
                    CallOptions(),
                    in: test.host.current
                )
                return try JSONValue(parsing: answer)
            }
            #expect(try await read("number/1", of: "group/new") == 1)
            #expect(try await read("number/2", of: "group/new", ["add": 1]) == 21)
            #expect(try await read("number/2", of: "group", ["add": 1]) == 21)
            #expect(try test.gate("group/old").calls?.total == nil)
            #expect(try await read("number/1", of: "group") == 100)
            await test.host.close()
        }
    }
}
