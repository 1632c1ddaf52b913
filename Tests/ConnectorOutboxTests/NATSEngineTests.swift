// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// What NATS adds to what every engine promises: other hosts, and servers that die.
@Suite(.enabled(if: NATSServers.areInstalled), .timeLimit(.minutes(3))) struct NATSEngineTests: NATSSuite {
    @Test func `a program drops and moves only what no host has taken or delivered, and leaves other connectors alone`()
        async throws
    {
        let servers = try await NATSServers()
        let paths = ["a", "b", "c"]
        _ = try await servers.migrate(paths)
        let (first, second) = (try await engine(servers, paths), try await engine(servers, paths))
        let program = try await engine(servers, paths)
        func append(_ numbers: ClosedRange<Int>, until queued: Int) async throws {
            _ = try await first.append(numbers.map { .numbered($0) }, to: ["a", "b"])
            while try await first.statistics()["a"]?.queued != queued { try await Task.checkedYield() }
        }
        try await append(1...5, until: 5)
        let held = try await second.batch(for: "a", upTo: BatchLimits(count: 1), now: now)
        #expect(held.entries.map(\.id) == ["event-1"])
        let rest = try await first.batch(for: "a", upTo: BatchLimits(), now: now)
        #expect(rest.entries.count == 4)
        let attempt = Attempt(at: now, failures: rest.entries.map { _ in nil })
        try await first.settle(rest, rest.entries.map { _ in .delivered }, attempt)
        try await append(6...6, until: 2)
        #expect(try await program.drop(RecordSelection(paths: ["a"], states: [.queued])) == 1)
        try await append(7...7, until: 2)
        #expect(try await program.reassign("a", to: "c"))
        #expect(try await drain(first, "c", until: 1) == ["event-7"])
        #expect(try await first.batch(for: "c", upTo: BatchLimits(), now: now).isEmpty)
        let others = try await first.batch(for: "b", upTo: BatchLimits(), now: now)
        #expect(others.entries.map(\.position) == Array(1...Int64(7)))
        for engine in [first, second, program] { await engine.close() }
    }

    @Test func `an event that one host dropped to make room is not shown as delivered by another`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let (first, second) = (try await engine(servers, ["a"]), try await engine(servers, ["a"]))
        _ = try await first.append([.numbered(1), .numbered(2)], to: ["a"])
        while try await first.statistics()["a"]?.queued != 2 { try await Task.checkedYield() }
        #expect(try await first.dropOldest(10, of: "a") == ["event-1"])
        #expect(try await second.records(RecordSelection()).map(\.event.id) == ["event-2"])
        #expect(try await first.records(RecordSelection(ids: ["event-1"])).map(\.state) == [.dropped])
        await first.close()
        await second.close()
    }

    @Test func `each of 65 servers is tried`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        var settings = servers.settings()
        // Nothing listens at the others.
        let urls = Array(repeating: "nats://127.0.0.1:1", count: 64) + [settings.url]
        settings.url = urls.joined(separator: ",")
        let engine = try await NATSEngine(settings, paths: ["a"], now: { OutboxEvent.start })
        _ = try await engine.append([.numbered(1)], to: ["a"])
        await engine.close()
    }

    @Test func `hosts share the work, and take over from one that dies`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a", "b"], lease: .seconds(1))
        let (first, second) = (try await engine(servers), try await engine(servers))
        _ = try await first.append((1...10).map { .numbered($0) }, to: ["a", "b"])
        let mine = try await first.batch(for: "a", upTo: BatchLimits(count: 4), now: now)
        #expect(mine.entries.count == 4)
        let others = try await second.batch(for: "a", upTo: BatchLimits(), now: now)
        #expect(others.entries.map(\.id) == (5...10).map { "event-\($0)" })
        try await second.settle(
            others,
            others.entries.map { _ in .delivered },
            Attempt(at: now, failures: others.entries.map { _ in nil })
        )
        // It ends without telling the servers.
        await first.jetStream.connection.close()
        #expect(Set(try await drain(second, "a", until: 4)) == Set((1...4).map { "event-\($0)" }))
        #expect(Set(try await drain(second, "b", until: 10)).count == 10)
        await second.close()
    }

    @Test func `one of three servers may die without losing an event`() async throws {
        let servers = try await NATSServers(3)
        _ = try await servers.migrate(["a", "b"])
        let engine = try await engine(servers)
        for dying in 0..<3 {
            for number in 1...20 { _ = try await engine.append([.numbered(100 * dying + number)], to: ["a", "b"]) }
            servers.kill(dying)
            for number in 21...40 { _ = try await engine.append([.numbered(100 * dying + number)], to: ["a", "b"]) }
            try servers.start(dying)
            try await servers.whole()
        }
        #expect(Set(try await drain(engine, "a", until: 120)).count == 120)
        #expect(Set(try await drain(engine, "b", until: 120)).count == 120)
        await engine.close()
    }

    /// An isolated leader notes the id of a message that it cannot store, and answers a repetition as if it had stored it.
    @Test(.enabled(if: NetworkNamespaces.arePossible))
    func `an event sent to a leader that has lost its followers is stored by the next leader`() async throws {
        let network = try NetworkNamespaces(3)
        let servers = try await NATSServers(3, in: network)
        _ = try await servers.migrate(["a"])
        try await servers.whole()
        let leader = try #require(servers.leader())
        var settings = servers.settings()
        settings.url = "nats://\(network.address(leader)):4222"
        let engine = try await NATSEngine(settings, paths: ["a"], now: { OutboxEvent.start })
        try network.isolate(leader)
        async let stored: Void = {
            // As an application does when the outcome is unknown.
            while true {
                do throws(ConnectorError) {
                    _ = try await engine.append([.numbered(1)], to: ["a"])
                    return
                } catch {
                    try #require(error.code == .storage)
                }
            }
        }()
        try await servers.leads(otherThan: leader)
        try network.readmit(leader)
        try await stored
        let other = try await self.engine(servers, ["a"])
        #expect(Set(try await drain(other, "a", until: 1)) == ["event-1"])
        await other.close()
        await engine.close()
    }
}
