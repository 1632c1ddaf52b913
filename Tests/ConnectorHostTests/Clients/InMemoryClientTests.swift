// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHost
import ConnectorHostTesting
import Testing

/// The clients of an application's tests, through the protocols that the application takes.
@Suite
struct InMemoryClientTests {
    private struct Order: Codable, Equatable {
        var id: String
        var total: Double
    }

    // MARK: Analytics

    @Test func `analytics keeps the events of the calls, with user and time`() async throws {
        let memory = InMemoryAnalytics(now: { Timestamp(nanoseconds: 5_000_000_000) })
        let analytics: any Analytics = memory
        try await analytics.track("Seen")
        try await analytics.identify("u1", traits: ["plan": "free"])
        try await analytics.track("Order Completed", properties: Order(id: "A-1", total: 42.5))
        try await analytics.alias("u2")
        #expect(memory.events.map(\.type) == [.track, .identify, .track, .alias])
        #expect(memory.events.map(\.userId) == [nil, "u1", "u1", "u2"])
        #expect(memory.events[0].anonymousId == "anonymous")
        #expect(memory.events[2].properties == ["id": "A-1", "total": 42.5])
        #expect(memory.events[3].previousId == "u1")
        #expect(memory.events.allSatisfy { $0.timestamp?.nanoseconds == 5_000_000_000 })
    }

    @Test func `analytics keeps an event once, and its receipt has arrived`() async throws {
        let memory = InMemoryAnalytics()
        let analytics: any Analytics = memory
        let event = analytics.stamped(.track("Seen"))
        let receipt = try await analytics.send(event)
        try await analytics.send(event)
        #expect(try await analytics.deliver([event]).map(\.outcome) == [.accepted])
        #expect(memory.events == [event])
        #expect(receipt.id == event.messageId && receipt.outcomes.allSatisfy(\.isSuccess))
        try await receipt.delivered()
    }

    @Test func `analytics refuses what the host's client refuses, and fails when told to`() async throws {
        let memory = InMemoryAnalytics()
        let analytics: any Analytics = memory
        await #expect(throws: ConnectorError.self) { try await analytics.track("") }
        await #expect(throws: ConnectorError.self) { try await analytics.track("Seen", ["share": .number(.nan)]) }
        let broken = analytics.stamped(.track("Seen", ["share": .number(.nan)]))
        #expect(try await analytics.deliver([broken]).map(\.outcome) == [.rejected])
        memory.error = ConnectorError(.unavailable, "no network", isRetryable: true)
        let error = await #expect(throws: ConnectorError.self) { try await analytics.track("Seen") }
        #expect(error?.code == .unavailable)
        #expect(memory.events.isEmpty)
        memory.error = nil
        try await analytics.track("Seen")
        #expect(memory.events.count == 1)
    }

