// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost

/// A typed client of `ledger/1`, with the currency from the shared settings.
public struct LedgerClient: Sendable {
    /// An amount and what it was for.
    public struct Entry: Sendable, Hashable, Decodable {
        /// The amount; what was paid is negative.
        public var cents: Int64
        /// What it was for.
        public var text: String
    }

    private struct Answer: Decodable {
        var balance: Int64
    }

    private let gate: GateClient
    private let settings: SettingsClient

    /// The symbol or code that amounts are shown with.
    public static let currency = Setting("currency", default: "EUR")

    /// Finds the shared connectors.
    public init(_ host: ConnectorHost) throws(ConnectorError) {
        gate = try host.gate("ledger")
        settings = try host.settings("preferences")
    }

    /// Books an amount, and returns the balance.
    ///
    /// - Throws: `conflict` if the overdraft does not cover it.
    public func add(_ cents: Int64, _ text: String) async throws(ConnectorError) -> Int64 {
        try await gate.call("add", ["cents": .integer(cents), "text": .string(text)], as: Answer.self).balance
    }

    /// Everything booked, oldest first.
    public func entries() async throws(ConnectorError) -> [Entry] {
        try await gate.call("entries", as: [Entry].self)
    }

    /// An amount as text, such as `4.20 EUR`.
    public func text(_ cents: Int64) async throws(ConnectorError) -> String {
        let (whole, rest) = cents.magnitude.quotientAndRemainder(dividingBy: 100)
        let amount = "\(cents < 0 ? "-" : "")\(whole).\(rest < 10 ? "0" : "")\(rest)"
        return "\(amount) \(try await settings.value(of: Self.currency))"
    }

    /// Reads an amount such as `4.20` or `4`; nil for anything else.
    public static func cents(_ text: String) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
            let whole = Int64(parts[0]), whole < 1_000_000_000, parts.count == 1 || parts[1].count == 2
        else { return nil }
        return whole * 100 + (parts.count == 2 ? Int64(parts[1]) ?? 0 : 0)
    }
}
