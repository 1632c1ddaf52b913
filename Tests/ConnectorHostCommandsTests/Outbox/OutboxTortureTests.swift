// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Hosts that are killed while they store and deliver, before a vendor that misbehaves.
///
/// `make torture` sets `CONNECTOR_TORTURE_KILLS`; `CONNECTOR_TORTURE_SEED` repeats the choices of a run.
@Suite(.timeLimit(.minutes(60))) struct OutboxTortureTests {
    /// The events that `send -` stores together before it reads on.
    private static let group = 256

    /// Events that one process was told to send.
    private struct Sending {
        var ids: [String]
        /// Whether the process said that all of them are stored.
        var isComplete: Bool
    }

    private static func number(_ variable: String) -> Int? {
        unsafe getenv(variable).flatMap { unsafe Int(String(cString: $0)) }
    }

    @Test func `whenever a host is killed, every stored event arrives or is a dead letter`() async throws {
        let kills = Self.number("CONNECTOR_TORTURE_KILLS") ?? 5
        let seed = UInt64(Self.number("CONNECTOR_TORTURE_SEED") ?? 1)
        print("CONNECTOR_TORTURE_SEED=\(seed) CONNECTOR_TORTURE_KILLS=\(kills)")
        var random = SeededGenerator(seed: seed)
        let bench = try await OutboxWorkspace()
        let settings: JSONValue = ["batch": ["count": 20], "retry": ["initial": "10ms", "max": "100ms"]]
        try bench.configure(bench.leaf("segment", ["outbox": settings]))
        let sink = bench.sink
        let faults = SeededChoice(seed: seed)
        // A wrong key, too, is a fault that no event is dropped for. Half of the answers are good.
        sink.answers { _ in faults.next(of: 18).flatMap { Sink.Answer.faults[safe: $0] } ?? .takes }
        var sendings: [Sending] = []
        var poison: Set<String> = []
        for round in 1...kills {
            let ids = (1...Int.random(in: 1...1500, using: &random)).map { "\(round)-\($0)" }
            let bad = Set(ids.filter { _ in Int.random(in: 0..<400, using: &random) == 0 })
            poison.formUnion(bad)
            let text = ids.map { OutboxWorkspace.line($0, isPoison: bad.contains($0)) }.joined()
            try bench.workspace.write(text, to: "events-\(round).jsonl")
            let moment = Sink.Moment.allCases.randomElement(using: &random) ?? .read
            // Batches of 20 make at least so many requests.
            let count = Int.random(in: 1...max(1, min(30, ids.count / 20)), using: &random)
            async let reached: Void = sink.wait(for: moment, of: count)
            let host = try bench.run()
            let sender = try bench.send("segment", file: "events-\(round).jsonl")
            async let sent = sender.finish()
            await reached
            if Bool.random(using: &random) { sender.signal(SIGKILL) }
            host.signal(SIGKILL)
            _ = try await host.finish()
            let result = try await sent
            #expect(result.status == 0 || result.status == 128 + SIGKILL, "\(result.error)")
            sendings.append(Sending(ids: ids, isComplete: result.status == 0))
        }
        sink.answers { _ in .takes }
        async let arrives: Void = sink.wait(for: .read, of: 1)
        let last = try await bench.json("send", "segment", "track", "event=event last", "messageId=last", "userId=u")
        #expect(last["id"] == "last")
        sendings.append(Sending(ids: ["last"], isComplete: true))
        let host = try bench.run("--grace", "10m")
        await arrives
        host.signal(SIGTERM)
        let end = try await host.finish()
        #expect(end.status == 0, "\(end.error)")
        #expect(try JSONValue(parsing: end.output) == ["version": 1, "queued": 0])
        let taken = sink.taken
        let letters = try await bench.json("outbox", "dead", "--limit", "1000000")["dead"]?.array ?? []
        let dead = Set(letters.compactMap { $0["id"]?.string })
        #expect(dead.isSubset(of: poison) && letters.count == dead.count)
        #expect(letters.allSatisfy { $0["code"] == "invalid" })
        let known = Set(taken.keys).union(dead)
        let all = Set(sendings.flatMap(\.ids))
        #expect(known.isSubset(of: all), "nothing arrives that nobody sent")
        #expect(sink.mixed.isEmpty, "what comes again has its id")
        #expect(poison.isDisjoint(with: taken.keys))
        for sending in sendings {
            // The groups before the last one that is known were stored before that one was read.
            let end = sending.ids.lastIndex(where: known.contains) ?? 0
            let stored = sending.isComplete ? sending.ids[...] : sending.ids.prefix(end / Self.group * Self.group)
            #expect(stored.filter { !known.contains($0) } == [])
        }
        let again = taken.values.reduce(0) { $0 + $1 - 1 }
        print("\(kills) kills, \(known.count) events, \(dead.count) dead letters, \(again) came again")
        try await sink.stop()
    }
}

/// Random choices for a server, the same in every run.
private final class SeededChoice: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(seed: UInt64) {
        generator = Mutex(SeededGenerator(seed: seed))
    }

    func next(of count: Int) -> Int? { generator.withLock { Int.random(in: 0..<count, using: &$0) } }
}

extension Sink.Answer {
    /// All but the good answer, and the one that blames the event.
    fileprivate static let faults = allCases.filter { $0 != .takes && $0 != .refuses }
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
