// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform

/// How a call is completed, and what a plugin may say of it before.
@Suite(.timeLimit(.minutes(10))) struct CompletionTests {
    private let name = TestHost.unique()

    @Test func `a call that completes inside the function is answered`() async throws {
        let test = try await TestHost.opened()
        #expect(try await test.call("gate", "answer", ["value": ["a": [1, 2.5, nil]]]) == ["a": [1, 2.5, nil]])
        try await test.noTimers()
    }

    @Test func `a call that completes later, from another thread, is answered`() async throws {
        let test = try await TestHost.opened()
        async let answer = test.begin(name)
        #expect(try await TestHost.finish(name, ["done": true]) == 0)
        #expect(try await answer == ["done": true])
        try await test.noTimers()
    }

    @Test func `a second completion is refused, counted, and harmless`() async throws {
        let test = try await TestHost.opened()
        async let answer = test.begin(name)
        #expect(try await TestHost.finish(name, 1) == 0)
        #expect(try await answer == 1)
        #expect(try await TestHost.finish(name, 2) == 100)
        #expect(try await TestHost.finish(name, 3) == 100)
        #expect(try test.gate("gate").misbehaviourCount == 2)
        #expect(try await test.call("gate", "answer", ["value": 4]) == 4)
    }

    @Test func `a completion by another gate is refused, and the call stays pending`() async throws {
        let test = try await TestHost.opened(TestHost.leaf("gate"), TestHost.leaf("thief"))
        async let answer = test.begin(name)
        try await TestHost.taken(name)
        #expect(try await test.call("thief", "finish", ["name": .string(name), "value": 1]) == 101)
        #expect(try test.gate("thief").misbehaviourCount == 1)
        #expect(try test.gate("gate").misbehaviourCount == 0)
        #expect(try await TestHost.finish(name, 2) == 0)
        #expect(try await answer == 2)
    }

    @Test(arguments: ["0", "1", "12345", "18446744073709551615"])
    func `a completion of an operation that was never given out is refused`(_ operation: JSONValue) async throws {
        let test = try await TestHost.opened()
        #expect(try await test.call("gate", "invent", ["operation": operation]) == 100)
        #expect(try test.gate("gate").misbehaviourCount == 1)
    }

    @Test func `a call that is both completed and refused keeps its completion, and counts as misbehaviour`()
        async throws
    {
        let test = try await TestHost.opened()
        #expect(try await test.call("gate", "both") == true)
        // The caller goes on with the completion, before the function has returned its refusal.
        _ = await test.host.report { $0["gate"]?.misbehaviourCount == 1 }
    }

    @Test func `a completion with a length but no bytes, or too many, is an error`() async throws {
        let test = try await TestHost.opened()
        let missing = try await failure { () throws(ConnectorError) in
            try await test.call("gate", "overflow", ["length": 1])
        }
        #expect(missing.code == .misbehaved)
        for length in ["67108865", "9223372036854775808", "18446744073709551615"] {
            let error = try await failure { () throws(ConnectorError) in
                try await test.call("gate", "overflow", ["length": .string(length)])
            }
            #expect(error.code == .tooLarge)
        }
    }

    @Test func `progress is passed on any number of times, but only until the call has ended`() async throws {
        let test = try await TestHost.opened(TestHost.leaf("gate"), TestHost.leaf("other"))
        let steps = Journal<JSONValue>()
        let options = CallOptions { steps.note($0) }
        async let answer = test.call("gate", "begin", ["name": .string(name)], options: options)
        try await TestHost.taken(name)
        for step in 1...3 {
            let text: JSONValue = .string(#"{"step": \#(step)}"#)
            #expect(try await test.call("other", "progress", ["name": .string(name), "text": text]) == 0)
        }
        #expect(try await test.call("other", "progress", ["name": .string(name), "text": "half"]) == 102)
        #expect(try await TestHost.finish(name, "done") == 0)
        #expect(try await answer == "done")
        #expect(try await test.call("other", "progress", ["name": .string(name), "text": "4"]) == 100)
        // The first one is from `taken`.
        #expect(steps.values == [.null, ["step": 1], ["step": 2], ["step": 3]])
        #expect(try test.gate("gate").misbehaviourCount == 2)
    }
}
