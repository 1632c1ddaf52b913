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

/// Hosts that reload all the time, with other settings, keys and images and with damaged files, deliver to a vendor that misbehaves,
/// and are called and killed meanwhile; at the end everything is counted.
@Suite(.timeLimit(.minutes(60))) struct ReloadTortureTests {
    private static let count: JSONObject = ["retry": ["initial": "10ms", "max": "100ms"]]

    /// The credentials that the adapter makes of a key.
    private static func authorization(_ key: String) -> String { "Basic " + Base64.encode(Array("\(key):".utf8)) }

    /// Writes a configuration in one step, so that a command that starts meanwhile reads a whole one.
    private func configure(_ bench: OutboxWorkspace, _ number: Int) throws {
        var outbox = Self.count
        outbox["batch"] = ["count": .integer(Int64(10 + number % 20))]
        let leaf = bench.leaf(
            "segment",
            [
                "plugin": "./plugins/libsegment.so", "outbox": .object(outbox),
                "timeout": .string("\(5 + number % 3)s"),
                "config": ["endpoint": .string(bench.sink.url), "writeKey": ["secret": "file:key"]],
            ]
        )
        let called: JSONValue = ["name": "called", "plugin": .string(FixturePlugins.good("sync")), "probe": "off"]
        let file: JSONValue = ["version": 1, "state": "state", "connectors": [leaf, called]]
        try replace(bench, "connectors.json", file.serialized())
    }

    private func replace(_ bench: OutboxWorkspace, _ name: String, _ text: String) throws {
        try bench.workspace.write(text, to: "\(name).new")
        let path = "\(bench.workspace.path)/\(name)"
        try #require(unsafe rename("\(path).new", path) == 0)
    }

    /// Replaces the adapter's image by one with other bytes at its end, which the linker ignores.
    private func place(_ bench: OutboxWorkspace, _ number: UInt64, at name: String = "plugins/libsegment.so") throws {
        let path = "\(bench.workspace.path)/\(name)"
        let adapter = "\(Program.buildDirectory)/libsegment.so"
        try #require(shell("cp '\(adapter)' '\(path).new' && printf '%020u' \(number) >> '\(path).new'") == 0)
        try #require(unsafe rename("\(path).new", path) == 0)
    }

    /// Calls the other gate until the task is cancelled. A call fails only while no host runs.
    private func calling(_ program: Program) -> Task<Int, any Error> {
        Task {
            var count = 0
            while !Task.isCancelled {
                let result = try await program.run("call", "called", "divide", "6", "3", "--attach", "--json")
                let document = try JSONValue(parsing: result.output)
                if result.status == 0 {
                    #expect(document["result"]?.number == 2)
                    count += 1
                } else {
                    let code = document["errors"]?[0]?["code"]
                    #expect(code == "not-open" || code == "unavailable", "\(result.output)")
                }
            }
            return count
        }
    }

    @Test func `whenever a host is killed between reloads, every stored event arrives or is a dead letter`()
        async throws
    {
        let torture = Torture(kills: 4)
        var random = SeededGenerator(seed: torture.seed)
        let bench = try await OutboxWorkspace()
        try #require(shell("mkdir '\(bench.workspace.path)/plugins'") == 0)
        try place(bench, 0)
        try replace(bench, "key", "key-0")
        try configure(bench, 0)
        let sink = bench.sink
        sink.misbehaves(seed: torture.seed)
        var ledger = OutboxLedger()
        var reloads = 0
        var keys: Set<String> = ["key-0"]
        let calls = calling(bench.program)
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
                var keys: [String] = []
                while !Task.isCancelled {
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0: try replace(bench, "connectors.json", "{")
                    case 1:
                        keys.append("key-\(random.next())")
                        try replace(bench, "key", keys.last ?? "")
                    case 2: try place(bench, random.next())
                    default: try configure(bench, Int.random(in: 0..<60, using: &random))
                    }
                    host.signal(SIGHUP)
                    await Task.yield()
                }
                return keys
            }
            try await reached.met()
            host.signal(SIGKILL)
            changing.cancel()
            keys.formUnion(try await changing.value)
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
        // The last host takes up an image and a key, and delivers with both.
        try place(bench, 1, at: "next.so")
        let swapped = try await bench.program.run("swap", "segment", "next.so")
        #expect(swapped.status == 0, "\(swapped)")
        try replace(bench, "key", "key-last")
        keys.insert("key-last")
        #expect(try await bench.json("reload")["active"] == true)
        _ = try await bench.json("send", "segment", "track", "event=event rotated", "messageId=rotated", "userId=u")
        ledger.note(["rotated"], isComplete: true)
        try await sink.expect("rotated").met()
        #expect(try await bench.json("status", "--attach")["images"]?["count"]?.integer ?? 0 >= 3)
        calls.cancel()
        #expect(try await calls.value > 0)
        host.signal(SIGTERM)
        let end = try await host.finish()
        #expect(end.status == 0, "\(end.error)")
        let used = Set(sink.keys)
        #expect(used.isSubset(of: Set(keys.map(Self.authorization))), "no key but those that were in the file")
        #expect(used.contains(Self.authorization("key-last")))
        ledger.check(sink, try await bench.json("outbox", "dead", "--limit", "1000000")["dead"]?.array ?? [])
        print("\(reloads) reloads")
        #expect(reloads > 0)
        try await sink.stop()
    }
}
