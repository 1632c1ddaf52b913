// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Hosts and servers that are killed, and servers that are cut off, while three hosts share an outbox on three servers.
@Suite(.serialized, .enabled(if: NATSServers.areInstalled), .timeLimit(.minutes(60))) struct NATSTortureTests {
    @Test func `whenever a host or a server is killed, every stored event arrives or is a dead letter`() async throws {
        let torture = Torture(kills: 3)
        var random = SeededGenerator(seed: torture.seed)
        let hosts = try await NATSHosts(3)
        let sink = hosts.bench.sink
        sink.misbehaves(seed: torture.seed)
        var ledger = OutboxLedger()
        var running: [Child] = []
        for host in 0..<3 { running.append(try await hosts.opened(host)) }
        for round in 1...torture.kills {
            let ids = try ledger.events("\(round)", &random, in: hosts.bench)
            let moment = Sink.Moment.allCases.randomElement(using: &random) ?? .read
            let count = Int.random(in: 1...max(1, min(30, ids.count / 20)), using: &random)
            let reached = sink.expect(moment, count)
            let sender = try hosts.send(file: "events-\(round).jsonl", on: Int.random(in: 0..<3, using: &random))
            async let sent = sender.finish()
            try await reached.met()
            let victim = Int.random(in: 0..<3, using: &random)
            // The first rounds have one of each.
            switch round <= 3 ? round : Int.random(in: 1...3, using: &random) {
            case 1:
                running[victim].signal(SIGKILL)
                _ = try await running[victim].finish()
                running[victim] = try await hosts.opened(victim)
            case 2:
                hosts.servers.kill(victim)
                // The others go on.
                let goesOn = sink.expect(.answered, 1)
                try await hosts.send("without-\(round)")
                ledger.note(["without-\(round)"], isComplete: true)
                try await goesOn.met()
                try hosts.servers.start(victim)
                try await hosts.servers.whole()
            default: sender.signal(SIGKILL)
            }
            let result = try await sent
            #expect([0, 1, 128 + SIGKILL].contains(result.status), "\(result.error)")
            ledger.note(ids, isComplete: result.status == 0)
        }
        sink.answers { _ in .takes }
        try await hosts.end(running, ledger)
    }

    @Test(arguments: [2, 4])
    func `hosts that share a stream each deliver a part of it, and no event twice`(_ count: Int) async throws {
        let hosts = try await NATSHosts(count, lease: .seconds(60))
        let sink = hosts.bench.sink
        // Slow enough for every host to get its part.
        sink.answers { _ in .slow }
        var running: [Child] = []
        for host in 0..<count { running.append(try await hosts.opened(host)) }
        var (ledger, random) = (OutboxLedger(), SeededGenerator(seed: 1))
        for name in ["a", "b", "c"] {
            let ids = try ledger.events(name, &random, in: hosts.bench)
            let sent = try await hosts.send(file: "events-\(name).jsonl", on: 0).finish()
            #expect(sent.status == 0, "\(sent.error)")
            ledger.note(ids, isComplete: true)
        }
        try await hosts.end(running, ledger)
        #expect(sink.taken.values.allSatisfy { $0 == 1 })
        #expect(Set(sink.keys).count == count)
    }

    @Test(.enabled(if: NetworkNamespaces.arePossible))
    func `cutting off a server, even the leader, stops nothing and loses nothing`() async throws {
        let torture = Torture(kills: 1)
        var random = SeededGenerator(seed: torture.seed)
        let hosts = try await NATSHosts(2, in: try NetworkNamespaces(4))
        let (sink, network) = (hosts.bench.sink, try #require(hosts.network))
        var ledger = OutboxLedger()
        let running = [try await hosts.opened(0), try await hosts.opened(1)]
        // After a cut it takes half a minute until all servers are back.
        for round in 1...max(1, torture.kills / 10) {
            let ids = try ledger.events("\(round)", &random, in: hosts.bench)
            let reached = sink.expect(.read, 1)
            let sender = try hosts.send(file: "events-\(round).jsonl", on: 0)
            async let sent = sender.finish()
            try await reached.met()
            let leader = hosts.servers.leader() ?? 0
            let victim = round % 2 == 1 ? leader : (leader + Int.random(in: 1...2, using: &random)) % 3
            try network.cut(victim)
            let more = try ledger.events("without-\(round)", &random, in: hosts.bench)
            let other = try await hosts.send(file: "events-without-\(round).jsonl", on: 1).finish()
            #expect(other.status == 0, "\(other.error)")
            ledger.note(more, isComplete: other.status == 0)
            try await sink.expect(more[0]).met()
            #expect(hosts.servers.leader() != victim)
            try network.join(victim)
            try await hosts.servers.whole()
            let result = try await sent
            // Its own server may have been the one that was cut off.
            #expect([0, 1].contains(result.status), "\(result.error)")
            ledger.note(ids, isComplete: result.status == 0)
        }
        try await hosts.end(running, ledger)
    }
}
