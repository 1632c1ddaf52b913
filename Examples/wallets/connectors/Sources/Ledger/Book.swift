// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The entries, one JSON array under one key of the storage.
actor Book {
    /// An amount and what it was for.
    struct Entry: Sendable {
        var cents: Int64
        var text: String

        var json: JSONValue { ["cents": .integer(cents), "text": .string(text)] }
    }

    private static let key = "entries"
    private let storage: any StorageService
    /// The latest change; each change awaits the one before it.
    private var last: Task<Void, Never>?

    init(_ storage: any StorageService) {
        self.storage = storage
    }

    /// Everything in the book, oldest first.
    nonisolated func entries() async throws -> [Entry] {
        guard let text = try await storage.value(of: Self.key) else { return [] }
        return try JSONValue(parsing: text).array?.compactMap { json in
            guard let cents = json["cents"]?.integer, let text = json["text"]?.string else { return nil }
            return Entry(cents: cents, text: text)
        } ?? []
    }

    /// Adds an entry, and returns the balance with it.
    func add(_ entry: Entry, overdraft: Int64) async throws -> Int64 {
        let earlier = last
        let change = Task { [self] in
            await earlier?.value
            let entries = try await entries() + [entry]
            let balance = entries.reduce(0) { $0 + $1.cents }
            guard entry.cents > 0 || balance >= -overdraft else {
                throw PluginError(.conflict, "the balance would be \(balance), below the overdraft of \(overdraft)")
            }
            try await storage.set(JSONValue.array(entries.map(\.json)).utf8(), for: Self.key)
            return balance
        }
        last = Task { _ = await change.result }
        return try await change.value
    }
}
