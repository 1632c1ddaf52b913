// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@testable import ConnectorHost

/// Which clients a host has for a connector.
@Suite struct HostClientTests {
    @Test func `a connector has no client for a capability that its plugin does not have`() throws {
        let host = try TestHost(TestHost.leaf("gate")).host
        let clients: [() throws -> Void] = [
            { _ = try host.analytics("gate") },
            { _ = try host.database("gate") },
            { _ = try host.files("gate") },
            { _ = try host.sensor("gate") },
            { _ = try host.settings("gate") },
        ]
        for client in clients {
            let error = #expect(throws: ConnectorError.self) { try client() }
            #expect(error?.code == .unsupported)
        }
    }

    @Test func `an error quotes a long name that nobody knows as an excerpt`() async throws {
        let test = try TestHost(TestHost.composite("both", "all", TestHost.leaf("gate")))
        let name = String(repeating: "n", count: 100_000)
        let path = #expect(throws: ConnectorError.self) { try test.host.gate(name) }
        #expect(path?.code == .unknownConnector)
        await test.host.open()
        let both = try test.host.gate("both")
        let gate = try test.host.gate("both/gate")
        let called = await #expect(throws: ConnectorError.self) { try await gate.call(name) }
        let calledBoth = await #expect(throws: ConnectorError.self) { try await both.call(name) }
        let sent = await #expect(throws: ConnectorError.self) { try await gate.send(name) }
        let arguments: JSONObject = [name: 1]
        let given = await #expect(throws: ConnectorError.self) { try await gate.call("begin", arguments) }
        for error in [path, called, calledBoth, sent, given] {
            let text = try #require(error).description
            #expect(text.contains("nnn") && text.utf8.count < 1000, "\(text.prefix(400))")
        }
        await test.host.close()
    }

    /// A plugin whose first capability has an operation of the same name as the second, and always fails.
    private static let shared = #"""
        #include "fixture.h"
        CONNECTOR_MANIFEST({
            "manifest": 1, "id": "shared", "version": "1.0.0", "abi": [1, 1], "entry": "fixture_entry",
            "capabilities": {
                "aquarium/1": {"flush": {"symbol": "aquarium_flush", "signature": "() async"}},
                "analytics/1": {
                    "track": {"symbol": "shared_track", "signature": "(event: json) async"},
                    "flush": {"symbol": "shared_flush", "signature": "() async"}
                }
            }
        });
        CONNECTOR_EXPORT int32_t aquarium_flush(void *instance, const connector_call *call, connector_error *error) {
            (void)instance, (void)call;
            return fixture_fail(error, CONNECTOR_FAILED, "the aquarium");
        }
        CONNECTOR_EXPORT int32_t shared_track(void *instance, const connector_call *call, const char *json,
                                              uint64_t length, connector_error *error) {
            (void)instance, (void)call, (void)json, (void)length;
            return fixture_fail(error, CONNECTOR_FAILED, "the event");
        }
        CONNECTOR_EXPORT int32_t shared_flush(void *instance, const connector_call *call, connector_error *error) {
            const fixture *self = instance;
            (void)error;
            return self->host->complete(self->host->context, call->operation, CONNECTOR_OK, NULL, 0, NULL);
        }
        FIXTURE_PLUGIN(fixture_open)
        """#

    @Test func `a client calls its own capability, and none before it with an operation of the same name`()
        async throws
    {
        try await Fixtures.withDirectory { directory in
            let plugin = try Fixtures.compile(Self.shared, into: directory, as: "shared")
            let test = try TestHost(TestHost.leaf("gate", plugin: plugin))
            #expect(await test.host.open().isReady)
            let outcomes = try await test.host.analytics("gate").flush()
            #expect(outcomes.map(\.connector) == ["gate"] && outcomes.allSatisfy(\.isSuccess))
            let error = try await failure { () throws(ConnectorError) in try await test.call("gate", "flush") }
            #expect(error.message.contains("the aquarium"), "\(error)")
            await test.host.close()
        }
    }
}
