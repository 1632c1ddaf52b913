// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorOutbox

/// Events for a plugin that offers several versions of their capability.
@Suite(.timeLimit(.minutes(5))) struct VersionedDeliveryTests {
    /// A plugin whose functions refuse every event by their own name; its third version takes no batches.
    private static let plugin = #"""
        #include "fixture.h"
        CONNECTOR_MANIFEST({
            "manifest": 1, "id": "versioned", "version": "1.0.0", "abi": [1, 1], "entry": "fixture_entry",
            "capabilities": {
                "form/1": {
                    "sent": {"symbol": "form_1_sent", "signature": "(event: json) async", "delivered": true},
                    "deliver": {"symbol": "form_1_deliver", "signature": "(events: json) async -> json"}
                },
                "form/2": {
                    "sent": {"symbol": "form_2_sent", "signature": "(event: json) async", "delivered": true},
                    "deliver": {"symbol": "form_2_deliver", "signature": "(events: json) async -> json"}
                },
                "form/3": {"sent": {"symbol": "form_3_sent", "signature": "(event: json) async", "delivered": true}}
            }
        });
        #define REFUSES(name)                                                                                     \
            CONNECTOR_EXPORT int32_t name(void *instance, const connector_call *call, const char *json,           \
                                          uint64_t length, connector_error *error) {                              \
                (void)instance, (void)call, (void)json, (void)length;                                             \
                return fixture_fail(error, CONNECTOR_FAILED, #name);                                              \
            }
        REFUSES(form_1_sent)
        REFUSES(form_1_deliver)
        REFUSES(form_2_sent)
        REFUSES(form_2_deliver)
        REFUSES(form_3_sent)
        FIXTURE_PLUGIN(fixture_open)
        """#

    @Test(arguments: [
        ("form/1", "form_1_deliver"), ("form/2", "form_2_deliver"), ("form/3", "form_3_sent"),
        // The plugin that offered this version has been replaced.
        ("form/9", "form_1_deliver"),
    ])
    func `an event reaches the version that it was sent by, and a batch function of no other version`(
        _ capability: String,
        _ function: String
    ) async throws {
        try await Fixtures.withDirectory { directory in
            let plugin = try Fixtures.compile(Self.plugin, into: directory, as: "versioned")
            let test = try TestHost(TestHost.composite("group", "first", TestHost.leaf("leaf", plugin: plugin)))
            #expect(await test.host.open().isReady)
            let event = OutboxEvent(
                id: "event-1",
                kind: EventKind(capability, "sent"),
                createdAt: Timestamp(nanoseconds: 1_767_225_600_000_000_000),
                payload: Array("{}".utf8)
            )
            for path in ["group", "group/leaf"] {
                let node = try test.host.current.node(path).node
                let result = await node.deliver(OutboxBatch(events: [event]))
                let error = #expect(throws: ConnectorError.self) { try result.get() }
                #expect(error?.message.contains(function) == true, "\(path): \(error?.message ?? "")")
            }
            await test.host.close()
        }
    }
}
