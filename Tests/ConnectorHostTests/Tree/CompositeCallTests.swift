// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// A composite is called like a leaf; its policy decides who answers.
@Suite(.timeLimit(.minutes(10))) struct CompositeCallTests {
    /// A child that replies with a text of JSON, fails (`away`, also without saying that this may pass; `strange`; `wrong`), does not open
    /// (`closed`), or answers later.
    private func child(_ name: String, _ behaviour: String, isOptional: Bool = false) -> String {
        let config: JSONObject =
            switch behaviour {
            case "away", "silently away", "strange", "wrong": ["fails": .string(behaviour)]
            case "closed": ["opens": "refuses"]
            case "later": ["replies": "later", "name": .string("\(prefix)-\(name)")]
            default: ["replies": .string(behaviour)]
            }
        return TestHost.leaf(name, config, settings: #""probe": "off""# + (isOptional ? #", "required": false"# : ""))
    }

    private let prefix = TestHost.unique()

    private func opened(
        _ policy: String,
        _ children: [(String, String)],
        optional: Set<String> = [],
        settings: String = ""
    ) async throws -> TestHost {
        let children = children.map { child($0.0, $0.1, isOptional: optional.contains($0.0)) }.joined(separator: ",")
        let test = try TestHost(TestHost.composite("group", policy, children, settings: settings))
        await test.host.open()
        return test
    }

    private func answer(_ test: TestHost, _ value: JSONValue = "asked") async throws(ConnectorError) -> JSONValue {
        try await test.call("group", "answer", ["value": value])
    }

    // MARK: all

    @Test func `with the policy all, every child answers under its path`() async throws {
        let test = try await opened("all", [("a", "1"), ("b", #"{"two": 2}"#), ("c", "away")], optional: ["c"])
        let answer = try await answer(test)
        #expect(answer["group/a"] == ["result": 1])
        #expect(answer["group/b"] == ["result": ["two": 2]])
        #expect(answer["group/c"]?["error"]?["code"] == "unavailable")
        #expect(answer.object?.names == ["group/a", "group/b", "group/c"])
    }

    @Test func `with the policy all, a call fails only if no child succeeds, and the error names every reason`()
        async throws
    {
        let test = try await opened("all", [("a", "wrong"), ("b", "away"), ("c", "closed")])
        let error = try await failure { () throws(ConnectorError) in try await answer(test) }
        #expect(error.code == .failed)
        #expect(error.connector == "group")
        #expect(error.message == "none of the 3 children answered \"answer\"")
        let cause = try #require(error.cause)
        for part in ["group/a", "does not like", "group/b", "the vendor is away", "group/c", "the gate has failed"] {
            #expect(cause.contains(part))
        }
        #expect(error.isRetryable)
    }

    @Test func `a failure that all children share keeps its code`() async throws {
        let test = try await opened("all", [("a", "away"), ("b", "away")])
        #expect(try await failure { () throws(ConnectorError) in try await answer(test) }.code == .unavailable)
    }

    @Test func `with a quorum, that many children must succeed`() async throws {
        let three = [("a", "1"), ("b", "away"), ("c", "3")]
        let enough = try await opened("all", three, settings: #""quorum": 2"#)
        #expect(try await answer(enough)["group/c"] == ["result": 3])
        let test = try await opened("all", three, settings: #""quorum": 3"#)
        let error = try await failure { () throws(ConnectorError) in try await answer(test) }
        #expect(error.code == .partial)
        #expect(error.message == "group/a and group/c took \"answer\", group/b did not; 3 must")
        #expect(error.isRetryable)
    }

    @Test func `with the policy all, a child whose result is not JSON has failed`() async throws {
        let test = try await opened("all", [("a", "nonsense"), ("b", "2")], optional: ["a"])
        let answer = try await answer(test)
        #expect(answer["group/a"]?["error"]?["code"] == "misbehaved")
        #expect(answer["group/b"] == ["result": 2])
        #expect(try test.gate("group/a").calls?.failures == 1)
        #expect(try test.gate("group/a").misbehaviourCount == 1)
        let required = try await opened("all", [("a", "nonsense"), ("b", "2")])
        #expect(
            try await failure { () throws(ConnectorError) in try await self.answer(required) }.code == .partial
        )
    }

    @Test func `with the policy fastest, a child whose result is not JSON does not win`() async throws {
        let test = try await opened("fastest", [("a", "nonsense"), ("b", "2")])
        #expect(try await answer(test) == 2)
    }

    // MARK: first

    @Test(arguments: ["away", "silently away", "strange"])
    func `with the policy first, the next child takes over where a vendor is away or not itself`(
        first: String
    ) async throws {
        let test = try await opened("first", [("a", first), ("b", "2"), ("c", "3")])
        #expect(try await answer(test) == 2)
    }

    @Test func `with the policy first, a child that is not open is skipped`() async throws {
        let test = try await opened("first", [("a", "closed"), ("b", "2")])
        #expect(test.state("group") == .degraded)
        #expect(try await answer(test) == 2)
    }

    @Test func `with the policy first, a failure that every child would repeat ends the call`() async throws {
        let test = try await opened("first", [("a", "wrong"), ("b", "2")])
        let error = try await failure { () throws(ConnectorError) in try await answer(test) }
        #expect(error.code == .invalid)
        #expect(error.connector == "group/a")
    }

    @Test func `with the policy first, a call fails if every child fails or none is open`() async throws {
        let away = try await opened("first", [("a", "away"), ("b", "away")])
        let error = try await failure { () throws(ConnectorError) in try await answer(away) }
        #expect(error.code == .unavailable)
        #expect(error.message == "every open child failed")
        let closed = try await opened("first", [("a", "closed"), ("b", "closed")])
        #expect(try await failure { () throws(ConnectorError) in try await answer(closed) }.code == .notOpen)
    }

    @Test func `with the policy first, a cancelled call does not go on to the next child`() async throws {
        let test = try await opened("first", [("a", "later"), ("b", "2")])
        let task = Task { try await failure { () throws(ConnectorError) in try await answer(test) } }
        await test.clock.timers(atLeast: 1)
        task.cancel()
        #expect(try await task.value.code == .cancelled)
    }

    @Test func `with the policy first, the timeout covers the whole call, and not each child`() async throws {
        let test = try await opened("first", [("a", "later"), ("b", "later")])
        let call = Task {
            try await failure { () throws(ConnectorError) in
                let options = CallOptions(timeout: .seconds(2))
                return try await test.call("group", "answer", ["value": 1], options: options)
            }
        }
        await test.clock.advance(toTimerAfter: .seconds(2))
        let error = try await call.value
        #expect(error.code == .timedOut)
        #expect(error.message == "no child answered within the timeout of the call")
        #expect(error.isRetryable)
        #expect(error.outcomes.map(\.connector) == ["group/a"])
        #expect(try test.gate("group/b").calls == nil)
    }

    @Test func `with the policy first, each child of a delivery has the whole timeout`() async throws {
        let test = try await opened("first", [("a", "later"), ("b", "later")])
        let group = try test.host.current.node("group").node
        let delivery = Node.Call(
            operation: "answer",
            arguments: CallArguments(["value": 1]),
            options: CallOptions(timeout: .seconds(1))
        )
        let call = Task { try await failure { () throws(ConnectorError) in try await group.call(delivery) } }
        // A runner has two seconds to prove that it answers: that timer is no child's.
        for _ in 1...2 { await test.clock.advance(toTimerAfter: .seconds(1)) }
        #expect(try await call.value.outcomes.map(\.connector) == ["group/a", "group/b"])
    }

    // MARK: fastest

    @Test func `with the policy fastest, the first success answers, and the other calls are cancelled`() async throws {
        let test = try await opened("fastest", [("a", "later"), ("b", "away"), ("c", "later")])
        async let answer = answer(test)
        // A call that is given up before its function begins is never made.
        try await TestHost.taken("\(prefix)-a:answer")
        try await TestHost.finish("\(prefix)-c:answer", 3)
        #expect(try await answer == 3)
        try await test.counts("group/a", "cancels", reach: 1)
        #expect(try await TestHost.finish("\(prefix)-a:answer", 1) == 100)
        #expect(try test.gate("group/a").misbehaviourCount == 0)
    }

    @Test func `with the policy fastest, a call fails if every child fails`() async throws {
        let test = try await opened("fastest", [("a", "away"), ("b", "wrong")])
        let error = try await failure { () throws(ConnectorError) in try await answer(test) }
        #expect(error.message == "every open child failed")
        #expect(error.cause?.contains("group/b") == true)
    }

    // MARK: Cancellation

    @Test(arguments: ["all", "fastest"])
    func `a cancelled call ends with cancelled and is not retryable, although a child had failed before`(
        policy: String
    ) async throws {
        let test = try await opened(policy, [("a", "away"), ("b", "later")])
        let task = Task { try await failure { () throws(ConnectorError) in try await answer(test) } }
        try await TestHost.taken("\(prefix)-b:answer")
        _ = await test.host.report { $0["group/a"]?.calls?.failures == 1 }
        task.cancel()
        let error = try await task.value
        #expect(error.isCancellation)
        #expect(!error.isRetryable)
        #expect(error.retryAfter == nil)
        // `fastest` lists the children as their calls end: the first one's failure is counted before it is listed.
        let outcomes = error.outcomes.sorted { $0.connector < $1.connector }
        #expect(outcomes.map(\.error?.code) == [.unavailable, .cancelled])
    }

    @Test func `a cancelled call is not partial, although enough of the children would succeed in another`()
        async throws
    {
        let children = [("a", "1"), ("b", "away"), ("c", "later")]
        let test = try await opened("all", children, settings: #""quorum": 2"#)
        let task = Task { try await failure { () throws(ConnectorError) in try await answer(test) } }
        try await TestHost.taken("\(prefix)-c:answer")
        _ = await test.host.report { $0["group/b"]?.calls?.failures == 1 }
        task.cancel()
        let error = try await task.value
        #expect(error.isCancellation)
        #expect(!error.isRetryable)
        #expect(error.outcomes.map(\.connector) == ["group/a", "group/b", "group/c"])
    }

    // MARK: sequence

    @Test func `with the policy sequence, each child gets what the one before it answered`() async throws {
        let test = try await opened("sequence", [("a", #"{"value": 7, "note": "left out"}"#), ("b", ""), ("c", "")])
        #expect(try await answer(test) == 7)
        let plain = try await opened("sequence", [("a", "[1, 2]"), ("b", "")])
        #expect(try await answer(plain) == [1, 2])
    }

    @Test func `with the policy sequence, the child after an all gets the first success, and not every answer by path`()
        async throws
    {
        let both = TestHost.composite("both", "all", child("a", "5"), child("b", "6"))
        let test = try TestHost(TestHost.composite("group", "sequence", both, child("c", "")))
        await test.host.open()
        #expect(try await answer(test) == 5)
        let last = try TestHost(TestHost.composite("group", "sequence", child("a", "5"), both))
        await last.host.open()
        #expect(try await answer(last) == ["group/both/a": ["result": 5], "group/both/b": ["result": 6]])
    }

    @Test func `with the policy sequence, a child that fails ends the call`() async throws {
        let test = try await opened("sequence", [("a", "1"), ("b", "wrong"), ("c", "3")])
        let error = try await failure { () throws(ConnectorError) in try await answer(test) }
        #expect(error.code == .invalid)
        #expect(error.connector == "group/b")
    }

    @Test func `with the policy sequence, the timeout covers the whole call, and not each child`() async throws {
        let test = try await opened("sequence", [("a", "later"), ("b", "later")])
        let call = Task {
            try await failure { () throws(ConnectorError) in
                let options = CallOptions(timeout: .seconds(2))
                return try await test.call("group", "answer", ["value": 1], options: options)
            }
        }
        await test.clock.timer(dueAfter: .seconds(2))
        test.clock.advance(by: .milliseconds(1500))
        try await TestHost.finish("\(prefix)-a:answer", 7)
        try await TestHost.taken("\(prefix)-b:answer")
        await test.clock.advance(toTimerAfter: .milliseconds(500))
        let error = try await call.value
        #expect(error.code == .timedOut)
        #expect(error.outcomes.map(\.connector) == ["group/a", "group/b"])
        #expect(error.outcomes.map(\.isSuccess) == [true, false])
    }

    @Test func `with the policy sequence, an answer that is no object cannot fill several parameters`() async throws {
        let test = try await opened("sequence", [("a", "1"), ("b", "2")])
        let error = try await failure { () throws(ConnectorError) in
            try await test.call("group", "finish", ["name": "none", "value": 1])
        }
        #expect(error.code == .missing)
        let sums = try TestHost(
            TestHost.composite(
                "line",
                "sequence",
                TestHost.leaf("one", plugin: "sync"),
                TestHost.leaf("two", plugin: "sync")
            )
        )
        await sums.host.open()
        let mismatch = try await failure { () throws(ConnectorError) in
            try await sums.call("line", "add", ["a": 1, "b": 2])
        }
        #expect(mismatch.code == .invalid)
        #expect(mismatch.connector == "line/two")
        #expect(mismatch.message == "line/one answered an integer, from which line/two cannot take its arguments")
    }

    // MARK: compare

    @Test func `with the policy compare, the first child answers, and differences are in the report`() async throws {
        let test = try await opened(
            "compare",
            [("a", #"{"x": 1, "y": 2}"#), ("b", #"{"y": 2, "x": 1.0}"#), ("c", #"{"x": 3}"#), ("d", "away")]
        )
        #expect(try await answer(test) == ["x": 1, "y": 2])
        let report = await test.host.report { $0["group"]?.differences?.compared == 3 }
        let differences = try #require(report["group"]?.differences)
        #expect(differences.different == 2)
        #expect(differences.last == "answer: group/d answered the error unavailable, not {\"x\":1,\"y\":2}")
        #expect(report.json["gates"]?[0]?["differences"]?["different"] == 2)
    }

    @Test func `with the policy compare, the caller does not wait for the other children`() async throws {
        let test = try await opened("compare", [("a", "1"), ("b", "later")])
        #expect(try await answer(test) == 1)
        #expect(try test.gate("group").differences?.compared == 0)
        #expect(try await TestHost.finish("\(prefix)-b:answer", 1) == 0)
        let report = await test.host.report { $0["group"]?.differences?.compared == 1 }
        #expect(report["group"]?.differences?.different == 0)
    }

    @Test func `with the policy compare, a failure of the first child is the call's failure`() async throws {
        let test = try await opened("compare", [("a", "wrong"), ("b", "2")])
        #expect(try await failure { () throws(ConnectorError) in try await answer(test) }.code == .invalid)
    }

    // MARK: Nesting

    @Test func `composites nest`() async throws {
        let test = try TestHost(
            TestHost.composite(
                "group",
                "first",
                TestHost.composite("both", "all", child("a", "away"), child("b", "away")),
                TestHost.composite("line", "sequence", child("c", "5"), child("d", "")),
                child("e", "6")
            )
        )
        await test.host.open()
        #expect(try await answer(test) == 5)
        #expect(try await test.call("group/line", "answer", ["value": 1]) == 5)
        #expect(try await test.call("group/e", "answer", ["value": 1]) == 6)
    }

    @Test func `an operation is called at the children that offer it, and a misspelt one gets a suggestion`()
        async throws
    {
        let test = try TestHost(
            TestHost.composite(
                "group",
                "all",
                TestHost.leaf("values", plugin: "values"),
                TestHost.leaf("calls", ["replies": "1"])
            )
        )
        await test.host.open()
        #expect(try await answer(test) == ["group/calls": ["result": 1]])
        let error = try await failure { () throws(ConnectorError) in try await test.call("group", "answr") }
        #expect(error.code == .unsupported)
        #expect(error.fix == "did you mean \"answer\"?")
    }

    @Test func `a misspelt argument of a composite's call is invalid, with a suggestion`() async throws {
        let test = try await opened("first", [("a", "1"), ("b", "2")])
        let error = try await failure { () throws(ConnectorError) in try await test.call("group", "answer", ["valu": 1])
        }
        #expect(error.code == .invalid)
        #expect(error.message.contains("did you mean \"value\"?"))
    }
}
