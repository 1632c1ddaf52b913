// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorOutbox

/// What holds for the events of every pair of files.
@Suite(.timeLimit(.minutes(5))) struct ReloadEventPropertyTests {
    /// A file at random: vendors at the root and in a composite, some of which take nothing.
    private struct RandomFile {
        var connectors: [String] = []
        /// The vendors that take events, in order.
        var taking: [String] = []
        /// The vendors that are away.
        var away: [String] = []

        var vendors: [String] { taking + away }

        init(_ random: inout SeededGenerator, isAnybodyAway: Bool = true) {
            connectors = ["a", "b", "c"].filter { _ in Bool.random(using: &random) }.map {
                leaf($0, $0, isAnybodyAway, &random)
            }
            let children = ["x", "y"].filter { _ in Bool.random(using: &random) }.map {
                leaf($0, "group/\($0)", isAnybodyAway, &random)
            }
            if !children.isEmpty {
                connectors.append(
                    #"{"name": "group", "policy": "all", "connectors": [\#(children.joined(separator: ","))]}"#
                )
            }
            connectors.shuffle(using: &random)
            connectors.append(TestHost.leaf("always"))
        }

        private mutating func leaf(
            _ name: String,
            _ path: String,
            _ isAnybodyAway: Bool,
            _ random: inout SeededGenerator
        ) -> String {
            let isAway = isAnybodyAway && Int.random(in: 0..<3, using: &random) == 0
            if isAway { away.append(path) } else { taking.append(path) }
            let timeout = Bool.random(using: &random) ? #", "timeout": "5s""# : ""
            return TestHost.leaf(
                name,
                plugin: "deliveries",
                isAway ? ["away": 1_000_000] : [:],
                settings: #""probe": "off", "outbox": {"batch": {"count": 1}}\#(timeout)"#
            )
        }
    }

    /// Sends events to every vendor and to the composite.
    ///
    /// - Returns: The queues that each was stored in, and the ids.
    private func send(_ name: String, _ file: RandomFile, to host: ConnectorHost) async throws -> [String: [String]] {
        var stored: [String: [String]] = [:]
        let group = file.vendors.contains { $0.hasPrefix("group/") } ? ["group"] : []
        for number in 1...3 {
            for path in file.vendors + group {
                let event = "\(name) \(number) to \(path)"
                stored[event] = try await host.analytics(path).track(event).connectors.sorted()
            }
        }
        return stored
    }

    /// Waits until the vendors that take events have taken everything, and returns what, in order.
    private func taken(_ file: RandomFile, by test: TestHost) async throws -> [String: [String]] {
        var taken: [String: [String]] = [:]
        for path in file.taking {
            while test.host.outbox(of: path)?.queued ?? 0 > 0 {
                test.clock.advance(by: .seconds(1))
                try await Task.checkedYield()
            }
            let lines = try await test.host.gate(path).call("taken").string ?? ""
            // Moving the clock may end an attempt that the vendor has already served: the event then comes again.
            for line in lines.split(separator: "\n") {
                let event = try JSONValue(parsing: Array(line.utf8)).array?.first?["event"]?.string ?? ""
                if taken[path]?.contains(event) != true { taken[path, default: []].append(event) }
            }
        }
        return taken
    }

    @Test(arguments: 1...10)
    func `a reloaded host delivers what waited, and after it what a fresh host delivers`(_ seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        var file = RandomFile(&random)
        let test = try await TestHost.opened(file.connectors.joined(separator: ","))
        /// The events that wait at each vendor, in order, and those that have become dead letters.
        var (waiting, dead): ([String: [String]], [String]) = ([:], [])
        for round in 1...5 {
            let sent = try await send("before \(round)", file, to: test.host)
            _ = try await taken(file, by: test)
            for path in file.away {
                waiting[path, default: []] += sent.filter { $0.value.contains(path) }.map(\.key).sorted(
                    by: Self.precedes
                )
            }
            // In the last round nobody is away.
            file = RandomFile(&random, isAnybodyAway: round < 5)
            #expect(await test.host.reload(try TestHost.configuration(file.connectors)).isActive)
            for path in waiting.keys where !file.vendors.contains(path) {
                dead += waiting.removeValue(forKey: path) ?? []
            }
            let fresh = try await TestHost.opened(file.connectors.joined(separator: ","))
            let stored = try await send("after \(round)", file, to: test.host)
            #expect(try await send("after \(round)", file, to: fresh.host) == stored)
            let (mine, others) = (try await taken(file, by: test), try await taken(file, by: fresh))
            for path in file.taking {
                let waited = waiting.removeValue(forKey: path) ?? []
                #expect(mine[path] ?? [] == waited + (others[path] ?? []), "\(path)")
            }
            for path in file.away {
                waiting[path, default: []] += stored.filter { $0.value.contains(path) }.map(\.key).sorted(
                    by: Self.precedes
                )
            }
            await fresh.host.close()
        }
        #expect(waiting.isEmpty)
        let letters = try await test.host.deadLetters(limit: 1000).map { letter in
            try JSONValue(parsing: letter.payload)["event"]?.string ?? ""
        }
        #expect(letters.sorted() == dead.sorted(), "what waited for a vendor that is gone is kept")
        await test.host.close()
    }

    /// Whether an event was sent before another.
    private static func precedes(_ first: String, _ second: String) -> Bool {
        func place(_ event: String) -> (Substring, Int) {
            let words = event.split(separator: " ")
            return (words[2], words.last == "group" ? 1 : 0)
        }
        return place(first) < place(second)
    }
}
