// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform

/// How many calls a gate sees at once.
@Suite(.timeLimit(.minutes(10))) struct ThreadClassTests {
    private let name = TestHost.unique()

    @Test func `a plugin of the thread class any gets several calls at once`() async throws {
        let test = try await TestHost.opened()
        async let answers = withTaskGroup(of: JSONValue?.self) { group in
            for index in 0..<5 {
                group.addTask { try? await test.call("gate", "begin", ["name": .string("\(name)-\(index)")]) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for index in 0..<5 { try await TestHost.taken("\(name)-\(index)") }
        #expect(try await test.call("gate", "counts")["most"] == 5)
        for index in 0..<5 { #expect(try await TestHost.finish("\(name)-\(index)", 1) == 0) }
        #expect(await answers == Array(repeating: 1, count: 5))
    }

    @Test func `a plugin of the thread class serial never gets two calls at once`() async throws {
        let test = try await TestHost.opened(TestHost.leaf("gate", plugin: "serial"))
        async let answers = withTaskGroup(of: JSONValue?.self) { group in
            for _ in 0..<5 {
                group.addTask { try? await test.call("gate", "begin", ["name": .string(name)]) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        await test.clock.timers(atLeast: 5)
        for _ in 0..<5 {
            // The latest call of the name is the only one that can be pending.
            while try await TestHost.finish(name, 1, plugin: "serial") != 0 { try await Task.checkedYield() }
        }
        #expect(await answers == Array(repeating: 1, count: 5))
        #expect(try await test.call("gate", "counts")["most"] == 1)
    }

    @Test func `a call that waits for its turn can be cancelled or run out of time, and the others go on`() async throws
    {
        let test = try await TestHost.opened(TestHost.leaf("gate", plugin: "serial"))
        async let first = test.begin(name)
        try await TestHost.taken(name, plugin: "serial")
        await test.clock.timers(atLeast: 1)
        let cancelled = Task { try await failure { () throws(ConnectorError) in try await test.begin(name) } }
        await test.clock.timers(atLeast: 2)
        async let late = failure { () throws(ConnectorError) in try await test.begin(name, timeout: .seconds(1)) }
        await test.clock.timers(atLeast: 3)
        async let last = test.call("gate", "answer", ["value": "last"])
        await test.clock.timers(atLeast: 4)
        cancelled.cancel()
        #expect(try await cancelled.value.code == .cancelled)
        test.clock.advance(by: .seconds(1))
        let error = try await late
        #expect(error.code == .timedOut)
        #expect(error.message == "begin timed out waiting for its turn")
        #expect(try await TestHost.finish(name, 1, plugin: "serial") == 0)
        #expect(try await first == 1)
        #expect(try await last == "last")
        #expect(try await test.call("gate", "counts")["running"] == 0)
    }
}
