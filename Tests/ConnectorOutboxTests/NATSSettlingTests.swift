// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// Events on NATS servers that were settled: they leave the stream, and make room.
@Suite(.enabled(if: NATSServers.areInstalled), .timeLimit(.minutes(3))) struct NATSSettlingTests: NATSSuite {
    @Test func `events that every connector has settled leave the stream, except for the last thousand`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a", "b", "c"])
        let engine = try await engine(servers, ["a", "b", "c"])
        func stored() async throws -> Int64? {
            await engine.state.withLock(\.trimming)?.value
            return try await engine.jetStream.request("STREAM.INFO.OUTBOX")["state"]?["messages"]?.integer
        }
        // Connector c never had an event, and holds up nothing.
        _ = try await engine.append((1...3000).map { .numbered($0) }, to: ["a", "b"])
        #expect(try await drain(engine, "a", until: 3000).count == 3000)
        #expect(try await stored() == 3000)
        _ = try await engine.batch(for: "b", upTo: BatchLimits(count: 1), now: now)
        #expect(try await drain(engine, "b", until: 2500).count == 2500)
        #expect(try await stored() == 1000)
        // A waiting event holds up the others, also those that came after it.
        _ = try await engine.append([.numbered(4000)], to: ["c"])
        _ = try await engine.append((4001...6000).map { .numbered($0) }, to: ["a"])
        #expect(try await drain(engine, "a", until: 2000).count == 2000)
        #expect(try await drain(engine, "b", until: 500).count == 500)
        #expect(try await stored() == 2001)
        #expect(try await drain(engine, "c", until: 1) == ["event-4000"])
        await engine.close()
    }

    @Test func `events that short-lived hosts have settled leave the stream, too`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let first = try await engine(servers, ["a"])
        _ = try await first.append((1...1900).map { .numbered($0) }, to: ["a"])
        func deliver(_ engine: NATSEngine) async throws {
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(count: 950, bytes: 1 << 20), now: now)
            #expect(batch.entries.count == 950)
            let attempt = Attempt(at: now, failures: batch.entries.map { _ in nil })
            try await engine.settle(batch, batch.entries.map { _ in .delivered }, attempt)
            await engine.state.withLock(\.trimming)?.value
            await engine.close()
        }
        try await deliver(first)
        try await deliver(try await engine(servers, ["a"]))
        let last = try await engine(servers, ["a"])
        let info = try await last.jetStream.request("STREAM.INFO.OUTBOX")
        #expect(info["state"]?["messages"]?.integer == 1000)
        await last.close()
    }

    @Test func `settled events make room in a full stream, and waiting ones stay`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        let info = try await engine.jetStream.request("STREAM.INFO.OUTBOX")
        var config = try #require(info["config"]?.object)
        config["max_bytes"] = 100_000
        _ = try await engine.jetStream.request("STREAM.UPDATE.OUTBOX", .object(config))
        for number in 1...30 {
            #expect(try await engine.append([.numbered(number, bytes: 10_000)], to: ["a"]).isApplied == [true])
            try await engine.settle(try await batch(engine), [.delivered], Attempt(at: now, failures: [nil]))
        }
        var stored: [String] = []
        var failure: ConnectorError?
        while failure == nil, stored.count < 30 {
            let event = OutboxEvent.numbered(100 + stored.count, bytes: 10_000)
            do throws(ConnectorError) {
                _ = try await engine.append([event], to: ["a"])
                stored.append(event.id)
            } catch {
                failure = error
            }
        }
        #expect(failure?.code == .storage && failure?.isRetryable == true)
        #expect(failure?.fix?.contains("max_bytes") == true)
        #expect(!stored.isEmpty)
        #expect(try await drain(engine, "a", until: stored.count) == stored)
        await engine.close()
    }

    @Test func `a batch of a stream that was deleted settles no event of the next stream`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        _ = try await engine.append([.numbered(1)], to: ["a"])
        let old = try await batch(engine)
        _ = try await engine.jetStream.request("STREAM.DELETE.OUTBOX")
        _ = try await servers.migrate(["a"])
        _ = try await engine.version()
        try await engine.settle(old, [.delivered], Attempt(at: now, failures: [nil]))
        _ = try await engine.append([.numbered(2)], to: ["a"])
        let records = try await engine.records(RecordSelection())
        #expect(records.map(\.event.id) == ["event-2"])
        #expect(records.map(\.state) == [.queued])
        let next = try await batch(engine)
        #expect(next.entries.map(\.id) == ["event-2"])
        #expect(next.entries.map(\.position) == old.entries.map(\.position))
        await engine.close()
    }
}
