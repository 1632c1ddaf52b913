// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost

/// Checks, in a plugin author's tests, whether an open gate follows the contract of `database/1`.
///
/// ```swift
/// #expect(await DatabaseConformance.check(try host.database("database")).isEmpty)
/// ```
///
/// The suite stores records in one collection. It first deletes everything there, and at the end what it stored itself.
public enum DatabaseConformance {
    /// What a vendor may lack.
    public struct Options: Sendable {
        /// A collection for the suite: it deletes all records there.
        public var collection: String
        /// Whether the caller may choose a record's id.
        public var takesIDs: Bool
        /// Whether records have versions.
        public var hasVersions: Bool

        /// Everything of the capability, in the collection `conformance`.
        public init(collection: String = "conformance", takesIDs: Bool = true, hasVersions: Bool = true) {
            self.collection = collection
            self.takesIDs = takesIDs
            self.hasVersions = hasVersions
        }
    }

    /// Checks a gate.
    ///
    /// - Parameters:
    ///   - database: A client of one leaf with an open gate.
    ///   - options: What the vendor may lack.
    /// - Returns: Every broken rule; empty if the plugin conforms.
    public static func check(
        _ database: DatabaseClient,
        options: Options = Options()
    ) async -> [PluginConformance.Finding] {
        var suite = Suite(database: database, options: options)
        await suite.run()
        return suite.findings
    }

    private struct Suite {
        let database: DatabaseClient
        let options: Options
        var findings: [PluginConformance.Finding] = []

        private var collection: String { options.collection }

        mutating func run() async {
            do throws(ConnectorError) {
                try await clear()
                try await checkRecords()
                if options.takesIDs { try await checkIDs() }
                if options.hasVersions { try await checkVersions() }
                try await checkQueries()
            } catch {
                find("a call failed: \(error)")
            }
        }

        /// Deletes everything in the collection, such as what a failed run left behind.
        private func clear() async throws(ConnectorError) {
            for _ in 1...Self.pageLimit {
                let page: DatabasePage
                do throws(ConnectorError) {
                    page = try await database.query(in: collection)
                } catch {
                    // No collection yet: the first record creates it.
                    guard error.code == .missing else { throw error }
                    return
                }
                for record in page.records { try await database.delete(record.id, in: collection) }
                if page.cursor == nil { return }
                guard !page.records.isEmpty else { break }
            }
            throw ConnectorError(.failed, "the collection \(collection) has records still after all were deleted")
        }

        /// The most pages of records to delete.
        private static let pageLimit = 1000

        private mutating func find(_ message: String) {
            findings.append(PluginConformance.Finding(.capability, message))
        }

        private mutating func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
            if !condition { find(message()) }
        }

        /// Checks that a record comes back unchanged, and can be updated, replaced and deleted.
        private mutating func checkRecords() async throws(ConnectorError) {
            let data: JSONObject = [
                "text": "a \"b\" \\ é 🚲", "whole": 7, "half": 0.5, "yes": true, "list": [1, "a"],
                "object": ["a": ["b": 1]],
            ]
            let made = try await database.create(data, in: collection)
            let other = try await database.create(["text": "other"], in: collection)
            expect(made.id != other.id, "two records have the id \(made.id)")
            var found = try await database.get(made.id, in: collection)
            expect(found.data == data, "\(data) came back as \(found.data)")
            expect(found.id == made.id, "the record \(made.id) came back as \(found.id)")
            _ = try await database.update(made.id, with: ["whole": 8, "new": "x"], in: collection)
            found = try await database.get(made.id, in: collection)
            expect(
                found.data["whole"] == 8 && found.data["new"] == "x" && found.data["text"] == data["text"],
                "an update made \(found.data)"
            )
            _ = try await database.replace(made.id, with: ["whole": 9], in: collection)
            found = try await database.get(made.id, in: collection)
            expect(found.data["whole"] == 9, "a replacement made \(found.data)")
            try await database.delete(made.id, in: collection)
            try await database.delete(other.id, in: collection)
            let (id, collection) = (made.id, collection)
            await expect(.missing, "get of a deleted record") { database throws(ConnectorError) in
                _ = try await database.get(id, in: collection)
            }
            await expect(.missing, "replace of a deleted record") { database throws(ConnectorError) in
                _ = try await database.replace(id, with: ["a": 1], in: collection)
            }
            await expect(.missing, "update of a deleted record") { database throws(ConnectorError) in
                _ = try await database.update(id, with: ["a": 1], in: collection)
            }
            await expect(.missing, "delete of a deleted record") { database throws(ConnectorError) in
                try await database.delete(id, in: collection)
            }
        }

