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

/// How hard the tests that kill hosts are: `make torture` sets `CONNECTOR_TORTURE_KILLS`, and `CONNECTOR_TORTURE_SEED` repeats a run.
struct Torture {
    let kills: Int
    let seed: UInt64

    /// Reads the variables, and prints them.
    init(kills: Int) {
        func number(_ variable: String) -> Int? { unsafe getenv(variable).flatMap { unsafe Int(String(cString: $0)) } }
        self.kills = number("CONNECTOR_TORTURE_KILLS") ?? kills
        seed = UInt64(number("CONNECTOR_TORTURE_SEED") ?? 1)
        print("CONNECTOR_TORTURE_SEED=\(seed) CONNECTOR_TORTURE_KILLS=\(self.kills)")
    }
}

/// Hosts that are killed while they store events and deliver them to a vendor that misbehaves.
@Suite(.timeLimit(.minutes(60))) struct OutboxTortureTests {
    @Test func `whenever a host is killed, every stored event arrives or is a dead letter`() async throws {
        let torture = Torture(kills: 5)
        var random = SeededGenerator(seed: torture.seed)
        let bench = try await OutboxWorkspace()
        let settings: JSONValue = ["batch": ["count": 20], "retry": ["initial": "10ms", "max": "100ms"]]
        try bench.configure(bench.leaf("segment", ["outbox": settings]))
        let sink = bench.sink
        sink.misbehaves(seed: torture.seed)
        var ledger = OutboxLedger()
        for round in 1...torture.kills {
            let ids = try ledger.events("\(round)", &random, in: bench)
            let moment = Sink.Moment.allCases.randomElement(using: &random) ?? .read
            // Batches of 20 make at least this many requests.
            let count = Int.random(in: 1...max(1, min(30, ids.count / 20)), using: &random)
            let reached = sink.expect(moment, count)
            let host = try bench.run()
            let sender = try bench.send("segment", file: "events-\(round).jsonl")
            async let sent = sender.finish()
            try await reached.met()
            if Bool.random(using: &random) { sender.signal(SIGKILL) }
            host.signal(SIGKILL)
            _ = try await host.finish()
            let result = try await sent
            #expect(result.status == 0 || result.status == 128 + SIGKILL, "\(result.error)")
            ledger.note(ids, isComplete: result.status == 0)
        }
        sink.answers { _ in .takes }
        let arrives = sink.expect(.read, 1)
        let last = try await bench.json("send", "segment", "track", "event=event last", "messageId=last", "userId=u")
        #expect(last["id"] == "last")
        ledger.note(["last"], isComplete: true)
        let host = try bench.run("--grace", "10m")
        try await arrives.met()
        host.signal(SIGTERM)
        let end = try await host.finish()
        #expect(end.status == 0, "\(end.error)")
        #expect(try JSONValue(parsing: end.output) == ["version": 1, "queued": 0])
        ledger.check(sink, try await bench.json("outbox", "dead", "--limit", "1000000")["dead"]?.array ?? [])
        try await sink.stop()
    }
}
