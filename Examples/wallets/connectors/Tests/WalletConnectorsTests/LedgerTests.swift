// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorKit
import ConnectorManifest
import Synchronization
import Testing

@testable import Ledger

/// The plugin alone, with doubles for what it uses.
@Suite struct LedgerTests {
    /// What the host keeps for the plugin, in memory.
    private final class MemoryStorage: StorageService {
        private let values = Mutex<[String: [UInt8]]>([:])

        func value(of key: String) async throws(PluginError) -> [UInt8]? { values.withLock { $0[key] } }
        func set(_ value: [UInt8], for key: String) async throws(PluginError) { values.withLock { $0[key] = value } }
        func replace(
            _ expected: [UInt8]?,
            with value: [UInt8],
            for key: String
        ) async throws(PluginError) -> Bool {
            // Let others come in between.
            await Task.yield()
            return values.withLock { values in
                guard values[key] == expected else { return false }
                values[key] = value
                return true
            }
        }
        func remove(_ key: String) async throws(PluginError) { values.withLock { $0[key] = nil } }
        func keys(startingWith prefix: String) async throws(PluginError) -> [String] {
            values.withLock { $0.keys.filter { $0.hasPrefix(prefix) }.sorted() }
        }
    }

    private static let settings: GateDoubles.Double = { operation, arguments throws(PluginError) in
        operation == "get" && arguments["key"] == "overdraft" ? 500 : .null
    }

    @Test func `the settings say how far the balance may fall`() async throws {
        let host = Host(storage: MemoryStorage(), gates: GateDoubles(["settings": Self.settings]))
        let ledger = try Ledger(configuration: PluginConfiguration([:]), host: host)
        #expect(try await ledger.add(cents: -420, text: "coffee") == ["balance": -420])
        let refused = await #expect(throws: PluginError.self) { try await ledger.add(cents: -81, text: "cake") }
        #expect(refused?.status == .conflict)
        #expect(try await ledger.entries() == [["cents": -420, "text": "coffee"]])
        let empty = await #expect(throws: PluginError.self) { try await ledger.add(cents: 0, text: "") }
        #expect(empty?.status == .invalid)
    }

    @Test func `two instances, as a reload has them, keep each other's entries`() async throws {
        let host = Host(storage: MemoryStorage(), gates: GateDoubles(["settings": Self.settings]))
        let ledgers = try [
            Ledger(configuration: PluginConfiguration([:]), host: host),
            Ledger(configuration: PluginConfiguration([:]), host: host),
        ]
        try await withThrowingTaskGroup { group in
            for ledger in ledgers {
                for cents in 1...10 as ClosedRange<Int64> {
                    group.addTask { _ = try await ledger.add(cents: cents, text: "gift") }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await ledgers[0].entries().array?.count == 20)
    }

    @Test func `each amount is tracked, if there is a gate of analytics`() async throws {
        let events = AnalyticsDouble()
        let gates = GateDoubles(["settings": Self.settings, "analytics": events.double])
        let ledger = try Ledger(
            configuration: PluginConfiguration([:]),
            host: Host(storage: MemoryStorage(), gates: gates)
        )
        _ = try await ledger.add(cents: 100, text: "gift")
        #expect(events.events.map(\.event) == ["Amount Booked"])
        #expect(events.events[0].properties == ["cents": 100])
    }
}