        /// Checks that an id can be used only once.
        private mutating func checkIDs() async throws(ConnectorError) {
            let collection = collection
            let made = try await database.create(["a": 1], in: collection, id: "conformance-id")
            expect(made.id == "conformance-id", "a record with the id conformance-id became \(made.id)")
            await expect(.conflict, "create with an id that is taken") { database throws(ConnectorError) in
                _ = try await database.create(["a": 2], in: collection, id: "conformance-id")
            }
            let kept = try await database.get("conformance-id", in: collection)
            expect(kept.data["a"] == 1, "a refused record replaced the one there: \(kept.data)")
            try await database.delete("conformance-id", in: collection)
        }

        /// Checks that a change based on an old version is refused, and changes nothing.
        private mutating func checkVersions() async throws(ConnectorError) {
            let collection = collection
            let made = try await database.create(["a": 1], in: collection)
            let changed = try await database.update(made.id, with: ["a": 2], in: collection, version: made.version)
            expect(made.version != nil && changed.version != made.version, "a change keeps the version of a record")
            await expect(.conflict, "update of an old version") { database throws(ConnectorError) in
                _ = try await database.update(made.id, with: ["a": 3], in: collection, version: made.version)
            }
            await expect(.conflict, "replace of an old version") { database throws(ConnectorError) in
                _ = try await database.replace(made.id, with: ["a": 3], in: collection, version: made.version)
            }
            await expect(.conflict, "delete of an old version") { database throws(ConnectorError) in
                try await database.delete(made.id, in: collection, version: made.version)
            }
            let kept = try await database.get(made.id, in: collection)
            expect(kept.data["a"] == 2, "a refused change made \(kept.data)")
            expect(kept.version == changed.version, "a refused change made the version \(kept.version ?? "none")")
            try await database.delete(made.id, in: collection, version: kept.version)
        }

        /// Checks that queries filter and sort, and that their pages neither miss nor repeat a record.
        private mutating func checkQueries() async throws(ConnectorError) {
            var ids: [String] = []
            for number in 0..<7 {
                let record: JSONObject = [
                    "number": .integer(Int64(number)), "parity": number % 2 == 0 ? "even" : "odd",
                ]
                ids.append(try await database.create(record, in: collection).id)
            }
            let sort = [DatabaseQuery.Order("number", descending: true)]
            for (filters, expected) in [
                ([], [6, 5, 4, 3, 2, 1, 0]), ([.init("parity", .equal, "odd")], [5, 3, 1]),
                ([.init("parity", .notEqual, "odd")], [6, 4, 2, 0]),
                ([.init("number", .less, 3), .init("number", .greaterOrEqual, 1)], [2, 1]),
                ([.init("number", .lessOrEqual, 3), .init("number", .greater, 1)], [3, 2]),
                ([.init("number", .within, [0, 6, 99])], [6, 0]), ([.init("number", .equal, 99)], []),
            ] as [([DatabaseQuery.Filter], [Int64])] {
                let query = DatabaseQuery(filters, sort: sort)
                let found = try await database.query(query, in: collection)
                let numbers = found.records.map { $0.data["number"]?.integer ?? -1 }
                expect(numbers == expected, "\(query.json) found \(numbers), not \(expected)")
                expect(found.cursor == nil, "the only page of \(query.json) has a cursor")
            }
            var paged: [Int64] = []
            var query = DatabaseQuery(sort: sort, limit: 3)
            for _ in 1...4 {
                let page = try await database.query(query, in: collection)
                expect(page.records.count <= 3, "a page of 3 records has \(page.records.count)")
                paged += page.records.map { $0.data["number"]?.integer ?? -1 }
                query.cursor = page.cursor
                if page.cursor == nil { break }
            }
            expect(paged == [6, 5, 4, 3, 2, 1, 0], "the pages of 3 records have \(paged)")
            ids.append(try await database.create(["parity": "none"], in: collection).id)
            for comparison in [DatabaseQuery.Comparison.less, .lessOrEqual, .greater, .greaterOrEqual] {
                let isBelow = comparison == .less || comparison == .lessOrEqual
                let query = DatabaseQuery([.init("number", comparison, .integer(isBelow ? 99 : -1))])
                let count = try await database.query(query, in: collection).records.count
                expect(count == 7, "\(query.json) found \(count) records, not the 7 that have the member")
            }
            for id in ids { try await database.delete(id, in: collection) }
            let rest = try await database.query(in: collection).records
            expect(rest.isEmpty, "\(rest.count) records are left after all were deleted")
        }

        private mutating func expect(
            _ code: ConnectorError.Code,
            _ what: String,
            _ call: (DatabaseClient) async throws(ConnectorError) -> Void
        ) async {
            do throws(ConnectorError) {
                try await call(database)
                find("\(what) succeeded")
            } catch {
                expect(error.code == code, "\(what) is \(error.code), which must be \(code)")
            }
        }
    }
}
