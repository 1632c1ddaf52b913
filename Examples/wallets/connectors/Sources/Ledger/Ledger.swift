// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorKit
internal import ConnectorManifest

/// The plugin `ledger`: amounts, kept in the host's storage.
///
/// It uses a gate of settings, for how far the balance may fall, and one of analytics, if there is one.
public struct Ledger: Plugin {
    private let book: Book
    private let settings: UsedSettings
    private let analytics: UsedAnalytics?

    /// Takes what the host lends.
    public init(configuration: PluginConfiguration, host: Host) throws {
        guard let storage = host.storage else { throw PluginError(.denied, "the host does not provide storage/1") }
        book = Book(storage)
        settings = host.gate("settings", as: UsedSettings.self)
        analytics = host.optionalGate("analytics", as: UsedAnalytics.self)
    }

    /// Reads the book, which proves that it can be read.
    public func open() async throws -> [Evidence] {
        [.reachable("the book has \(try await book.entries().count) entries")]
    }

    /// The operation `add`.
    func add(cents: Int64, text: String) async throws -> JSONValue {
        guard cents != 0, abs(Double(cents)) < 1e12, (1...100).contains(text.count) else {
            throw PluginError(.invalid, "an entry has an amount, and a text of 1 to 100 characters")
        }
        let overdraft = try await settings.value(of: "overdraft")?.integer ?? 0
        let balance = try await book.add(Book.Entry(cents: cents, text: text), overdraft: overdraft)
        // The entry is in the book, whatever becomes of the event.
        try? await analytics?.track("Amount Booked", ["cents": .integer(cents)], anonymousId: "ledger")
        return ["balance": .integer(balance)]
    }

    /// The operation `entries`.
    func entries() async throws -> JSONValue {
        .array(try await book.entries().map(\.json))
    }
}