    @Test func `an identify carries its own user, however many tasks share the client`() async throws {
        let memory = InMemoryAnalytics()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...1000 {
                group.addTask {
                    let analytics: any Analytics = memory
                    try await analytics.identify("u\(number)", traits: ["name": .string("u\(number)")])
                }
            }
            try await group.waitForAll()
        }
        #expect(memory.events.count == 1000)
        #expect(memory.events.allSatisfy { $0.userId == $0.traits["name"]?.string })
    }

    @Test func `an identity that is refused changes nothing for later events`() async throws {
        let memory = InMemoryAnalytics()
        let analytics: any Analytics = memory
        try await analytics.identify("u1")
        await expect(.invalid) { try await analytics.identify("") }
        let error = await #expect(throws: ConnectorError.self) { try await analytics.alias("") }
        #expect(error?.message == "event.userId is missing: an alias needs it")
        #expect(analytics.userId == "u1")
        try await analytics.track("Seen")
        #expect(memory.events.map(\.userId) == ["u1", "u1"])
    }

    // MARK: Files

    @Test func `files in memory keep the contract of the capability`() async {
        #expect(await FilesConformance.check(InMemoryFiles()) == [])
    }

    @Test func `files fail when told to, and keep what they have`() async throws {
        let memory = InMemoryFiles()
        let files: any Files = memory
        let put = try await files.put("a", .bytes([1, 2]), contentType: "text/plain")
        memory.error = ConnectorError(.unavailable, "no network", isRetryable: true)
        let error = await #expect(throws: ConnectorError.self) { try await files.put("a", .bytes([3])) }
        #expect(error?.code == .unavailable)
        await #expect(throws: ConnectorError.self) { try await files.list() }
        memory.error = nil
        #expect(try await files.head("a") == put)
        #expect(try await files.get("a", range: 1..<9).collect(upTo: 9) == [2])
        try await files.copy("a", to: "b")
        try await files.remove("a")
        #expect(try await files.list().files.map(\.path) == ["b"])
    }

    // MARK: Crash

    @Test func `a crash reporter keeps errors and messages`() async throws {
        let memory = InMemoryCrashReporter()
        let crash: any CrashReporter = memory
        try await crash.report(ConnectorError(.failed, "broken"), tags: ["area": "checkout"])
        let receipt = try await crash.message("low on disk", level: .warning)
        #expect(memory.reports.map(\.message) == [nil, "low on disk"])
        #expect(memory.reports[0].exceptions.count == 1 && memory.reports[0].tags["area"] == "checkout")
        #expect(receipt.id == memory.reports[1].id)
        memory.error = ConnectorError(.notOpen, "closed")
        await #expect(throws: ConnectorError.self) { try await crash.message("more") }
        #expect(memory.reports.count == 2)
    }

    @Test func `a crash reporter stamps reports, not deliveries, and refuses what the client refuses`() async throws {
        let memory = InMemoryCrashReporter(now: { Timestamp(nanoseconds: 5_000_000_000) })
        let crash: any CrashReporter = memory
        try await crash.message("low on disk")
        _ = try await memory.deliver([CrashReport(level: .error, message: "from a queue")], options: CallOptions())
        #expect(memory.reports.map(\.timestamp?.nanoseconds) == [5_000_000_000, nil])
        await expect(.invalid) { try await crash.message("") }
        await expect(.invalid) { try await crash.send(CrashReport(level: .error)) }
        await expect(.invalid) { try await crash.exception(CrashReport(level: .error, message: "no exception")) }
        var misnamed = CrashReport(level: .error, message: "broken")
        misnamed.id = "order-17"
        await expect(.invalid) { [misnamed] in try await crash.send(misnamed) }
        let batch = [misnamed, CrashReport(level: .error, message: "sound")]
        #expect(try await crash.deliver(batch).map(\.outcome) == [.rejected, .accepted])
        #expect(memory.reports.map(\.message) == ["low on disk", "from a queue", "sound"])
    }

    // MARK: Geocoder

    @Test func `a geocoder finds its places by words, and by distance`() async throws {
        func place(_ name: String, _ latitude: Double, _ longitude: Double) throws -> Place {
            try Place(
                #require(Coordinate(latitude: latitude, longitude: longitude)),
                name: name,
                formattedAddress: "\(name), Germany",
                provider: "memory"
            )
        }
        let berlin = try place("Brandenburg Gate", 52.5163, 13.3777)
        let cologne = try place("Cologne Cathedral", 50.9413, 6.9583)
        let geocoder: any Geocoder = InMemoryGeocoder([berlin, cologne])
        #expect(try await geocoder.geocode("gate brandenburg") == [berlin])
        #expect(try await geocoder.geocode("Germany", limit: 1) == [berlin])
        #expect(try await geocoder.geocode("Paris").isEmpty)
        #expect(try await geocoder.geocode("%_*?").isEmpty)
        await expect(.invalid) { _ = try await geocoder.geocode(" \n") }
        #expect(try await geocoder.reverse(cologne.coordinate, limit: 2) == [cologne, berlin])
        let error = await #expect(throws: ConnectorError.self) { try await geocoder.geocode("Berlin", limit: 0) }
        #expect(error?.code == .invalid)
    }

    // MARK: Database

    @Test func `a database keeps, changes and deletes records by their versions`() async throws {
        let database: any Database = InMemoryDatabase()
        let made = try await database.create(Order(id: "A-1", total: 1), in: "orders", id: "one")
        #expect(try await database.get("one", in: "orders", as: Order.self) == Order(id: "A-1", total: 1))
        let changed = try await database.update("one", with: ["total": 2], in: "orders", version: made.version)
        #expect(changed.data == ["id": "A-1", "total": 2] && changed.version != made.version)
        await expect(.conflict) {
            _ = try await database.replace("one", with: ["total": 3], in: "orders", version: made.version)
        }
        await expect(.conflict) { _ = try await database.create(["total": 3], in: "orders", id: "one") }
        for version in ["", "not a version", "01", "-1"] {
            await expect(.invalid) {
                _ = try await database.replace("one", with: ["total": 3], in: "orders", version: version)
            }
            await expect(.invalid) { try await database.delete("one", in: "orders", version: version) }
        }
        try await database.delete("one", in: "orders", version: changed.version)
        await expect(.missing) { _ = try await database.get("one", in: "orders") }
        await expect(.missing) { try await database.delete("one", in: "orders") }
    }

    @Test func `a database finds records by filters, in order and by pages`() async throws {
        let database: any Database = InMemoryDatabase()
        for number in 1...5 {
            _ = try await database.create(["n": .number(Double(number)), "even": .bool(number % 2 == 0)], in: "c")
        }
        _ = try await database.create(["name": "no number"], in: "c")
        func numbers(_ query: DatabaseQuery) async throws -> [Double?] {
            try await database.query(query, in: "c").records.map { $0.data["n"]?.number }
        }
        #expect(try await numbers(DatabaseQuery([.init("n", .greaterOrEqual, 4)])) == [4, 5])
        #expect(try await numbers(DatabaseQuery([.init("n", .less, 2)])) == [1])
        #expect(try await numbers(DatabaseQuery([.init("n", .within, [1, 5, 9])])) == [1, 5])
        #expect(try await numbers(DatabaseQuery([.init("even", .equal, true)])) == [2, 4])
        #expect(
            try await numbers(DatabaseQuery(sort: [.init("even"), .init("n", descending: true)])) == [
                nil, 5, 3, 1, 4, 2,
            ]
        )
        var query = DatabaseQuery([.init("n", .notEqual, .null)], limit: 2)
        var pages: [Int] = []
        repeat {
            let page = try await database.query(query, in: "c")
            pages.append(page.records.count)
            query.cursor = page.cursor
        } while query.cursor != nil
        #expect(pages == [2, 2, 1])
        query.cursor = "elsewhere"
        await expect(.invalid) { [query] in _ = try await database.query(query, in: "c") }
        await expect(.invalid) { _ = try await database.query(DatabaseQuery(limit: 0), in: "c") }
        await expect(.invalid) {
            _ = try await database.query(DatabaseQuery([.init("n", .less, 2), .init("n", .less, 3)]), in: "c")
        }
    }

    @Test func `a database tells integers apart that are the same as floating-point numbers`() async throws {
        let database: any Database = InMemoryDatabase()
        let large: Int64 = 9_007_199_254_740_992
        for number in [large + 1, large] { _ = try await database.create(["n": .integer(number)], in: "c") }
        func numbers(_ query: DatabaseQuery) async throws -> [Int64?] {
            try await database.query(query, in: "c").records.map { $0.data["n"]?.integer }
        }
        #expect(try await numbers(DatabaseQuery([.init("n", .equal, .integer(large))])) == [large])
        #expect(try await numbers(DatabaseQuery([.init("n", .greater, .integer(large))])) == [large + 1])
        #expect(try await numbers(DatabaseQuery(sort: [.init("n")])) == [large, large + 1])
        let same = JSONValue.number(Double(large))
        #expect(try await numbers(DatabaseQuery([.init("n", .equal, same)])) == [large])
        #expect(try await numbers(DatabaseQuery([.init("n", .greater, same)])) == [large + 1])
        #expect(try await numbers(DatabaseQuery([.init("n", .lessOrEqual, same)])) == [large])
        #expect(try await numbers(DatabaseQuery([.init("n", .greater, .number(Double(large) - 1))])).count == 2)
        for number in [Int64.max, .min] { _ = try await database.create(["n": .integer(number)], in: "limits") }
        let beyond = JSONValue.number(9_223_372_036_854_775_808)
        func limits(_ comparison: DatabaseQuery.Comparison, _ value: JSONValue) async throws -> [Int64?] {
            try await database.query(DatabaseQuery([.init("n", comparison, value)]), in: "limits").records.map {
                $0.data["n"]?.integer
            }
        }
        #expect(try await limits(.equal, beyond).isEmpty)
        #expect(try await limits(.less, beyond) == [.max, .min])
        #expect(try await limits(.less, .number(-9_223_372_036_854_775_808)).isEmpty)
        #expect(try await limits(.equal, .number(-9_223_372_036_854_775_808)) == [.min])
        #expect(try await limits(.greater, .number(-1e300)) == [.max, .min])
    }

    @Test(arguments: [[], [DatabaseQuery.Order("n", descending: true)]])
    func `a page follows the one before even if the last record of that was deleted`(_ sort: [DatabaseQuery.Order])
        async throws
    {
        let database: any Database = InMemoryDatabase()
        for number in [1, 1, 2, 2, 3] as [Int64] { _ = try await database.create(["n": .integer(number)], in: "c") }
        var query = DatabaseQuery(sort: sort, limit: 2)
        var numbers: [Int64?] = []
        repeat {
            let page = try await database.query(query, in: "c")
            numbers += page.records.map { $0.data["n"]?.integer }
            for record in page.records { try await database.delete(record.id, in: "c") }
            query.cursor = page.cursor
        } while query.cursor != nil
        #expect(numbers == (sort.isEmpty ? [1, 1, 2, 2, 3] : [3, 2, 2, 1, 1]))
    }

    @Test func `names that are merely equivalent in Unicode are distinct`() async throws {
        let files: any Files = InMemoryFiles()
        let database: any Database = InMemoryDatabase()
        for (index, name) in ["\u{e9}", "e\u{301}"].enumerated() {
            try await files.put(name, .bytes([UInt8(index)]), condition: .absent)
            _ = try await database.create(["n": .integer(Int64(index))], in: "c", id: name)
        }
        #expect(try await files.get("\u{e9}").collect(upTo: 1) == [0])
        #expect(try await files.list().files.count == 2)
        #expect(try await database.get("e\u{301}", in: "c").data["n"] == 1)
    }

    @Test func `a database refuses the queries and names that every adapter refuses`() async throws {
        let database: any Database = InMemoryDatabase()
        let filters: [(DatabaseQuery.Filter, ConnectorError.Code)] = [
            (.init("n", .equal, [1]), .invalid), (.init("n", .equal, ["a": 1]), .invalid),
            (.init("n", .within, []), .invalid), (.init("n", .within, 1), .invalid), (.init("", .equal, 1), .invalid),
            (.init("n", .less, .null), .unsupported), (.init("n", .greater, true), .unsupported),
            (.init("n", .equal, .number(.nan)), .invalid), (.init("n", .within, [1, .number(.infinity)]), .invalid),
        ]
        for (filter, code) in filters {
            await expect(code) { _ = try await database.query(DatabaseQuery([filter]), in: "c") }
        }
        await expect(.invalid) { _ = try await database.query(DatabaseQuery(sort: [.init("")]), in: "c") }
        for name in ["", ".", "..", String(repeating: "x", count: 1025)] {
            await expect(.invalid) { _ = try await database.query(in: name) }
            await expect(.invalid) { _ = try await database.create(["n": 1], in: name) }
            await expect(.invalid) { _ = try await database.create(["n": 1], in: "c", id: name) }
            await expect(.invalid) { _ = try await database.get(name, in: "c") }
        }
        await expect(.invalid) { _ = try await database.create(["n": [.number(-.infinity)]], in: "c") }
        #expect(try await database.query(in: "c").records.isEmpty)
    }

    @Test func `a database draws an id that no record has`() async throws {
        let database: any Database = InMemoryDatabase()
        for number in 1...4 { _ = try await database.create(["n": 1], in: "c", id: "record-\(number * 2)") }
        for _ in 1...4 { _ = try await database.create(["n": 2], in: "c") }
        let ids = try await database.query(in: "c").records.map(\.id)
        #expect(Set(ids).count == 8)
    }

    @Test func `a call of a cancelled task, or without time, changes nothing`() async throws {
        let database: any Database = InMemoryDatabase()
        let files: any Files = InMemoryFiles()
        let geocoder: any Geocoder = InMemoryGeocoder()
        let (analytics, crash) = (InMemoryAnalytics(), InMemoryCrashReporter())
        let cancelled = Task {
            while !Task.isCancelled { await Task.yield() }
            await expect(.cancelled) { _ = try await database.create(["n": 1], in: "c") }
            await expect(.cancelled) { _ = try await database.query(in: "c") }
            await expect(.cancelled) { try await files.put("a", .bytes([1])) }
            await expect(.cancelled) { _ = try await files.list() }
            await expect(.cancelled) { _ = try await geocoder.geocode("Berlin") }
            await expect(.cancelled) { _ = try await analytics.deliver([], options: CallOptions()) }
            await expect(.cancelled) { _ = try await crash.flush(options: CallOptions()) }
            // The outbox stores an event all the same.
            _ = try? await analytics.track("Seen")
        }
        cancelled.cancel()
        await cancelled.value
        let options = CallOptions(timeout: .zero)
        await expect(.timedOut) { _ = try await database.create(["n": 1], in: "c", id: nil, options: options) }
        await expect(.timedOut) { _ = try await files.head("a", options: options) }
        await expect(.timedOut) { _ = try await geocoder.geocode("Berlin", options: options) }
        await expect(.timedOut) { _ = try await analytics.flush(options: options) }
        await expect(.timedOut) { _ = try await crash.deliver([], options: options) }
        #expect(analytics.events.map(\.event) == ["Seen"])
        #expect(try await database.query(in: "c").records.isEmpty)
        #expect(try await files.list().files.isEmpty)
    }

    @Test func `a database that is told to fail changes nothing`() async throws {
        let memory = InMemoryDatabase()
        let database: any Database = memory
        memory.error = ConnectorError(.unavailable, "no network")
        await expect(.unavailable) { _ = try await database.create(["n": 1], in: "c") }
        memory.error = nil
        #expect(try await database.query(in: "c").records.isEmpty)
    }

    private func expect(_ code: ConnectorError.Code, _ body: () async throws -> Void) async {
        let error = await #expect(throws: ConnectorError.self) { try await body() }
        #expect(error?.code == code)
    }
}
