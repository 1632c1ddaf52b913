// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Every instance of a gate has one owner, which ends it once.
@Suite(.timeLimit(.minutes(10))) struct GenerationTests {
    private let name = TestHost.unique("generation")

    /// How many instances of the gates of this test were created, closed and destroyed.
    private func lives(_ test: TestHost) async throws -> [String: Int64] {
        let counts = try await test.call("other", "lives", ["name": .string(name)])
        return Dictionary(
            uniqueKeysWithValues: (counts.object?.members ?? []).map { ($0.name, $0.value.integer ?? -1) }
        )
    }

    private func opened(_ config: JSONObject = [:], settings: String = #""probe": "30s""#) async throws -> TestHost {
        var config = config
        config["name"] = .string(name)
        let test = try TestHost(TestHost.leaf("gate", config, settings: settings), TestHost.leaf("other"))
        await test.host.open()
        return test
    }

    @Test(.disabled(if: PendingCalls.areRemote, "proofs in a runner take real time, and the clock moves meanwhile"))
    func `opening a gate whose proofs had failed ends the previous instance and its proofs`() async throws {
        let test = try await opened()
        try await test.call("other", "probes", ["name": .string(name), "status": 8])
        try await test.advance(by: .seconds(30), until: .failed, "gate")
        try await test.call("other", "probes", ["name": .string(name), "status": 0])
        #expect(await test.host.open()["gate"]?.state == .open)
        while try await lives(test) != ["created": 2, "closed": 1, "destroyed": 1] { try await Task.checkedYield() }
        // One chain of proofs: that of the new instance.
        while test.clock.timerCount > 1 { try await Task.checkedYield() }
        #expect(test.clock.timerCount == 1)
        await test.host.close()
    }

    @Test func `a gate that waits for another does not open if the host closes meanwhile`() async throws {
        let second = TestHost.unique("second")
        let test = try TestHost(
            TestHost.leaf("first", ["name": .string(name), "opens": "held"]),
            TestHost.leaf("second", ["name": .string(second)], settings: #""after": ["first"], "probe": "off""#)
        )
        async let opening = test.host.open()
        try await TestHost.taken("\(name):open")
        await test.host.close()
        let report = await opening
        #expect(report["second"]?.state == .closed)
        #expect(test.state("second") == .closed)
        let other = try TestHost(TestHost.leaf("other"))
        await other.host.open()
        #expect(try await other.call("other", "lives", ["name": .string(second)])["created"] == 0)
    }

    @Test(.disabled(if: PendingCalls.areRemote, "the gate that completes the call closes, too"))
    func `two callers of close await the same end`() async throws {
        let test = try await opened(["closes": "held"])
        let ends = Journal<String>()
        async let first: Void = {
            await test.host.close(); ends.note("first")
        }()
        _ = await test.host.report { $0["gate"]?.state == .closing }
        async let second: Void = {
            await test.host.close(); ends.note("second")
        }()
        await test.clock.timers(atLeast: 1)
        #expect(ends.values.isEmpty)
        try await TestHost.finish("\(name):close")
        _ = await (first, second)
        #expect(Set(ends.values) == ["first", "second"])
        #expect(test.state("gate") == .closed)
    }

    @Test func `open returns at once when its task is cancelled, and the gate goes on opening`() async throws {
        let test = try TestHost(TestHost.leaf("gate", ["name": .string(name), "opens": "held"]))
        let opening = Task { await test.host.open() }
        try await TestHost.taken("\(name):open")
        opening.cancel()
        #expect(await opening.value["gate"]?.state == .opening)
        try await TestHost.finish("\(name):open", [])
        _ = await test.host.report { $0["gate"]?.state == .open }
        await test.host.close()
    }

    @Test func `run ends at once when it is cancelled while gates open`() async throws {
        let test = try TestHost(TestHost.leaf("gate", ["name": .string(name), "opens": "held"]))
        let running = Task { try await test.host.run() }
        try await TestHost.taken("\(name):open")
        running.cancel()
        try await running.value
        #expect(test.state("gate") == .closed)
    }

    @Test(.disabled(if: PendingCalls.areRemote, "each attempt has a runner of its own, which counts by itself"))
    func `an instance that completes open inside create is not used, and is destroyed`() async throws {
        let test = try TestHost(
            TestHost.leaf(
                "gate",
                plugin: "opens-in-create",
                settings: #""retry": {"attempts": 2, "initial": "1s", "max": "1s"}, "probe": "off""#
            )
        )
        async let opening = test.host.open()
        _ = await test.host.report { $0["gate"]?.attempts == 2 }
        await test.clock.advance(toTimerAfter: .seconds(1))
        let report = try #require(await opening["gate"])
        #expect(report.state == .failed)
        #expect(report.error?.code == .misbehaved)
        #expect(report.misbehaviourCount == 1)
        #expect(try await test.host.retry("gate")["gate"]?.state == .open)
        // Instances are destroyed on threads of the host, after the report.
        while try await test.call("gate", "lives") != ["created": 3, "destroyed": 2] { try await Task.checkedYield() }
        await test.host.close()
    }

    @Test func `a connector is closed and opened again by its path`() async throws {
        let test = try await opened()
        try await test.host.close("gate")
        #expect(test.state("gate") == .closed)
        #expect(test.state("other") == .open)
        let error = try await failure { () throws(ConnectorError) in try await test.call("gate", "counts") }
        #expect(error.code == .notOpen)
        #expect(try await lives(test) == ["created": 1, "closed": 1, "destroyed": 1])
        #expect(try await test.host.open("gate")["gate"]?.state == .open)
        #expect(try await lives(test) == ["created": 2, "closed": 1, "destroyed": 1])
        await test.host.close()
    }

    @Test func `a gate that is opened while it closes is open in the end`() async throws {
        let test = try await opened(["closes": "held"])
        async let closing: Void = test.host.close("gate")
        try await TestHost.taken("\(name):close")
        async let opening = test.host.open("gate")
        _ = await test.host.report { $0["gate"]?.target == .open }
        #expect(test.state("gate") == .closing)
        try await TestHost.finish("\(name):close")
        try await closing
        #expect(try await opening["gate"]?.state == .open)
    }

    @Test func `an instance that is ended before it opens does not open, and nobody waits for it`() async throws {
        let test = try await opened()
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        let generation = gate.generation(gate.lastConfiguration)
        await generation.end()
        let timers = test.clock.timerCount
        let result = await generation.open(by: .max)
        let error = #expect(throws: ConnectorError.self) { try result.get() }
        #expect(error?.code == .notOpen)
        #expect(test.clock.timerCount == timers)
        #expect(try await lives(test) == ["created": 1, "closed": 0, "destroyed": 0])
        await test.host.close()
    }

    @Test(.disabled(if: PendingCalls.areRemote, "a successor's runner counts and remembers by itself"))
    func `a gate that heals ends the instance with new secrets that still opens`() async throws {
        let test = try await opened()
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        var configuration = gate.lastConfiguration
        configuration.config["opens"] = .string("held")
        let replacing = Task { [configuration] in await gate.replace(by: configuration, of: gate.planNumber) }
        try await TestHost.taken("\(name):open")
        let current = try #require(gate.storage.withLock { $0.current })
        gate.lost(current, ConnectorError(.crashed, "the runner has ended"))
        await gate.retry()
        #expect(test.state("gate") == .open)
        let replaced = await replacing.value
        #expect(throws: ConnectorError.self) { try replaced.get() }
        while try await lives(test) != ["created": 3, "closed": 1, "destroyed": 2] { try await Task.checkedYield() }
        await test.host.close()
    }

    @Test(.disabled(if: PendingCalls.areRemote, "a successor's runner counts and remembers by itself"))
    func `an instance with new secrets that does not open has ended before another one may open`() async throws {
        let test = try await opened()
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        var configuration = gate.lastConfiguration
        configuration.config["opens"] = .string("refuses")
        for count in 1...3 as ClosedRange<Int64> {
            let replaced = await gate.replace(by: configuration, of: gate.planNumber)
            #expect(throws: ConnectorError.self) { try replaced.get() }
            #expect(try await lives(test) == ["created": 1 + count, "closed": 0, "destroyed": count])
        }
        await test.host.close()
    }

    @Test func `a gate that is closed once more before it could open again stays closed`() async throws {
        let test = try await opened(["closes": "held"])
        async let closing: Void = test.host.close("gate")
        try await TestHost.taken("\(name):close")
        async let opening = test.host.open("gate")
        _ = await test.host.report { $0["gate"]?.target == .open }
        async let again: Void = test.host.close("gate")
        while try test.gate("gate").target == .open { try await Task.checkedYield() }
        try await TestHost.finish("\(name):close")
        // The opening may end, and report, while the gate still closes.
        _ = try await (closing, again, opening)
        #expect(test.state("gate") == .closed)
        #expect(try await lives(test) == ["created": 1, "closed": 1, "destroyed": 1])
        await test.host.close()
    }

    @Test(.disabled(if: PendingCalls.areRemote, "it would start thousands of runners"))
    func `opening and closing again and again leaves nothing behind`() async throws {
        let host = try ConnectorHost.testing(
            "[\(TestHost.leaf("gate", ["name": .string(name)]))]",
            plugins: [Fixtures.contract("calls")],
            clock: SystemHostClock()
        )
        // So that other tests do not have them made meanwhile.
        let loops = try (0..<HTTPLoops.shared.limit).map { _ in try HTTPLoops.shared.lend() }
        defer { withExtendedLifetime(loops) {} }
        // The contexts that plugins call back rest before they are used again: only then does memory stay level.
        let cycles = 500
        for _ in 0..<cycles { try await cycle(host) }
        let before = Footprint()
        for _ in 0..<(4 * cycles) { try await cycle(host) }
        let after = Footprint()
        // Other tests' threads and files come and go; one that each cycle left behind would be a hundred times this.
        #expect(after.descriptors <= before.descriptors + 20)
        #expect(after.threads <= before.threads + 20)
        #expect(after.mappings <= before.mappings + 20)
        if !Sanitizer.isPresent { #expect(after.residentKilobytes <= before.residentKilobytes + 2048) }
        await host.close()
    }

    private func cycle(_ host: ConnectorHost) async throws {
        #expect(try await host.open("gate")["gate"]?.state == .open)
        try await host.close("gate")
    }
}

/// What the process has of the system at a moment.
private struct Footprint {
    var descriptors = 0
    var threads = 0
    var mappings = 0
    var residentKilobytes = 0

    init() {
        descriptors = Self.entries("/proc/self/fd")
        threads = Self.entries("/proc/self/task")
        mappings = systemLines("/proc/self/maps").count
        let resident = systemLines("/proc/self/status").first { $0.hasPrefix("VmRSS:") }
        residentKilobytes = resident?.split(separator: " ").compactMap { Int($0.trimmingPrefix("\t")) }.first ?? 0
    }

    private static func entries(_ path: String) -> Int {
        guard let directory = unsafe opendir(path) else { return 0 }
        defer { unsafe closedir(directory) }
        var count = 0
        while unsafe readdir(directory) != nil { count += 1 }
        return count
    }
}
