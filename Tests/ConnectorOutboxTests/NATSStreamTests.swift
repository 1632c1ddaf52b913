// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// The streams and consumers on NATS servers: how they are created, which are refused, and which are left as they are.
@Suite(.enabled(if: NATSServers.areInstalled), .timeLimit(.minutes(3))) struct NATSStreamTests: NATSSuite {
    @Test func `a missing consumer or a differing stream is an error, and neither is created silently`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        #expect(try await servers.migrate(["a"]) == [])
        let missing = await #expect(throws: ConnectorError.self) { try await engine(servers) }
        #expect(missing?.code == .missing)
        #expect(missing?.message.contains("b") == true)
        #expect(try await servers.migrate(["a", "b"]) == ["created the consumer of b"])
        var settings = servers.settings()
        settings.replicas = 3
        let other = await #expect(throws: ConnectorError.self) {
            try await NATSEngine(settings, paths: [], now: { OutboxEvent.start })
        }
        #expect(other?.code == .conflict)
    }

    @Test func `programs that create consumers at one time give each connector a slot of its own`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate([])
        for round in 1...20 {
            async let one = servers.migrate(["a\(round)", "both\(round)"])
            async let two = servers.migrate(["b\(round)", "both\(round)"])
            _ = try await (one, two)
        }
        let engine = try await engine(servers, ["a1", "b1", "both1"])
        #expect(try await engine.schema.consumers().count == 60)
        await engine.close()
    }

    @Test func `consumers are added to a stream with more replicas than the file asks for, which keeps them`()
        async throws
    {
        let servers = try await NATSServers(3)
        _ = try await servers.migrate(["a"])
        var settings = servers.settings()
        settings.replicas = 1
        let done = try await NATSEngine.migrate(settings, paths: ["a", "b"], changesStreams: false)
        #expect(done == ["created the consumer of b"])
        let engine = try await NATSEngine(settings, paths: ["a", "b"], now: { OutboxEvent.start })
        let info = try await engine.jetStream.request("STREAM.INFO.OUTBOX")
        #expect(info["config"]?["num_replicas"]?.integer == 3)
        await engine.close()
    }

    @Test func `the events of a deleted consumer go to no other connector, and migrate says that they are left`()
        async throws
    {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a", "b"])
        let engine = try await engine(servers)
        _ = try await engine.append([.numbered(1)], to: ["b"])
        _ = try await engine.jetStream.request("CONSUMER.DELETE.OUTBOX.b")
        let done = try await servers.migrate(["a", "c"])
        #expect(done.first == "created the consumer of c")
        #expect(done.last?.hasPrefix("warning: 1 event is stored for connectors whose consumers were deleted") == true)
        let consumers = try await engine.schema.consumers()
        #expect(consumers["c"]?.slot == 2 && consumers["c"]?.pending == 0)
        #expect(try await servers.migrate(["a", "c"]) == [])
        await engine.close()
    }

    @Test(arguments: ["max_age", "max_msgs_per_subject"])
    func `a stream that would delete waiting events is refused`(_ setting: String) async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        let info = try await engine.jetStream.request("STREAM.INFO.OUTBOX")
        var config = try #require(info["config"]?.object)
        config[setting] = 3_600_000_000_000
        _ = try await engine.jetStream.request("STREAM.UPDATE.OUTBOX", .object(config))
        await engine.close()
        let error = await #expect(throws: ConnectorError.self) { try await self.engine(servers, ["a"]) }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains(setting) == true)
    }

    @Test func `a stream that is changed under a host is reported, until it is right again`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        let info = try await engine.jetStream.request("STREAM.INFO.OUTBOX")
        var config = try #require(info["config"]?.object)
        config["max_age"] = 3_600_000_000_000
        _ = try await engine.jetStream.request("STREAM.UPDATE.OUTBOX", .object(config))
        let error = await #expect(throws: ConnectorError.self) {
            for _ in 1...10 { try await engine.check(["a"]) }
        }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("max_age") == true)
        await #expect(throws: ConnectorError.self) { try await engine.check(["a"]) }
        config["max_age"] = 0
        _ = try await engine.jetStream.request("STREAM.UPDATE.OUTBOX", .object(config))
        try await engine.check(["a"])
        await engine.close()
    }

    @Test func `a stream is refused to another application, by migrate and by its hosts`() async throws {
        let servers = try await NATSServers()
        var settings = servers.settings()
        settings.application = "shop-a"
        _ = try await servers.migrate(["a"], settings)
        for name in ["shop-a", nil] {
            settings.application = name
            try await NATSEngine(settings, paths: ["a"], now: { OutboxEvent.start }).close()
        }
        settings.application = "shop-b"
        let other = settings
        let migration = await #expect(throws: ConnectorError.self) {
            try await NATSEngine.migrate(other, paths: ["a"])
        }
        let opening = await #expect(throws: ConnectorError.self) {
            try await NATSEngine(other, paths: ["a"], now: { OutboxEvent.start })
        }
        for error in [migration, opening] {
            #expect(error?.code == .conflict)
            #expect(error?.message.contains("that of the application \"shop-a\"") == true)
            #expect(error?.fix?.contains("another \"stream\"") == true)
        }
    }

    @Test func `a consumer with which an operator looks at the events is not taken for a connector's`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        _ = try await engine.jetStream.request(
            "CONSUMER.DURABLE.CREATE.OUTBOX.audit",
            [
                "stream_name": "OUTBOX",
                "config": ["durable_name": "audit", "filter_subject": "OUTBOX.e.1.>", "ack_policy": "none"],
            ]
        )
        #expect(try await engine.consumers().keys.sorted() == ["a"])
        #expect(try await engine.append([.numbered(1)], to: ["a"]).isApplied == [true])
        await engine.close()
    }

    @Test func `a consumer that would give up on an event is refused`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        var config = engine.layout.consumer("b", slot: 1, lease: 30_000_000_000)
        config["max_deliver"] = 3
        _ = try await engine.jetStream.request(
            "CONSUMER.DURABLE.CREATE.OUTBOX.b",
            ["stream_name": "OUTBOX", "config": .object(config)]
        )
        let error = await #expect(throws: ConnectorError.self) { try await engine.version() }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("max_deliver") == true)
        await engine.close()
    }
}
