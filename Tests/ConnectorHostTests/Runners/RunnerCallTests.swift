// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import InMemoryLogging
import InMemoryTracing
import Logging
import Synchronization
import Testing
import Tracing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorIsolation
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#endif

/// Plugins in a runner: what they answer, and what they are not given.
@Suite(.timeLimit(.minutes(5)), .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
struct RunnerCallTests {
    static let process = #""probe": "off", "isolation": "process""#
    /// Without namespaces, in which each process has the number 1.
    static let numbered = process + #", "sandbox": "off""#

    static func opened(_ plugin: String = "crashes", _ config: JSONObject = [:]) async throws -> TestHost {
        let test = try TestHost(TestHost.leaf("gate", plugin: plugin, config, settings: process))
        let report = await test.host.open()
        #expect(report.isReady, "\(report["gate"]?.error?.description ?? "")")
        return test
    }

    /// Calls an operation that is completed by a timer of a millisecond.
    private static func later(_ test: TestHost) async throws -> JSONValue {
        async let answer = test.call("gate", "later")
        await test.clock.advance(toTimerAfter: .milliseconds(1))
        return try await answer
    }

    @Test func `a plugin answers from another process`() async throws {
        let test = try await Self.opened()
        let process = try #require(try await test.call("gate", "process").integer)
        #expect(process != Int64(getpid()))
        #expect(test.host.report["gate"]?.isolation == .process)
        #expect(test.host.report.json["gates"]?.array?.first?["isolation"] == "process")
        await test.host.close()
    }

    #if os(Linux)
        @Test(arguments: [#""default""#, #""off""#])
        func `a plugin finds the libraries beside it`(sandbox: String) async throws {
            let settings = Self.process + #", "sandbox": \#(sandbox)"#
            let plugin = Fixtures.plugin("sibling")
            let test = try TestHost(
                TestHost.leaf("gate", plugin: plugin, settings: settings),
                TestHost.leaf("other", plugin: plugin, settings: settings)
            )
            let report = await test.host.open()
            #expect(report.isReady, "\(report["gate"]?.error?.description ?? "")")
            for path in ["gate", "other"] { #expect(try await test.call(path, "answer") == 42) }
            let process = try #require(test.host.report.runners.first?.process)
            // From memory, and once.
            let mapped = systemLines("/proc/\(process)/maps").filter {
                $0.contains("libsibling-library.so") && $0.contains("r-xp")
            }
            #expect(mapped.count == 1 && mapped.allSatisfy { $0.contains("memfd") }, "\(mapped)")
            // What each instance was given is closed again.
            let given = try Directory.entries(of: "/proc/\(process)/fd").filter { entry in
                var target = [CChar](repeating: 0, count: 256)
                let count = unsafe readlink("/proc/\(process)/fd/\(entry.name)", &target, target.count)
                let text = String(decoding: target.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
                return text.contains("libsibling-library.so")
            }
            #expect(given.count <= 1, "\(given.map(\.name))")
            await test.host.close()
        }
    #endif

    @Test(arguments: ["process", "none"])
    func `progress of more than 64 KiB is refused, and reaches nobody`(isolation: String) async throws {
        let settings = #""probe": "off", "isolation": "\#(isolation)""#
        let test = try await TestHost.opened(TestHost.leaf("gate", plugin: "crashes", settings: settings))
        let progress = Journal<JSONValue>()
        let answer = try await test.call(
            "gate",
            "begin",
            ["how": "large progress"],
            options: CallOptions(onProgress: { progress.note($0) })
        )
        #expect(answer == [.integer(Int64(CONNECTOR_OK)), .integer(Int64(CONNECTOR_TOO_LARGE))])
        #expect(progress.values == [1])
        await test.host.close()
    }

    @Test func `values of every type cross the line exactly`() async throws {
        let test = try await Self.opened("values")
        for numbers in [DescribedCallTests.highest, DescribedCallTests.lowest, DescribedCallTests.tiny] {
            let answer = try #require(try await test.call("gate", "numbers", numbers).object)
            for member in numbers.members where member.name != "i" {
                let result = try #require(answer["\(member.name)2"])
                #expect(member.name == "h" ? result == member.value : result.number == member.value.number)
            }
        }
        #expect(try await test.call("gate", "maybe", ["a": -7, "b": 0.5, "c": "x"]) == "abc-")
        await test.host.close()
    }

    #if os(Linux)
        /// Swift's locks name their owner by the number of its thread. The first thread had another number before it entered namespaces,
        /// and the runtime has kept that one: a thread that met it at a lock would wait for a thread that does not exist, and vice versa.
        @Test func `the first thread of a runner takes no part in its calls`() async throws {
            let test = try await Self.opened()
            let process = try #require(test.host.report.runners.first?.process)
            func switches() -> [Substring] {
                systemLines("/proc/\(process)/task/\(process)/status").filter { $0.contains("ctxt_switches") }
            }
            _ = try await Self.later(test)
            let before = switches()
            #expect(before.count == 2)
            for _ in 0..<20 { _ = try await Self.later(test) }
            #expect(switches() == before)
            await test.host.close()
        }
    #endif

    @Test func `a plugin has an empty environment and no descriptors of the host`() async throws {
        let test = try await Self.opened()
        #expect(try await test.call("gate", "variables").integer == 1)
        // Input, output, errors, the socket, the shared memory, the image, which debuggers read.
        #expect(try #require(try await test.call("gate", "descriptors").integer) <= 7)
        await test.host.close()
    }

    @Test func `timers and events work as in the host`() async throws {
        let test = try await Self.opened()
        #expect(try await Self.later(test) == "later")
        #expect(try await test.call("gate", "emit", ["name": "moved"]).integer == 0)
        #expect(try await test.call("gate", "emit", ["name": "no name"]).integer == 102)
        await test.host.close()
    }

    @Test func `a line that a plugin logs during a call has the trace of the call`() async throws {
        var handler = InMemoryLogHandler()
        handler.metadataProvider = Logger.MetadataProvider {
            ["trace": "\(ServiceContext.current?.inMemorySpanContext?.traceID ?? "none")"]
        }
        let test = try TestHost(
            TestHost.leaf("gate", plugin: "crashes", settings: Self.process),
            logger: Logger(label: "test") { [handler] _ in handler }
        )
        #expect(await test.host.open().isReady)
        let (_, found) = try await InMemoryTracer().withSpan("caller") { span in
            (try await test.call("gate", "note", ["text": "a line"]), span.context.inMemorySpanContext?.traceID)
        }
        let trace = try #require(found)
        while !handler.entries.contains(where: { $0.message == "a line" }) { try await Task.checkedYield() }
        #expect(handler.entries.first { $0.message == "a line" }?.metadata["trace"] == "\(trace)")
        await test.host.close()
    }

    @Test func `the time of a recorded plugin stands still, and goes on once the recording has ended`() async throws {
        let directory = ScratchDirectory()
        let record = #", "record": "\#(directory.path)/gate.json""#
        let test = try TestHost(TestHost.leaf("gate", plugin: "crashes", settings: Self.process + record))
        let report = await test.host.open()
        #expect(report.isReady, "\(report["gate"]?.error?.description ?? "")")
        let start: Int64 = 1_767_225_600_000_000_000
        #expect(try await test.call("gate", "time").integer == start)
        test.clock.advance(by: .seconds(70))
        #expect(try await test.call("gate", "time").integer == start)
        test.clock.advance(by: .seconds(601))
        #expect(try await test.call("gate", "time").integer == start + 671 * 1_000_000_000)
        await test.host.close()
    }

    @Test(arguments: ["none", "process"])
    func `a recording has no time that the plugin has not asked for`(isolation: String) async throws {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        let directory = ScratchDirectory()
        let settings = #""probe": "off", "isolation": "\#(isolation)", "record": "\#(directory.path)/gate.json""#
        let endpoint: JSONObject = ["endpoint": .string(server.url("/"))]
        let test = try TestHost(TestHost.leaf("gate", plugin: "http", endpoint, settings: settings))
        let report = await test.host.open()
        #expect(report.isReady, "\(report["gate"]?.error?.description ?? "")")
        await test.host.close()
        let recording = try JSONValue(parsing: SystemFile.bytes(of: "\(directory.path)/gate.json", limit: 1 << 20))
        #expect(recording["answers"]?.array?.count == 1)
        #expect(recording["time"] == nil)
    }

    @Test func `an instance that could not be made has not misbehaved when its runner says that it is destroyed`()
        async throws
    {
        let test = try TestHost(TestHost.leaf("gate", plugin: "null-table", settings: Self.process))
        #expect(await test.host.open()["gate"]?.state == .failed)
        for _ in 0..<30 { _ = try await test.host.retry("gate") }
        #expect(try test.gate("gate").misbehaviourCount == 0)
        await test.host.close()
    }

    @Test func `events that a plugin emits before it answers are there, in order, when the call returns`() async throws
    {
        let test = try await Self.opened()
        let events = test.host.events(of: "gate")
        let names = (1...100).map { "moved-\($0)" }
        for name in names { #expect(try await test.call("gate", "emit", ["name": .string(name)]).integer == 0) }
        var iterator = events.makeAsyncIterator()
        for name in names {
            let event = await iterator.next()
            #expect(event?.name == name)
            #expect(event?.payload == ["a": 1])
        }
        await test.host.close()
    }

    @Test func `a plugin has the same limit of timers as in the host`() async throws {
        let test = try await Self.opened()
        #expect(try await test.call("gate", "timers", ["count": .integer(Int64(TimerCallback.limit))]).integer == 0)
        let status = Int64(CONNECTOR_TOO_LARGE)
        #expect(try await test.call("gate", "timers", ["count": 1]).integer == status)
        await test.host.close()
    }

    @Test func `a value that is too long to be stored is too large, as in the host`() async throws {
        let test = try await Self.opened()
        // More than may wait for the host's storage.
        let value = JSONValue.string(String(repeating: "v", count: 17 << 20))
        let error = try await failure { () throws(ConnectorError) in
            try await test.call("gate", "store", ["key": "key", "value": value])
        }
        #expect(error.code == .tooLarge)
        #expect(error.message.contains("the value has more than \(CONNECTOR_STORAGE_VALUE_LIMIT) bytes"))
        await test.host.close()
    }

    @Test(arguments: ["none", "process"])
    func `a request ends with the call that it serves`(isolation: String) async throws {
        let count = Atomic(0)
        // Answers the request of `open`, and no other.
        let server = LoopbackServer { _ in count.add(1, ordering: .relaxed).newValue == 1 ? .response(200) : .stall }
        defer { server.stop() }
        let settings = #""probe": "off", "isolation": "\#(isolation)""#
        let endpoint: JSONObject = ["endpoint": .string(server.url("/"))]
        let test = try TestHost(TestHost.leaf("gate", plugin: "http", endpoint, settings: settings))
        let report = await test.host.open()
        #expect(report.isReady, "\(report["gate"]?.error?.description ?? "")")
        let call = Task { try await failure { () throws(ConnectorError) in try await test.call("gate", "twice") } }
        while server.requests.count < 2 { try await Task.checkedYield() }
        call.cancel()
        #expect(try await call.value.code == .cancelled)
        // The clock stands still, so the request does not end at its deadline.
        while try test.gate("gate").http?.failures != 1 { try await Task.checkedYield() }
        await test.host.close()
        #expect(try test.gate("gate").misbehaviourCount == 0)
    }

    @Test func `progress arrives, and a second completion is misbehaviour`() async throws {
        let test = try await Self.opened()
        let seen = Journal<JSONValue>()
        let options = CallOptions(onProgress: { seen.note($0) })
        #expect(try await test.call("gate", "begin", ["how": "progress"], options: options) == 3)
        #expect(seen.values == [["done": 1]])
        #expect(try await test.call("gate", "begin", ["how": "twice"]) == 1)
        _ = await test.host.report { $0["gate"]?.misbehaviourCount == 1 }
        await test.host.close()
    }

    @Test func `a length without bytes behind it is an error`() async throws {
        let test = try await Self.opened()
        let error = try await failure { () throws(ConnectorError) in
            try await test.call("gate", "begin", ["how": "length"])
        }
        #expect(error.code == .tooLarge)
        await test.host.close()
    }

    @Test func `a typed call reports its progress, and ends when it is cancelled or at its deadline`() async throws {
        let test = try await Self.opened()
        let begin = try test.host.gate("gate")
            .typed("begin", "(how: string) async -> json", as: OperationFunction.Texts1.self)
        let seen = Journal<JSONValue>()
        #expect(try await begin("progress", options: CallOptions(onProgress: { seen.note($0) })) == 3)
        #expect(seen.values == [["done": 1]])
        let call = Task { try await failure { () throws(ConnectorError) in try await begin("silent") } }
        await test.clock.timer(dueAfter: .seconds(30))
        call.cancel()
        #expect(try await call.value.code == .cancelled)
        async let late = failure { () throws(ConnectorError) in
            try await begin("silent", options: CallOptions(timeout: .seconds(5)))
        }
        await test.clock.advance(toTimerAfter: .seconds(5))
        #expect(try await late.code == .timedOut)
        #expect(try await begin("twice") == 1)
        await test.host.close()
    }

    @Test func `a call that is not answered ends at its deadline, and the gate works on`() async throws {
        let test = try await Self.opened()
        async let answer = failure { () throws(ConnectorError) in
            try await test.call("gate", "begin", ["how": "silent"], options: CallOptions(timeout: .seconds(5)))
        }
        await test.clock.advance(toTimerAfter: .seconds(5))
        #expect(try await answer.code == .timedOut)
        #expect(try await test.call("gate", "process").integer != nil)
        await test.host.close()
    }

    @Test func `connectors of one plugin share a runner, unless the file names another one`() async throws {
        let test = try TestHost(
            TestHost.leaf("one", plugin: "crashes", settings: Self.numbered),
            TestHost.leaf("two", plugin: "crashes", settings: Self.numbered),
            TestHost.leaf("other", plugin: "crashes", settings: Self.numbered + #", "runner": "mine""#)
        )
        #expect(await test.host.open().isReady)
        let one = try await test.call("one", "process")
        #expect(try await test.call("two", "process") == one)
        #expect(try await test.call("other", "process") != one)
        await test.host.close()
    }

    @Test func `a runner ends with its last connector`() async throws {
        let test = try TestHost(TestHost.leaf("gate", plugin: "crashes", settings: Self.numbered))
        #expect(await test.host.open().isReady)
        let process = try #require(try await test.call("gate", "process").integer)
        await test.host.close()
        while kill(pid_t(process), 0) == 0 { try await Task.checkedYield() }
        #expect(errno == ESRCH)
    }
}
