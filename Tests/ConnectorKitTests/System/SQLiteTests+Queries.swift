// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import sqlite

/// What queries find, and in which pages.
extension SQLiteTests {
    @Test func `text that looks like SQL is treated as text`() async throws {
        let sqlite = try await opened()
        let name = "x' OR '1'='1\"); DROP TABLE records; --"
        let made = try await sqlite.create([name: .string(name)], in: name, id: name)
        let query = DatabaseQuery([.init(name, .equal, .string(name))], sort: [.init(name)])
        #expect(try await sqlite.query(query, in: name).records == [made])
        #expect(try await sqlite.query(DatabaseQuery(), in: "x").records == [])
        let other = DatabaseQuery([.init(name, .greater, .string("y"))])
        #expect(try await sqlite.query(other, in: name).records == [])
        await sqlite.close()
    }

    @Test(
        arguments: [
            ([.init("v", .equal, 1)], "1 1.0"), ([.init("v", .notEqual, 1)], "0.5 2 a b f n t x"),
            ([.init("v", .less, 2)], "0.5 1 1.0"), ([.init("v", .greaterOrEqual, "a")], "a b"),
            ([.init("v", .equal, true)], "t"), ([.init("v", .equal, nil)], "n x"),
            ([.init("v", .notEqual, nil)], "0.5 1 1.0 2 a b f t"),
            ([.init("v", .within, [2, "a", false, nil])], "2 a f n x"),
            ([.init("v", .greater, 0.5), .init("v", .less, 2)], "1 1.0"),
        ] as [([DatabaseQuery.Filter], String)]
    )
    func `filters compare values of one type`(_ filters: [DatabaseQuery.Filter], _ expected: String) async throws {
        let sqlite = try await opened()
        let values: [(String, JSONObject)] = [
            ("0.5", ["v": 0.5]), ("1", ["v": 1]), ("1.0", ["v": .number(1)]), ("2", ["v": 2]), ("a", ["v": "a"]),
            ("b", ["v": "b"]), ("f", ["v": false]), ("t", ["v": true]), ("n", ["v": .null]), ("x", ["w": 1]),
        ]
        for (id, record) in values { _ = try await sqlite.create(record, in: "c", id: id) }
        let found = try await sqlite.query(DatabaseQuery(filters), in: "c").records.map(\.id)
        #expect(found.joined(separator: " ") == expected)
        await sqlite.close()
    }

    @Test(
        arguments: [.init("v", .equal, "b\0c"), .init("v", .within, ["b\0"]), .init("v\0", .greater, 1)]
            as [DatabaseQuery.Filter]
    )
    func `a filter with a NUL, at which SQLite would end the text, is refused`(_ filter: DatabaseQuery.Filter)
        async throws
    {
        let sqlite = try await opened()
        let error = await #expect(throws: PluginError.self) { try await sqlite.query(DatabaseQuery([filter]), in: "c") }
        #expect(error?.status == .unsupported)
        await sqlite.close()
    }

    @Test(arguments: [1, 2, 3, 100])
    func `pages neither miss nor repeat a record while others are deleted`(_ limit: Int) async throws {
        let sqlite = try await opened()
        let values: [JSONValue] = [.null, 2, "b", 1, "a", .null, 2, 0.5, true]
        for (sort, expected) in [
            ([.init("v"), .init("w", descending: true)], "5 0 7 3 8 1 6 4 2"),
            ([.init("v", descending: true)], "2 4 1 6 3 8 7 0 5"), ([.init("w"), .init("v")], "0 8 6 4 2 5 7 3 1"),
            ([], "0 1 2 3 4 5 6 7 8"),
        ] as [([DatabaseQuery.Order], String)] {
            for (index, value) in values.enumerated() {
                let record: JSONObject = ["v": value, "w": .integer(Int64(index % 2))]
                _ = try await sqlite.create(record, in: expected, id: "\(index)")
            }
            var query = DatabaseQuery(sort: sort, limit: limit)
            var found: [String] = []
            repeat {
                let page = try await sqlite.query(query, in: expected)
                found += page.records.map(\.id)
                query.cursor = page.cursor
                if let read = page.records.last { try await sqlite.delete(read.id, in: expected, version: nil) }
            } while query.cursor != nil
            #expect(found.joined(separator: " ") == expected)
        }
        await sqlite.close()
    }

    @Test(arguments: ["", "x", "[]", "[1]", "[true, \"a\"]", "[[1], \"a\"]", "[1, 2, \"a\"]", "{}"])
    func `a cursor of another query is refused`(_ cursor: String) async throws {
        let sqlite = try await opened()
        let query = DatabaseQuery(sort: [.init("v")], cursor: cursor)
        #expect(await failure { _ = try await sqlite.query(query, in: "c") }?.status == .invalid)
        await sqlite.close()
    }

    @Test func `filters, ids and versions that SQLite cannot handle are refused`() async throws {
        let sqlite = try await opened()
        let bools = DatabaseQuery([.init("v", .less, true)])
        #expect(await failure { _ = try await sqlite.query(bools, in: "c") }?.status == .unsupported)
        let many = DatabaseQuery((0..<100).map { .init("v\($0)", .equal, 1) })
        #expect(await failure { _ = try await sqlite.query(many, in: "c") }?.status == .invalid)
        #expect(await failure { _ = try await sqlite.create([:], in: "c", id: "a\u{0}b") }?.status == .invalid)
        #expect(await failure { try await sqlite.delete("a", in: "c", version: "+1") }?.status == .invalid)
        await sqlite.close()
    }
}
