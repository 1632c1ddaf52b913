// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

/// The events that a test sends, counted at the end.
struct OutboxLedger {
    /// The events that `send -` stores together before it reads on.
    private static let group = 256

    /// Events that one process was told to send.
    private struct Sending {
        var ids: [String]
        /// Whether the process said that all of them are stored.
        var isComplete: Bool
    }

    private var sendings: [Sending] = []
    private var poison: Set<String> = []

    /// Makes up to 1500 events as lines of a file; the vendor refuses one in 400, but not the first.
    ///
    /// - Returns: Their ids.
    mutating func events(_ name: String, _ random: inout SeededGenerator, in bench: OutboxWorkspace) throws -> [String]
    {
        let ids = (1...Int.random(in: 1...1500, using: &random)).map { "\(name)-\($0)" }
        let bad = Set(ids.dropFirst().filter { _ in Int.random(in: 0..<400, using: &random) == 0 })
        poison.formUnion(bad)
        let text = ids.map { OutboxWorkspace.line($0, isPoison: bad.contains($0)) }.joined()
        try bench.workspace.write(text, to: "events-\(name).jsonl")
        return ids
    }

    /// Notes what was sent.
    mutating func note(_ ids: [String], isComplete: Bool) {
        sendings.append(Sending(ids: ids, isComplete: isComplete))
    }

    /// Checks that every stored event has arrived or is a dead letter, that nothing else has, and that what came again has its id.
    ///
    /// - Parameter letters: The dead letters.
    func check(_ sink: Sink, _ letters: [JSONValue]) {
        let taken = sink.taken
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
            let lost = stored.filter { !known.contains($0) }
            #expect(lost.isEmpty, "\(lost.count) of \(stored.count) are lost: \(lost.prefix(10))")
        }
        let again = taken.values.reduce(0) { $0 + $1 - 1 }
        print("\(known.count) events, \(dead.count) dead letters, \(again) came again")
    }
}
