// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHostTesting
import Logging
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorPlatform

/// The policies `canary` and `shadow`: a connector beside the one in use, tried with a part or with copies of the calls.
@Suite(.timeLimit(.minutes(10))) struct CanaryTests {
    private func child(_ name: String, _ reply: String) -> String {
        let config: JSONObject =
            ["away", "wrong"].contains(reply) ? ["fails": .string(reply)] : ["replies": .string(reply)]
        return TestHost.leaf(name, config, settings: #""probe": "off""#)
    }

    private func opened(_ second: String, _ canary: String) async throws -> TestHost {
        let test = try TestHost(
            TestHost.composite(
                "group",
                "canary",
                child("old", "1"),
                child("new", second),
                settings: "\"canary\": \(canary)"
            )
        )
        await test.host.open()
        return test
    }

    private func answer(_ test: TestHost, _ value: JSONValue = "asked") async throws(ConnectorError) -> JSONValue {
        try await test.call("group", "answer", ["value": value])
    }

    // MARK: canary

    @Test func `the second child gets its share of the calls, evenly spread`() async throws {
        let test = try await opened("2", #"{"share": 25}"#)
        var answers: [JSONValue] = []
        for _ in 0..<40 { answers.append(try await answer(test)) }
        #expect(answers.count { $0 == 2 } == 10)
        #expect(Set((0..<10).map { block in answers[block * 4..<block * 4 + 4].count { $0 == 2 } }) == [1])
        let canary = try #require(try test.gate("group").canary)
        #expect((canary.first.calls, canary.second.calls) == (30, 10))
        #expect((canary.first.path, canary.second.path) == ("group/old", "group/new"))
        #expect(canary.share == 25)
        #expect(canary.withdrawal == nil)
    }

    @Test func `calls with the same key go to the same child, and those without it to the first`() async throws {
        let test = try await opened("2", #"{"share": 50, "key": "/user"}"#)
        var sides: [String: JSONValue] = [:]
        for round in 0..<3 {
            for user in 0..<40 {
                let side = try await answer(test, ["user": .string("user-\(user)"), "round": .integer(Int64(round))])
                #expect(sides["\(user)", default: side] == side)
                sides["\(user)"] = side
            }
        }
        #expect((8...32).contains(sides.values.count { $0 == 2 }))
        for user in sides.keys.prefix(10) {
            let value: JSONValue = ["user": .string("user-\(user)")]
            #expect(try await test.host.gate("group").call("answer", value) == sides[user])
        }
        for _ in 0..<10 { #expect(try await answer(test, ["other": 1]) == 1) }
    }

    @Test func `a second child that fails more often is withdrawn, and the first receives every call`() async throws {
        let test = try await opened("away", #"{"share": 50, "failures": 10, "calls": 5}"#)
        var failed = 0
        for _ in 0..<30 {
            do throws(ConnectorError) {
                #expect(try await answer(test) == 1)
            } catch {
                #expect(error.connector == "group/new")
                failed += 1
            }
        }
        #expect(failed == 5)
        let report = try test.gate("group")
        #expect(report.canary?.withdrawal == "5 of its 5 calls failed, of the first connector's 0 of 5")
        #expect(report.canary?.share == 0)
        #expect(report.isReady)
    }

    @Test func `a second child that fails as often as the first is not withdrawn`() async throws {
        let test = try TestHost(
            TestHost.composite(
                "group",
                "canary",
                child("old", "wrong"),
                child("new", "wrong"),
                settings: #""canary": {"share": 50, "failures": 0, "calls": 1}"#
            )
        )
        await test.host.open()
        for _ in 0..<20 { _ = try? await answer(test) }
        #expect(try test.gate("group").canary?.withdrawal == nil)
        #expect(try test.gate("group").canary?.second.failures == 10)
    }

    @Test func `a second child that is slower than the factor allows is withdrawn`() {
        let canary = canary { canary in (canary.share, canary.slower, canary.calls) = (50, 2, 3) }
        for _ in 0..<3 { canary.note(false, nil, took: 10_000_000) }
        for _ in 0..<2 { canary.note(true, nil, took: 30_000_000) }
        #expect(canary.tries { _ in nil } || canary.tries { _ in nil })
        canary.note(true, nil, took: 30_000_000)
        for _ in 0..<10 { #expect(!canary.tries { _ in nil }) }
    }

    @Test func `cancelled calls, calls without time and differences below a millisecond do not count`() {
        let canary = canary { canary in (canary.share, canary.failures, canary.calls) = (100, 0, 1) }
        for _ in 0..<10 { canary.note(true, ConnectorError(.cancelled, "cancelled"), took: 1) }
        for _ in 0..<10 { canary.note(true, CallOptions.noTime(for: "answer"), took: 1) }
        for _ in 0..<10 { canary.note(false, nil, took: 1000) }
        for _ in 0..<10 { canary.note(true, nil, took: 900_000) }
        #expect(canary.tries { _ in nil })
    }

    @Test func `a second child that is not open receives nothing`() async throws {
        let test = try TestHost(
            TestHost.composite(
                "group",
                "canary",
                child("old", "1"),
                TestHost.leaf("new", ["opens": "refuses"], settings: #""probe": "off""#),
                settings: #""canary": {"share": 100}"#
            )
        )
        await test.host.open()
        for _ in 0..<5 { #expect(try await answer(test) == 1) }
        let report = try test.gate("group")
        #expect(report.canary?.second.calls == 0)
        #expect(report.state == .degraded)
        #expect(report.isReady)
    }

    @Test func `an event goes to the same child at each delivery, and the second child gets about its share`() {
        let first = canary { $0.share = 30 }
        let second = canary { $0.share = 30 }
        let ids = (0..<2000).map { "event-\($0)" }
        let sides = ids.map { first.tries(event: $0) { _ in nil } }
        #expect(ids.map { second.tries(event: $0) { _ in nil } } == sides)
        #expect((500...700).contains(sides.count { $0 }))
    }

    @Test func `every event of the outbox is delivered by exactly one child`() async throws {
        let leaf = { (name: String) in
            TestHost.leaf(name, plugin: "deliveries", settings: #""probe": "off", "outbox": {"batch": {"age": "1ms"}}"#)
        }
        let test = try TestHost(
            TestHost.composite(
                "vendors",
                "canary",
                leaf("old"),
                leaf("new"),
                settings: #""canary": {"share": 40}"#
            )
        )
        await test.host.open()
        let orders = try test.host.gate("vendors")
        var receipts: [Receipt] = []
        for number in 0..<100 {
            receipts.append(try await orders.send("place", ["order": ["number": .integer(Int64(number))]]))
        }
        for receipt in receipts { try await receipt.delivered() }
        let calls = ["vendors/old", "vendors/new"].map { path in Int(test.host.report[path]?.calls?.total ?? 0) }
        #expect(calls.reduce(0, +) == 100)
        #expect((20...60).contains(calls[1]))
        #expect(test.host.outbox(of: "vendors")?.delivered == 100)
        await test.host.close()
    }

    @Test func `a second child that rejects every event is withdrawn`() async throws {
        let leaf = { (name: String) in
            TestHost.leaf(name, plugin: "deliveries", settings: #""probe": "off", "outbox": {"batch": {"age": "1ms"}}"#)
        }
        let test = try TestHost(
            TestHost.composite(
                "vendors",
                "canary",
                leaf("old"),
                leaf("new"),
                settings: #""canary": {"share": 100, "failures": 10, "calls": 3}"#
            )
        )
        await test.host.open()
        let orders = try test.host.gate("vendors")
        for _ in 0..<3 {
            let receipt = try await orders.send("place", ["order": ["text": "refuse"]])
            await #expect(throws: ConnectorError.self) { try await receipt.delivered() }
        }
        let canary = try #require(try test.gate("vendors").canary)
        #expect(canary.withdrawal == "3 of its 3 calls failed, of the first connector's 0 of 0")
        await test.host.close()
    }

    private func canary(_ change: (inout CanaryPolicy) -> Void) -> Canary {
        var policy = CanaryPolicy()
        change(&policy)
        return Canary(
            policy,
            of: "group",
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) {}
    }

    // MARK: shadow

    @Test func `calls that only read are copied to the other children, and differences are counted`() async throws {
        let test = try TestHost(
            TestHost.composite("group", "shadow", child("old", "1"), child("new", "2"), child("away", "away"))
        )
        await test.host.open()
        #expect(try await test.call("group", "read", ["value": "asked"]) == 1)
        let report = await test.host.report { $0["group"]?.differences?.compared == 2 }
        #expect(report["group"]?.differences?.different == 2)
        #expect(report["group"]?.isReady == true)
    }

    @Test func `a call that may have an effect reaches the first child only`() async throws {
        let test = try TestHost(TestHost.composite("group", "shadow", child("old", "1"), child("new", "2")))
        await test.host.open()
        for _ in 0..<5 { #expect(try await answer(test) == 1) }
        #expect(try test.gate("group/new").calls == nil)
        #expect(try test.gate("group").differences?.compared == 0)
    }

    // MARK: Configuration

    @Test(arguments: [
        (#""policy": "canary", "connectors": [A]"#, "needs two connectors"),
        (#""policy": "canary", "connectors": [A, B, C]"#, "needs two connectors"),
        (#""policy": "shadow", "connectors": [A]"#, "needs at least two connectors"),
        (#""policy": "first", "canary": {}, "connectors": [A, B]"#, "the policy \"first\" has no canary"),
        (#""policy": "canary", "canary": {"share": 101}, "connectors": [A, B]"#, "is 101.0, outside 0 to 100"),
        (#""policy": "canary", "canary": {"share": "5"}, "connectors": [A, B]"#, "must be a number"),
        (#""policy": "canary", "canary": {"key": "user"}, "connectors": [A, B]"#, "must be a JSON pointer"),
        (#""policy": "canary", "canary": {"shar": 5}, "connectors": [A, B]"#, "did you mean \"share\"?"),
        (#""policy": "canary", "quorum": 1, "connectors": [A, B]"#, "has no quorum"),
    ])
    func `a canary or a shadow that is set up wrongly is an error`(_ members: String, _ words: String) {
        var text = "{\"version\": 1, \"connectors\": [{\"name\": \"group\", \(members)}]}"
        for name in ["A", "B", "C"] {
            text = text.replacing(name, with: "{\"name\": \"\(name.lowercased())\", \"plugin\": \"x\"}")
        }
        do throws(ConfigurationErrors) {
            _ = try Configuration(parsing: text)
            Issue.record("the canary is accepted")
        } catch {
            let errors = error.errors.map(\.description)
            #expect(errors.contains { $0.contains(words) }, "\(errors)")
        }
    }

    @Test func `a canary made in Swift is the one of the file, and requires its first child`() throws {
        var policy = CanaryPolicy()
        (policy.share, policy.key) = (12.5, "/userId")
        let configuration = try Configuration(
            connectors: [
                Connector(
                    "group",
                    policy: .canary(policy),
                    connectors: [Connector("a", plugin: "x"), Connector("b", plugin: "x")]
                )
            ]
        )
        let file = try Configuration(
            parsing: #"""
                {"version": 1, "connectors": [
                    {"name": "group", "policy": "canary", "canary": {"share": 12.5, "key": "/userId"},
                     "connectors": [{"name": "a", "plugin": "x"}, {"name": "b", "plugin": "x"}]}
                ]}
                """#
        )
        #expect(configuration.connectors[0].policy?.canary == policy)
        #expect(configuration.connectors[0].policy == file.connectors[0].policy)
        #expect(file.connectors[0].children.map(\.isRequired) == [true, nil])
        #expect(configuration.connectors[0].children.map(\.isRequired) == [true, nil])
    }
}
