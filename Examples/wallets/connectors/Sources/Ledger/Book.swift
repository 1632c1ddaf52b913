// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The entries, one JSON array under one key of the storage.
struct Book: Sendable {
    /// An amount and what it was for.
    struct Entry: Sendable {
        var cents: Int64
        var text: String

        var json: JSONValue { ["cents": .integer(cents), "text": .string(text)] }
    }

    private static let key = "entries"
    private let storage: any StorageService

    init(_ storage: any StorageService) {
        self.storage = storage
    }

    /// Everything in the book, oldest first.
    func entries() async throws -> [Entry] {
        try Self.entries(in: await storage.value(of: Self.key))
    }

    private static func entries(in text: [UInt8]?) throws -> [Entry] {
        guard let text else { return [] }
        return try JSONValue(parsing: text).array?.compactMap { json in
            guard let cents = json["cents"]?.integer, let text = json["text"]?.string else { return nil }
            return Entry(cents: cents, text: text)
        } ?? []
    }

    /// Adds an entry, and returns the balance with it.
    ///
    /// Begins again if another call has added one meanwhile: of this instance, or of the next one during a reload.
    func add(_ entry: Entry, overdraft: Int64) async throws -> Int64 {
        while true {
            let text = try await storage.value(of: Self.key)
            let entries = try Self.entries(in: text) + [entry]
            let balance = entries.reduce(0) { $0 + $1.cents }
            guard entry.cents > 0 || balance >= -overdraft else {
                throw PluginError(.conflict, "the balance would be \(balance), below the overdraft of \(overdraft)")
            }
            let new = JSONValue.array(entries.map(\.json)).utf8()
            if try await storage.replace(text, with: new, for: Self.key) { return balance }
        }
    }
}
