// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Testing

/// Queries for records.
@Suite struct DatabaseQueryTests {
    @Test func `a query is read by member, comparison and order`() throws {
        let query = try DatabaseQuery(
            json: JSONValue(
                parsing:
                    #"{"where":{"a":"x","n":{"ge":1,"lt":5},"t":{"in":[1,null]}},"sort":["-n","a"],"limit":3,"cursor":"c"}"#
            )
        )
        #expect(
            query.filters == [
                .init("a", .equal, "x"), .init("n", .greaterOrEqual, 1), .init("n", .less, 5),
                .init("t", .within, [1, nil]),
            ]
        )
        #expect(query.sort == [.init("n", descending: true), .init("a")])
        #expect(query.limit == 3)
        #expect(query.cursor == "c")
        #expect(try DatabaseQuery(json: query.json) == query)
    }

    @Test(arguments: [
        DatabaseQuery([.init("n", .greater, 1), .init("n", .greater, 5)]),
        DatabaseQuery([.init("n", .equal, 1), .init("a", .equal, 2), .init("n", .equal, 1)]),
        DatabaseQuery(sort: [.init("-n")]), DatabaseQuery(sort: [.init("-\u{301}n")]),
    ])
    func `a query that its JSON cannot express is refused`(_ query: DatabaseQuery) throws {
        #expect(try DatabaseQuery(json: query.json) != query)
        #expect(throws: ConnectorError.self) { try query.check() }
    }

    @Test(arguments: [
        DatabaseQuery([.init("n", .greater, 1), .init("n", .less, 5), .init("a", .equal, "x")], sort: [.init("n-")]),
        DatabaseQuery([.init("\u{e9}", .equal, 1), .init("e\u{301}", .equal, 2)]),
        DatabaseQuery(sort: [.init("-n", descending: true), .init("\u{301}n", descending: true)]),
    ])
    func `any other query survives a round trip through JSON`(_ query: DatabaseQuery) throws {
        try query.check()
        #expect(try DatabaseQuery(json: query.json) == query)
    }

    @Test(arguments: [
        (#"{"wher":{}}"#, "query has no member \"wher\""), (#"{"where":{"a":{"gr":1}}}"#, "no comparison \"gr\""),
        (#"{"where":{"a":{}}}"#, "query.where.a needs a comparison"),
        (#"{"where":{"a":[1]}}"#, "query.where.a is an array"),
        (#"{"where":{"a":{"in":[]}}}"#, "query.where.a.in needs a value"),
        (#"{"where":{"a":{"in":1}}}"#, "query.where.a.in must be an array of values"),
        (#"{"where":{"a":{"eq":[]}}}"#, "query.where.a.eq must be a number"),
        (#"{"where":{"a":{"lt":{}}}}"#, "query.where.a.lt must be a number"), (#"{"limit":0}"#, "query.limit"),
        (#"{"limit":1001}"#, "query.limit"), (#"{"sort":[1]}"#, "query.sort"), (#"{"sort":["-"]}"#, "without a name"),
        (#"{"where":{"":1}}"#, "without a name"),
    ])
    func `a query with an unknown or invalid part is refused`(_ text: String, _ expected: String) throws {
        let json = try JSONValue(parsing: text)
        let error = #expect(throws: ConnectorError.self) { try DatabaseQuery(json: json) }
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
    }
}
