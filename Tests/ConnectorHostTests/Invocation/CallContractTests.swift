// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Every rule of the call contract, kept and broken.
@Suite(.timeLimit(.minutes(10))) struct CallContractTests {
    private let name = TestHost.unique()

    private func opened(_ leaves: String...) async throws -> TestHost {
        let test = try TestHost(leaves.isEmpty ? TestHost.leaf("gate") : leaves.joined(separator: ","))
        #expect(await test.host.open().isReady)
        return test
    }

    /// A call that the plugin leaves pending.
    private func begin(_ test: TestHost, _ path: String = "gate", timeout: Duration = .seconds(30))
        async throws(ConnectorError)
        -> JSONValue
    {
        try await test.call(path, "begin", ["name": .string(name)], options: CallOptions(timeout: timeout))
    }

    // MARK: Completion

    @Test func `a call that completes inside the function is answered`() async throws {
        let test = try await opened()
        #expect(try await test.call("gate", "answer", ["value": ["a": [1, 2.5, nil]]]) == ["a": [1, 2.5, nil]])
        await test.noTimers()
    }

    @Test func `a call that completes later, from another thread, is answered`() async throws {
        let test = try await opened()
        async let answer = begin(test)
        #expect(try await TestHost.finish(name, ["done": true]) == 0)
        #expect(try await answer == ["done": true])
        await test.noTimers()
    }

    @Test func `a second completion is refused, counted, and harmless`() async throws {
        let test = try await opened()
        async let answer = begin(test)
        #expect(try await TestHost.finish(name, 1) == 0)
        #expect(try await answer == 1)
        #expect(try await TestHost.finish(name, 2) == 100)
        #expect(try await TestHost.finish(name, 3) == 100)
        #expect(try test.gate("gate").misbehaviourCount == 2)
        #expect(try await test.call("gate", "answer", ["value": 4]) == 4)
    }

    @Test func `a completion by another gate is refused, and the call stays pending`() async throws {
        let test = try await opened(TestHost.leaf("gate"), TestHost.leaf("thief"))
        async let answer = begin(test)
        try await TestHost.taken(name)
        #expect(try await test.call("thief", "finish", ["name": .string(name), "value": 1]) == 101)
        #expect(try test.gate("thief").misbehaviourCount == 1)
        #expect(try test.gate("gate").misbehaviourCount == 0)
        #expect(try await TestHost.finish(name, 2) == 0)
        #expect(try await answer == 2)
    }

    @Test(arguments: ["0", "1", "12345", "18446744073709551615"])
    func `a completion of an operation that was never given out is refused`(_ operation: JSONValue) async throws {
        let test = try await opened()
        #expect(try await test.call("gate", "invent", ["operation": operation]) == 100)
        #expect(try test.gate("gate").misbehaviourCount == 1)
    }

    @Test func `a call that the plugin refuses carries its status, words and number`() async throws {
        let test = try await opened()
        let error = try await failure { () throws(ConnectorError) in
            try await test.call("gate", "refuse", ["status": 6])
        }
        #expect(error.code == .conflict)
        #expect(error.message == "refused")
        #expect(error.cause == "fixture 418")
        #expect(error.connector == "gate")
    }

    @Test(
        arguments: [
            (1, "failed"), (2, "invalid"), (3, "unsupported"), (4, "unauthorized"), (5, "missing"), (6, "conflict"),
            (7, "rate-limited"), (8, "unavailable"), (9, "timed-out"), (10, "aborted"), (11, "denied"),
            (12, "too-large"),
            (13, "protocol"), (14, "not-open"), (99, "failed"), (-1, "failed"), (Int64(Int32.min), "failed"),
        ] as [(Int64, String)]
    )
    func `every status has a code, and an unknown one is a failure`(_ status: Int64, _ code: String) async throws {
        let test = try await opened()
        let error = try await failure { () throws(ConnectorError) in
            try await test.call("gate", "refuse", ["status": .integer(status)])
        }
        #expect(error.code.rawValue == code)
    }

    @Test func `a call that fails later carries what the plugin said`() async throws {
        let test = try await opened(TestHost.leaf("gate"), TestHost.leaf("other"))
        async let answer = failure { () throws(ConnectorError) in try await begin(test) }
        try await TestHost.taken(name)
        #expect(try await test.call("other", "fail", ["name": .string(name), "status": 7]) == 0)
        let error = try await answer
        #expect(error.code == .rateLimited)
        #expect(error.message == "it went wrong later")
        #expect(error.retryAfter == .seconds(3))
    }

    @Test(arguments: [0, 3, 24, 56, 60, 1024, .max] as [UInt32])
    func `no byte of an error is read beyond its struct_size`(_ size: UInt32) throws {
        // Between two pages, the second of which cannot be read.
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let mapping = unsafe mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        let memory = try unsafe #require(mapping)
        defer { unsafe munmap(memory, 2 * page) }
        try #require(unsafe mprotect(memory + page, page, PROT_NONE) == 0)
        let covered = size == .max ? 1024 : max(Int(size), 4)
        let start = unsafe memory + page - (covered + 7) / 8 * 8
        unsafe start.storeBytes(of: size, as: UInt32.self)
        if covered >= 12 { unsafe start.storeBytes(of: 1, toByteOffset: 8, as: UInt32.self) }
        if covered > 56 { unsafe memset(start + 56, 0x61, min(covered, 60) - 56) }
        let error = unsafe ConnectorError(
            status: 4,
            reading: start.assumingMemoryBound(to: connector_error.self),
            attempting: "work"
        )
        #expect(error.code == .unauthorized)
        #expect(error.isRetryable == (size >= 12))
        #expect(error.message == (covered > 56 ? "aaaa" : "work failed without an explanation (status 4)"))
    }

    @Test func `a call that is completed and refused keeps its completion, and is counted`() async throws {
        let test = try await opened()
        #expect(try await test.call("gate", "both") == true)
        // The caller goes on with the completion, before the function has returned its refusal.
        _ = await test.host.report { $0["gate"]?.misbehaviourCount == 1 }
    }

    @Test func `a completion with a length but no bytes, or too many, is an error`() async throws {
        let test = try await opened()
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

    // MARK: The application's own types

    @Test func `arguments and results are of the application's own types`() async throws {
        struct Note: Codable, Equatable {
            var title: String
            var tags: [String]
        }
        struct Arguments: Encodable {
            var value: Note
        }
        let test = try await opened()
        let gate = try test.host.gate("gate")
        let note = Note(title: "Milk", tags: ["home"])
        #expect(try await gate.call("answer", Arguments(value: note), as: Note.self) == note)
        #expect(try await gate.call("answer", ["value": ["title": "Milk", "tags": ["home"]]], as: Note.self) == note)
        #expect(try await gate.call("answer", JSONValue(encoding: note), as: Note.self) == note)
        #expect(try await gate.call("answer", "one", as: String.self) == "one")
        let error = try await failure { () throws(ConnectorError) in
            try await gate.call("answer", ["value": ["title": 1]], as: Note.self)
        }
        #expect(
            error.description
                == "gate: the JSON is not a valid Note: title: expected a string, found an integer [invalid]"
        )
        let wrong = try await failure { () throws(ConnectorError) in
            try await gate.call("answer", [1], as: Note.self)
        }
        #expect(wrong.description == "gate: Array<Int> becomes an array in JSON, and an object is needed [invalid]")
    }

    // MARK: Deadline

    @Test func `a call ends at its deadline, the plugin is told, and no late answer is a fault`() async throws {
        let test = try await opened()
        async let answer = failure { () throws(ConnectorError) in try await begin(test, timeout: .seconds(2)) }
        try await TestHost.taken(name)
        await test.clock.timers(atLeast: 1)
        test.clock.advance(by: .seconds(2) - .nanoseconds(1))
        #expect(test.clock.timerCount == 1)
        test.clock.advance(by: .nanoseconds(1))
        let error = try await answer
        #expect(error.code == .timedOut)
        #expect(error.isRetryable)
        #expect(error.message == "begin did not complete within 2.0 s")
        try await test.counts("gate", "cancels", reach: 1)
        #expect(try await TestHost.progress(name) == 100)
        #expect(try await TestHost.finish(name) == 100)
        #expect(try test.gate("gate").misbehaviourCount == 0)
        #expect(try await TestHost.finish(name) == 100)
        #expect(try await TestHost.progress(name) == 100)
        #expect(try test.gate("gate").misbehaviourCount == 0)
    }

    @Test func `a call whose time is up before it begins ends at once`() async throws {
        let test = try await opened()
        async let answer = failure { () throws(ConnectorError) in try await begin(test, timeout: .zero) }
        await test.clock.timers(atLeast: 1)
        test.clock.advance(by: .zero)
        #expect(try await answer.code == .timedOut)
    }

    @Test func `no timeout overflows`() async throws {
        let test = try await opened()
        async let answer = begin(test, timeout: .seconds(Int64.max))
        #expect(try await TestHost.finish(name, 5) == 0)
        #expect(try await answer == 5)
    }

    // MARK: Cancellation

    @Test func `a cancelled caller resumes, the plugin is told, and no late completion is a fault`()
        async throws
    {
        let test = try await opened()
        let task = Task { try await failure { () throws(ConnectorError) in try await begin(test) } }
        try await TestHost.taken(name)
        await test.clock.timers(atLeast: 1)
        task.cancel()
        #expect(try await task.value.code == .cancelled)
        try await test.counts("gate", "cancels", reach: 1)
        #expect(try await TestHost.finish(name) == 100)
        #expect(try test.gate("gate").misbehaviourCount == 0)
        #expect(try await TestHost.finish(name) == 100)
        #expect(try test.gate("gate").misbehaviourCount == 0)
        await test.noTimers()
    }

    @Test func `only the caller's own cancellation is one`() async throws {
        let test = try await opened(TestHost.leaf("gate"), TestHost.leaf("other"))
        let task = Task { try await failure { () throws(ConnectorError) in try await begin(test) } }
        try await TestHost.taken(name)
        await test.clock.timers(atLeast: 1)
        #expect(try await test.call("other", "fail", ["name": .string(name), "status": 10]) == 0)
        let vendors = try await task.value
        #expect(vendors.code == .aborted)
        #expect(!vendors.isCancellation)
        let own = Task { try await failure { () throws(ConnectorError) in try await begin(test) } }
        try await TestHost.taken(name)
        await test.clock.timers(atLeast: 1)
        own.cancel()
        #expect(try await own.value.isCancellation)
    }

    @Test func `calls that are begun and given up one after the other are answered late without blame`() async throws {
        let test = try await opened()
        let names = (1...3).map { "\(name)-\($0)" }
        for (index, name) in names.enumerated() {
            let task = Task {
                try await failure { () throws(ConnectorError) in
                    try await test.call("gate", "begin", ["name": .string(name)])
                }
            }
            try await TestHost.taken(name)
            await test.clock.timers(atLeast: 1)
            task.cancel()
            #expect(try await task.value.code == .cancelled)
            try await test.counts("gate", "cancels", reach: Int64(index + 1))
        }
        for name in names { #expect(try await TestHost.progress(name) == 100) }
        for name in names { #expect(try await TestHost.finish(name) == 100) }
        #expect(try test.gate("gate").misbehaviourCount == 0)
        for name in names { #expect(try await TestHost.finish(name) == 100) }
        #expect(try test.gate("gate").misbehaviourCount == 0)
    }

    @Test func `a caller that is cancelled already does not wait`() async throws {
        let test = try await opened()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await failure { () throws(ConnectorError) in try await begin(test) }
        }
        task.cancel()
        #expect(try await task.value.code == .cancelled)
    }

    @Test func `when a cancellation races a completion the caller gets one of them, once`() async throws {
        let test = try await opened()
        let driver = try TestHost(TestHost.leaf("driver"))
        await driver.host.open()
        var ends: [String: Int] = [:]
        for index in 0..<300 {
            let name = "\(name)-\(index)"
            let task = Task {
                do throws(ConnectorError) {
                    return try await test.call("gate", "begin", ["name": .string(name)]) == 1 ? "completed" : "wrong"
                } catch {
                    return error.code.rawValue
                }
            }
            try await TestHost.taken(name)
            await test.clock.timers(atLeast: 1)
            async let answer = driver.call("driver", "finishAsOwner", ["name": .string(name), "value": 1])
            task.cancel()
            let end = await task.value
            let status = try await answer
            #expect(status == (end == "completed" ? 0 : 100))
            ends[end, default: 0] += 1
        }
        #expect(Set(ends.keys).isSubset(of: ["completed", "cancelled"]))
        #expect(ends.values.reduce(0, +) == 300)
        #expect(try test.gate("gate").misbehaviourCount == 0)
    }

    // MARK: Progress

    @Test func `progress is passed on any number of times, but only until the call has ended`() async throws {
        let test = try await opened(TestHost.leaf("gate"), TestHost.leaf("other"))
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

    // MARK: Thread classes

    @Test func `a gate of the class any sees calls at once`() async throws {
        let test = try await opened()
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

    @Test func `a gate of the class serial never sees two calls at once`() async throws {
        let test = try await opened(TestHost.leaf("gate", plugin: "serial"))
        async let answers = withTaskGroup(of: JSONValue?.self) { group in
            for _ in 0..<5 {
                group.addTask { try? await test.call("gate", "begin", ["name": .string(name)]) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        await test.clock.timers(atLeast: 5)
        for _ in 0..<5 {
            // The latest call of the name is the only one that can be pending.
            while try await TestHost.finish(name, 1, plugin: "serial") != 0 { await Task.yield() }
        }
        #expect(await answers == Array(repeating: 1, count: 5))
        #expect(try await test.call("gate", "counts")["most"] == 1)
    }

    @Test func `who waits for a turn can be cancelled, or run out of time, and the others go on`() async throws {
        let test = try await opened(TestHost.leaf("gate", plugin: "serial"))
        async let first = begin(test)
        try await TestHost.taken(name, plugin: "serial")
        await test.clock.timers(atLeast: 1)
        let cancelled = Task { try await failure { () throws(ConnectorError) in try await begin(test) } }
        await test.clock.timers(atLeast: 2)
        async let late = failure { () throws(ConnectorError) in try await begin(test, timeout: .seconds(1)) }
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

    // MARK: Before any plugin code runs

    @Test func `a call of a gate that is not open names its state and the reason`() async throws {
        let test = try TestHost(TestHost.leaf("gate", ["opens": "refuses"]))
        let closed = try await failure { () throws(ConnectorError) in try await test.call("gate", "counts") }
        #expect(closed.code == .notOpen)
        #expect(closed.message == "the gate is closed")
        await test.host.open()
        let failed = try await failure { () throws(ConnectorError) in try await test.call("gate", "counts") }
        #expect(failed.message == "the gate has failed")
        #expect(failed.cause == "the vendor refused the credentials")
    }

    @Test func `an unknown gate and an unknown operation are suggested`() async throws {
        let test = try await opened()
        let gate = try await failure { () throws(ConnectorError) in try await test.call("gaet", "counts") }
        #expect(gate.code == .unknownConnector)
        #expect(gate.fix == "did you mean \"gate\"?")
        let operation = try await failure { () throws(ConnectorError) in try await test.call("gate", "count") }
        #expect(operation.code == .invalid)
        #expect(operation.fix == "did you mean \"counts\"?")
    }

    @Test func `an operation can be named with its capability`() async throws {
        let test = try await opened()
        #expect(try await test.call("gate", "calls/answer", ["value": 3]) == 3)
    }

    // MARK: Misbehaving plugins of the loader's

    @Test func `a completion of another gate's opening does not open it`() async throws {
        let test = try TestHost(
            TestHost.leaf("first", plugin: "foreign-operation", settings: #""timeout": "1s", "probe": "off""#),
            TestHost.leaf(
                "second",
                plugin: "foreign-operation",
                settings: #""timeout": "1s", "probe": "off""#
            )
        )
        async let opening = test.host.open()
        _ = await test.host.report { $0.gates.contains { $0.state == .open } }
        await test.clock.timers(atLeast: 1)
        test.clock.advance(by: .seconds(1))
        let report = await opening
        #expect(Set(report.gates.map(\.state)) == [.open, .failed])
        #expect(report.gates.first { $0.state == .open }?.misbehaviourCount == 1)
    }

    @Test(arguments: ["garbage-evidence", "unknown-operation", "null-table", "refuses-to-open"])
    func `a plugin that breaks a rule harms neither the host nor the gate beside it`(_ plugin: String) async throws {
        let test = try TestHost(
            TestHost.leaf("bad", plugin: plugin, settings: #""timeout": "1s", "probe": "off""#),
            TestHost.leaf("good")
        )
        let report = await test.host.open()
        let bad = try #require(report["bad"])
        #expect(bad.state == .failed || bad.misbehaviourCount > 0)
        #expect(try await test.call("good", "answer", ["value": 1]) == 1)
        await test.host.close()
        #expect(test.host.report.state == .closed)
    }
}
