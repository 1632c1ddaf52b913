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

/// Hosts that reload all the time, with other settings, other secrets and damaged files, and are killed meanwhile.
@Suite(.timeLimit(.minutes(60))) struct ReloadTortureTests {
    private static let count: JSONObject = ["retry": ["initial": "10ms", "max": "100ms"]]

    /// Writes a configuration in one step, so that a command that starts meanwhile reads a whole one.
    private func configure(_ bench: OutboxWorkspace, _ number: Int) throws {
        var outbox = Self.count
        outbox["batch"] = ["count": .integer(Int64(10 + number % 20))]
        let leaf = bench.leaf(
            "segment",
            [
                "outbox": .object(outbox), "timeout": .string("\(5 + number % 3)s"),
                "config": ["endpoint": .string(bench.sink.url), "writeKey": ["secret": "file:key"]],
            ]
        )
        let file: JSONValue = ["version": 1, "state": "state", "connectors": [leaf]]
        try replace(bench, "connectors.json", file.serialized())
    }

    private func replace(_ bench: OutboxWorkspace, _ name: String, _ text: String) throws {
        try bench.workspace.write(text, to: "\(name).new")
        let path = "\(bench.workspace.path)/\(name)"
        try #require(unsafe rename("\(path).new", path) == 0)
    }

    @Test func `whenever a host is killed between reloads, every stored event arrives or is a dead letter`()
        async throws
    {
        let torture = Torture(kills: 4)
        var random = SeededGenerator(seed: torture.seed)
        let bench = try await OutboxWorkspace()
        try replace(bench, "key", "key-0")
        try configure(bench, 0)
        let sink = bench.sink
        sink.misbehaves(seed: torture.seed)
        var ledger = OutboxLedger()
        var reloads = 0
        for round in 1...torture.kills {
            let ids = try ledger.events("\(round)", &random, in: bench)
            let count = Int.random(in: 2...max(2, min(30, ids.count / 20)), using: &random)
            let (begun, reached) = (sink.expect(.read, 1), sink.expect(.read, count))
            let host = try bench.run()
            let sender = try bench.send("segment", file: "events-\(round).jsonl")
            async let sent = sender.finish()
            // The host delivers, so it handles the signal.
            try await begun.met()
            let seed = random.next()
            let changing = Task {
                var random = SeededGenerator(seed: seed)
                while !Task.isCancelled {
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: try replace(bench, "connectors.json", "{")
                    case 1: try replace(bench, "key", "key-\(random.next())")
                    default: try configure(bench, Int.random(in: 0..<60, using: &random))
                    }
                    host.signal(SIGHUP)
                    await Task.yield()
                }
            }
            try await reached.met()
            host.signal(SIGKILL)
            changing.cancel()
            try await changing.value
            let log = try await host.finish().error
            reloads += log.split(separator: "\n").count { $0.contains("configuration reloaded") }
            let result = try await sent
            #expect(result.status == 0, "\(result.error)")
            ledger.note(ids, isComplete: true)
            try configure(bench, 0)
        }
        sink.answers { _ in .takes }
        let arrives = sink.expect(.read, 1)
        _ = try await bench.json("send", "segment", "track", "event=event last", "messageId=last", "userId=u")
        ledger.note(["last"], isComplete: true)
        let host = try bench.run("--grace", "10m")
        try await arrives.met()
        host.signal(SIGTERM)
        let end = try await host.finish()
        #expect(end.status == 0, "\(end.error)")
        ledger.check(sink, try await bench.json("outbox", "dead", "--limit", "1000000")["dead"]?.array ?? [])
        print("\(reloads) reloads")
        #expect(reloads > 0)
        try await sink.stop()
    }
}
