// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// Hosts that share a queue, of which one cannot deliver.
@Suite(.enabled(if: NATSServers.areInstalled), .timeLimit(.minutes(3))) struct NATSSharingTests {
    private func bench(_ servers: NATSServers, _ policy: DeliveryPolicy = DeliveryPolicy()) -> Bench {
        let settings = servers.settings()
        return Bench(
            policy: policy,
            engine: { () throws(ConnectorError) in
                try await NATSEngine(settings, paths: ["a"], now: { OutboxEvent.start })
            }
        )
    }

    /// Longer than any test, so that another host gets an event only if it is given back.
    private static let lease = Duration.seconds(600)

    private var aging: DeliveryPolicy {
        var policy = DeliveryPolicy()
        policy.maximumAge = .seconds(3600)
        return policy
    }

    /// Waits until the servers say that a number of events are leased to hosts.
    private func leased(_ count: Int64, _ bench: Bench) async throws {
        let engine = try #require(try await bench.outbox.engine() as? NATSEngine)
        while true {
            let info = try await engine.jetStream.request("CONSUMER.INFO.OUTBOX.a")
            if info["num_ack_pending"]?.integer == count { return }
            try await Task.checkedYield()
        }
    }

    private func letters(_ bench: Bench) async throws -> [OutboxRecord] {
        try await bench.outbox.engine().records(RecordSelection(states: [.dead]))
    }

    /// Waits until a host has delivered a number of events, whatever it waits for meanwhile.
    private func delivered(_ count: Int, _ bench: Bench) async throws {
        try await advance(bench) { bench.vendor.batches.joined().count >= count }
    }

    /// Moves a host's clock until something has happened. A pull may find nothing at first: the servers tell hosts of new events in
    /// their own time, and the host then looks again.
    private func advance(_ bench: Bench, until hasHappened: () -> Bool) async throws {
        while !hasHappened() {
            if bench.clock.timerCount > 0 { bench.clock.advance(by: .seconds(1)) }
            try await Task.checkedYield()
        }
    }

    @Test func `a host whose gate is closed takes no events and makes no dead letters, however long it waits`()
        async throws
    {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"], lease: Self.lease)
        let (sick, healthy) = (bench(servers, aging), bench(servers))
        sick.vendor.isOpen = false
        try await sick.outbox.start(isStored: true)
        _ = try await sick.outbox.append(sick.events(1...3), to: ["a"])
        await sick.until { sick.outbox.condition(of: "a") == .waitingForGate }
        for _ in 1...3 {
            await sick.clock.timers(atLeast: 1)
            sick.clock.advance(by: .seconds(7200))
        }
        try await leased(0, sick)
        #expect(try await letters(sick).isEmpty)
        try await healthy.outbox.start(isStored: true)
        try await delivered(3, healthy)
        #expect(healthy.vendor.batches.flatMap(\.self) == ["event-1", "event-2", "event-3"])
        #expect(sick.vendor.batches.isEmpty)
        await sick.outbox.close()
        await healthy.outbox.close()
    }

    @Test func `a host whose gate closes gives back what it holds, and another one delivers it`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"], lease: Self.lease)
        var policy = aging
        policy.batchAge = .seconds(1800)
        let (sick, healthy) = (bench(servers, policy), bench(servers))
        // Stored before the start, so that the first look finds all of them.
        _ = try await sick.outbox.append(sick.events(1...3), to: ["a"])
        try await sick.outbox.start(isStored: true)
        try await leased(3, sick)
        sick.vendor.isOpen = false
        // The wait for more events may begin only now.
        while sick.outbox.condition(of: "a") != .waitingForGate {
            sick.outbox.gatesChanged()
            try await Task.checkedYield()
        }
        try await healthy.outbox.start(isStored: true)
        try await delivered(3, healthy)
        #expect(Set(healthy.vendor.batches.joined()) == ["event-1", "event-2", "event-3"])
        #expect(try await letters(sick).isEmpty)
        #expect(sick.vendor.batches.isEmpty)
        await sick.outbox.close()
        await healthy.outbox.close()
    }

    @Test func `an event that one host's vendor refuses for now can be delivered by another host`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"], lease: Self.lease)
        let (sick, healthy) = (bench(servers, aging), bench(servers))
        sick.vendor.answers(Vendor.refuses(.unauthorized, isRetryable: false))
        try await sick.outbox.start(isStored: true)
        _ = try await sick.outbox.append(sick.events(1...3), to: ["a"])
        await sick.paused()
        try await healthy.outbox.start(isStored: true)
        try await delivered(3, healthy)
        #expect(try await letters(sick).isEmpty)
        await sick.outbox.close()
        await healthy.outbox.close()
    }

    @Test func `what a host keeps in place after a failure of a part of its batch is given back`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"], lease: Self.lease)
        let (sick, healthy) = (bench(servers), bench(servers))
        sick.vendor.answers { events in
            .success(
                events.map { event in
                    switch event.id {
                    case "event-1": .accepted
                    case "event-2": .retry("away", after: .seconds(3600))
                    default: .unsent("not sent")
                    }
                }
            )
        }
        // Stored before the start, so that the first look finds all of them.
        _ = try await sick.outbox.append(sick.events(1...4), to: ["a"])
        try await sick.outbox.start(isStored: true)
        try await advance(sick) { sick.vendor.batches.joined().contains("event-2") }
        try await healthy.outbox.start(isStored: true)
        try await delivered(3, healthy)
        #expect(Set(healthy.vendor.batches.joined()) == ["event-2", "event-3", "event-4"])
        #expect(sick.vendor.batches.joined().count { $0 == "event-2" } == 1)
        await sick.outbox.close()
        await healthy.outbox.close()
    }

    @Test func `what another host gives back after a move follows the connector that has moved`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a", "b"], lease: Self.lease)
        let settings = servers.settings()
        let host = Bench(
            ["a", "b"],
            engine: { () throws(ConnectorError) in
                try await NATSEngine(settings, paths: ["a", "b"], now: { OutboxEvent.start })
            }
        )
        host.vendor.isOpen = false
        try await host.outbox.start(isStored: true)
        _ = try await host.outbox.append(host.events(1...2), to: ["a"])
        let other = try await NATSEngine(settings, paths: ["a"], now: { OutboxEvent.start })
        while try await other.batch(for: "a", upTo: BatchLimits(count: 1), now: OutboxEvent.start).isEmpty {
            try await Task.checkedYield()
        }
        await host.outbox.move("a", to: "b", by: .max)
        let vendor = try #require(host.vendors["b"])
        let target = DeliveryTarget(
            path: "b",
            policy: host.policy,
            limits: BatchLimits(),
            isUsable: { true },
            send: { await vendor.take($0) }
        )
        await host.outbox.retarget([target], by: .max)
        try await advance(host) { vendor.batches.joined().count >= 1 }
        #expect(vendor.batches == [["event-2"]])
        other.release("a")
        try await advance(host) { vendor.batches.joined().count >= 2 }
        #expect(vendor.batches == [["event-2"], ["event-1"]])
        await other.close()
        await host.outbox.close()
    }

    @Test func `a retry that waits becomes a dead letter with its connector, whose later events are delivered`()
        async throws
    {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"], lease: Self.lease)
        let host = bench(servers)
        host.vendor.answers { events in
            .success(
                events.map { event in
                    event.id == "event-1" ? .retry("later", after: .seconds(3600), code: .conflict) : .accepted
                }
            )
        }
        // Stored before the start, so that the first look finds both.
        _ = try await host.outbox.append(host.events(1...2), to: ["a"])
        try await host.outbox.start(isStored: true)
        try await advance(host) { host.statistics().delivered >= 1 }
        await host.outbox.retarget([], by: .max)
        let sent = host.vendor.batches.count
        let dead = try await letters(host)
        #expect(dead.map(\.event.id) == ["event-1"])
        #expect(dead.map(\.attempts.last?.failure?.code) == [.unknownConnector])
        #expect(host.statistics().queued == 0)
        let vendor = host.vendor
        let target = DeliveryTarget(
            path: "a",
            policy: host.policy,
            limits: BatchLimits(),
            isUsable: { true },
            send: { await vendor.take($0) }
        )
        await host.outbox.retarget([target], by: .max)
        _ = try await host.outbox.append(host.events(3...4), to: ["a"])
        try await advance(host) { Set(["event-3", "event-4"]).isSubset(of: host.vendor.batches.joined()) }
        #expect(!host.vendor.batches.dropFirst(sent).joined().contains("event-1"))
        await host.outbox.close()
    }

    @Test func `a host whose clock is ahead of the others does not take fresh events for old ones`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"], lease: Self.lease)
        let (sender, ahead) = (bench(servers), bench(servers, aging))
        ahead.clock.advance(by: .seconds(7200))
        _ = try await sender.outbox.append(sender.events(1...3), to: ["a"])
        try await ahead.outbox.start(isStored: true)
        try await advance(ahead) { ahead.vendor.batches.joined().count + ahead.statistics().dead >= 3 }
        #expect(try await letters(ahead).isEmpty)
        #expect(ahead.vendor.batches.flatMap(\.self) == ["event-1", "event-2", "event-3"])
        await sender.outbox.close()
        await ahead.outbox.close()
    }

    @Test func `an event that has become too old before a host can deliver it is a dead letter`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"], lease: Self.lease)
        // Events age by the clock of the servers, which no test moves.
        var policy = DeliveryPolicy()
        policy.maximumAge = .nanoseconds(1)
        let host = bench(servers, policy)
        host.vendor.isOpen = false
        try await host.outbox.start(isStored: true)
        _ = try await host.outbox.append(host.events(1...2), to: ["a"])
        await host.until { host.outbox.condition(of: "a") == .waitingForGate }
        #expect(try await letters(host).isEmpty)
        host.vendor.isOpen = true
        host.outbox.gatesChanged()
        // A reading of the servers may include a letter whose step is still under way, which is then counted twice.
        try await advance(host) { host.statistics().dead >= 2 }
        #expect(try await letters(host).map(\.attempts.last?.failure?.code) == [.timedOut, .timedOut])
        #expect(host.vendor.batches.isEmpty)
        await host.outbox.close()
    }
}
