// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorConfiguration
import ConnectorHostTesting
import ConnectorManifest
import InMemoryLogging
import Logging
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// How each child of a composite fared is in the answer, in the error, in the report and in the log.
@Suite(.timeLimit(.minutes(10))) struct CallOutcomeTests {
    private let handler = InMemoryLogHandler()

    private func opened(_ connector: String) async throws -> TestHost {
        let handler = handler
        let test = try TestHost(connector, logger: Logger(label: "test") { _ in handler })
        await test.host.open()
        return test
    }

    private func leaf(_ name: String, _ fails: String? = nil, required: Bool? = nil) -> String {
        let settings = required.map { #", "required": \#($0)"# } ?? ""
        let config: JSONObject = fails.map { ["fails": .string($0)] } ?? ["replies": "1"]
        return TestHost.leaf(name, config, settings: #""probe": "off""# + settings)
    }

    private func outcomes(_ test: TestHost) async throws(ConnectorError) -> [CallOutcome] {
        try await test.host.gate("group").outcomes(of: "answer", ["value": 0])
    }

    private func error(_ test: TestHost) async throws -> ConnectorError {
        try await failure { () throws(ConnectorError) in try await outcomes(test) }
    }

    private func lines(_ operation: String = "answer") -> [InMemoryLogHandler.Entry] {
        handler.entries.filter { "\($0.message)" == "call failed" && $0.metadata["operation"] == "\(operation)" }
    }

    // MARK: all

    @Test
    func `with the policy all, a required child that fails makes the call partial, and the error names every child`()
        async throws
    {
        let test = try await opened(
            TestHost.composite(
                "group",
                "all",
                leaf("a"),
                leaf("b", "away"),
                leaf("c"),
                leaf("d", "wrong", required: false)
            )
        )
        let error = try await error(test)
        #expect(error.code == .partial)
        #expect(error.connector == "group")
        #expect(error.message == "group/a and group/c took \"answer\", group/b and group/d did not")
        let cause = try #require(error.cause)
        for part in ["group/b", "the vendor is away", "group/d", "does not like"] { #expect(cause.contains(part)) }
        #expect(error.outcomes.map(\.connector) == ["group/a", "group/b", "group/c", "group/d"])
        #expect(error.outcomes.map(\.error?.code) == [nil, .unavailable, nil, .invalid])
        #expect(error.isRetryable, "a permanent refusal by an optional child does not count")
        let json = try #require(error.json["outcomes"]?.array)
        #expect(json[0] == ["path": "group/a"])
        #expect(json[1]["error"]?["code"] == "unavailable")
    }

    @Test func `a partial failure is retryable only if every required child that failed may succeed on a retry`()
        async throws
    {
        let test = try await opened(
            TestHost.composite("group", "all", leaf("a"), leaf("b", "away"), leaf("c", "wrong"))
        )
        let error = try await error(test)
        #expect(error.code == .partial)
        #expect(!error.isRetryable)
        #expect(error.retryAfter == nil)
    }

    @Test func `a partial failure carries the wait that a child asks for`() async throws {
        let analytics = try await opened(
            TestHost.composite(
                "vendors",
                "all",
                TestHost.leaf("a", plugin: "deliveries", settings: #""delivery": "direct""#),
                TestHost.leaf("b", plugin: "deliveries", ["away": 1], settings: #""delivery": "direct""#)
            )
        )
        let client = try analytics.host.analytics("vendors")
        let error = try await failure { () throws(ConnectorError) in try await client.track("Seen") }
        #expect(error.code == .partial)
        #expect(error.isRetryable)
        #expect(error.retryAfter == .seconds(2))
    }

    @Test func `of the waits that children ask for, a partial failure carries the longest`() async throws {
        let test = try await opened(TestHost.composite("group", "all", leaf("a"), leaf("b")))
        let children: [ConnectorAnswer.Child] = [1, 3, 2].map { seconds in
            let error = ConnectorError(.unavailable, "away", isRetryable: true, retryAfter: .seconds(seconds))
            return ("group/\(seconds)", .failure(error))
        }
        let error = try test.host.current.node("group").node.partialFailure(of: children, "answer", isRetryable: true)
        #expect(error.retryAfter == .seconds(3))
    }

    @Test func `an optional child's failure does not fail the call, but is in the outcomes, the report and the log`()
        async throws
    {
        let test = try await opened(
            TestHost.composite("group", "all", leaf("a"), leaf("b", "away", required: false))
        )
        for _ in 0..<100 {
            let outcomes = try await outcomes(test)
            #expect(outcomes.map(\.connector) == ["group/a", "group/b"])
            #expect(outcomes.map(\.isSuccess) == [true, false])
        }
        let calls = try #require(try test.gate("group/b").calls)
        #expect(calls.total == 100)
        #expect(calls.failures == 100)
        #expect(calls.lastFailure?.code == .unavailable)
        #expect(try test.gate("group/a").calls?.failures == 0)
        #expect(try test.gate("group").calls?.failures == 0)
        #expect(try test.gate("group/b").json["calls"]?["failures"] == 100)
        #expect(lines().map { $0.metadata["failures"] } == ["1", "10", "100"])
        let line = try #require(lines().first)
        #expect(line.level == .warning)
        #expect(line.metadata["connector"] == "group/b")
        #expect("\(line.metadata["error"] ?? "")".contains("the vendor is away [unavailable]"))
    }

    @Test func `if every child is optional, at least one must take the call`() async throws {
        let one = try await opened(
            TestHost.composite("group", "all", leaf("a", "away", required: false), leaf("b", required: false))
        )
        #expect(try await outcomes(one).map(\.isSuccess) == [false, true])
        let none = try await opened(
            TestHost.composite("group", "all", leaf("a", "away", required: false), leaf("b", "away", required: false))
        )
        #expect(try await error(none).code == .unavailable)
    }

    @Test func `a required child whose plugin does not load makes the call partial and is in its outcomes`()
        async throws
    {
        let bad = TestHost.leaf("bad", plugin: Fixtures.broken("not-elf"))
        let test = try await opened(TestHost.composite("group", "all", leaf("a"), bad))
        let error = try await error(test)
        #expect(error.code == .partial)
        #expect(error.outcomes.map(\.connector) == ["group/a", "group/bad"])
        #expect(error.outcomes.map(\.error?.code) == [nil, .notOpen])
        let misspelt = try await failure { () throws(ConnectorError) in try await test.call("group", "answr") }
        #expect(misspelt.code == .unsupported)
        #expect(misspelt.fix == "did you mean \"answer\"?")
        let alone = try await opened(TestHost.composite("group", "all", bad))
        #expect(try await self.error(alone).code == .notOpen)
    }

    @Test func `what an unusable plugin offers is unknown, and the reason is why it cannot be used`() async throws {
        let test = try await opened(TestHost.leaf("bad", plugin: Fixtures.broken("not-elf")))
        let gate = try test.host.gate("bad")
        let error = try #require(throws: ConnectorError.self) { _ = try gate.definition(of: "answer") }
        #expect(error.code == .notELF)
        #expect(error.connector == "bad")
    }

    @Test func `a child marked as required must take the call even if the quorum is met without it`() async throws {
        let test = try await opened(
            TestHost.composite(
                "group",
                "all",
                leaf("a"),
                leaf("b", "away", required: true),
                leaf("c"),
                settings: #""quorum": 1"#
            )
        )
        #expect(try await error(test).code == .partial)
    }

    // MARK: The others

    @Test func `the outcomes of nested composites are those of the leaves that were called`() async throws {
        let test = try await opened(
            TestHost.composite(
                "group",
                "all",
                TestHost.composite("one", "first", leaf("a", "away"), leaf("b"), leaf("c")),
                TestHost.composite("two", "sequence", leaf("d"), leaf("e"))
            )
        )
        let outcomes = try await outcomes(test)
        #expect(outcomes.map(\.connector) == ["group/one/a", "group/one/b", "group/two/d", "group/two/e"])
        #expect(outcomes.map(\.isSuccess) == [false, true, true, true])
        #expect(lines().map { $0.metadata["connector"] } == ["group/one/a"])
        #expect(try test.gate("group/one/c").calls == nil)
        let leaf = try await test.host.gate("group/one/b").outcomes(of: "answer", ["value": 0])
        #expect(leaf.map(\.connector) == ["group/one/b"])
    }

    @Test func `a failure below several composites is logged once, at the leaf`() async throws {
        let test = try await opened(
            TestHost.composite(
                "group",
                "all",
                leaf("a", required: false),
                TestHost.composite("one", "first", leaf("b", "away"), settings: #""required": false"#),
                TestHost.composite("two", "compare", leaf("c", "away"), settings: #""required": false"#)
            )
        )
        #expect(try await outcomes(test).map(\.connector) == ["group/a", "group/one/b", "group/two/c"])
        #expect(Set(lines().map { "\($0.metadata["connector"] ?? "")" }) == ["group/one/b", "group/two/c"])
        #expect(try test.gate("group/one").calls?.failures == 1)
    }

    // MARK: Counters

    @Test func `every call by name is counted, and a gate that nobody called reports no counters`() async throws {
        let test = try await opened(TestHost.leaf("gate", plugin: "sync"))
        #expect(try test.gate("gate").calls == nil)
        #expect(try test.gate("gate").json["calls"] == nil)
        let gate = try test.host.gate("gate")
        _ = try await gate.call("add", ["a": 1, "b": 2])
        _ = try await gate.call("add", 1, 2)
        _ = try? await gate.call("add", "one", 2)
        let calls = try #require(try test.gate("gate").calls)
        #expect(calls.total == 3)
        #expect(calls.failures == 1)
        #expect(lines("add").isEmpty, "the caller knows, so nothing is logged")
    }

    @Test func `a call that its caller cancels is not a failure`() async throws {
        let name = TestHost.unique()
        let test = try await opened(TestHost.leaf("group", ["replies": "later", "name": .string(name)]))
        let task = Task { try await error(test) }
        try await TestHost.taken("\(name):answer")
        task.cancel()
        #expect(try await task.value.code == .cancelled)
        #expect(try test.gate("group").calls?.failures == 0)
    }

    @Test func `a gate's counters carry over to the next snapshot of the tree`() async throws {
        let test = try await opened(leaf("group"))
        _ = try await outcomes(test)
        let connectors = test.host.configuration.connectors
        test.host.current.publish { before in
            Tree(
                connectors,
                after: [before],
                metering: Metering(clock: ManualHostClock()),
                logger: Logger(label: "test")
            ) { before[$0.path]?.gate ?? before.gates[0] }
        }
        _ = try await outcomes(test)
        #expect(try test.gate("group").calls?.total == 2)
    }

    @Test func `a connector's counters start over when its simulation begins or ends`() async throws {
        let test = try await opened(leaf("group"))
        _ = try await outcomes(test)
        let connectors = test.host.configuration.connectors
        for simulated in [.vendor, nil] as [ResolvedLeaf.Simulated?] {
            test.host.current.publish { before in
                Tree(
                    connectors,
                    after: [before],
                    metering: Metering(clock: ManualHostClock()),
                    logger: Logger(label: "test"),
                    plan: { _, gate in
                        GatePlan(
                            GatePlan.Members(
                                path: gate.path,
                                plugin: gate.plan.plugin,
                                configuration: gate.plan.configuration,
                                timeout: gate.plan.timeout,
                                retry: gate.plan.retry,
                                simulated: simulated
                            )
                        )
                    },
                    makeGate: { before[$0.path]?.gate ?? before.gates[0] }
                )
            }
            #expect(try test.gate("group").calls == nil)
            _ = try await outcomes(test)
            #expect(try test.gate("group").calls?.total == 1)
        }
    }

    @Test func `failures with codes beyond the limit are counted and logged as one code`() {
        let handler = handler
        let logger = Logger(label: "test") { _ in handler }
        let tally = CallTally("gate", Metering(clock: ManualHostClock()), logger: logger) {}
        _ = tally.begin()
        for number in 1...1000 {
            let code = ConnectorError.Code(rawValue: "invented-\(number)")
            tally.fail(ConnectorError(code, "it failed"), of: "answer", isHidden: true)
        }
        #expect(tally.counters?.failures == 1000)
        // The first of each code, and of those beyond the limit the first, the tenth and the hundredth.
        #expect(lines().count == ConnectorError.Code.countLimit + 3)
    }
}
