// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHTTPServer
import ConnectorInvocation
import ConnectorManifest
import ConnectorPlatform
import Synchronization
import Testing

@testable import ConnectorSimulator

/// What happens without a call.
@Suite struct SimulatedTimelineTests {
    private let clock = ManualHostClock()

    private func world(_ text: String) throws -> SimulatedWorld {
        try SimulatedWorld(parsing: Array(#"{"version": 1, \#(text)}"#.utf8), file: "a.json")
    }

    /// A simulator with one vendor, and the status that it answers to a request.
    private func vendor() throws -> (simulator: Simulator, status: (_ path: String) -> Int) {
        var options = SimulatorOptions()
        options.vendors = ["photon"]
        let simulator = try Simulator(options)
        return (
            simulator,
            { path in
                simulator.answer(SimulatedRequest("GET", path)).response.status
            }
        )
    }

    @Test func `a vendor answers 503 from second five for ten seconds, whatever faults a person adds`()
        throws
    {
        let (simulator, status) = try vendor()
        let timeline = SimulatedTimeline(
            try world(#""timeline": [{"at": "5s", "for": "10s", "fault": "status=503"}]"#),
            clock: clock,
            vendor: (simulator, "photon")
        ) { _, _ in }
        timeline.start()
        #expect(status("/status") == 200)
        clock.advance(by: .milliseconds(4999))
        #expect(status("/status") == 200)
        clock.advance(by: .milliseconds(1))
        #expect(status("/status") == 503)
        simulator.setFaults([try Fault("photon:status=500,times=1", vendors: ["photon"])])
        #expect(status("/status") == 500)
        simulator.setFaults([])
        #expect(status("/status") == 503)
        clock.advance(by: .seconds(10))
        #expect(status("/status") == 200)
        #expect(clock.timerCount == 0)
    }

    @Test func `a timeline's answers precede the vendor's while they last, by count, and other requests pass`() throws {
        let (simulator, status) = try vendor()
        let timeline = SimulatedTimeline(
            try world(
                #""timeline": [{"every": "10s", "for": "5s", "answers": [{"path": "/status", "times": 1, "status": 401}]}]"#
            ),
            clock: clock,
            vendor: (simulator, "photon")
        ) { _, _ in }
        timeline.start()
        for _ in 0..<3 {
            clock.advance(by: .seconds(10))
            #expect(status("/api?q=Berlin") == 200)
            #expect(status("/status") == 401)
            #expect(status("/status") == 200)
        }
        clock.advance(by: .seconds(15))
        #expect(status("/status") == 200)
        timeline.stop()
        #expect(clock.timerCount == 0)
    }

    @Test func `a timeline that nobody wants any more ends when an entry is due, and leaves no timer`() throws {
        let (simulator, status) = try vendor()
        let isWanted = Mutex(true)
        let timeline = SimulatedTimeline(
            try world(
                #""timeline": [{"every": "10s", "for": "15s", "answers": [{"path": "/status", "status": 401}]}]"#
            ),
            clock: clock,
            vendor: (simulator, "photon"),
            isWanted: { isWanted.withLock(\.self) }
        ) { _, _ in }
        timeline.start()
        clock.advance(by: .seconds(10))
        #expect(status("/status") == 401)
        isWanted.withLock { $0 = false }
        clock.advance(by: .seconds(10))
        #expect(status("/status") == 200)
        #expect(clock.timerCount == 0)
    }

    @Test func `two timelines of one vendor end only what they began`() throws {
        let (simulator, status) = try vendor()
        let short = SimulatedTimeline(
            try world(#""timeline": [{"at": "1s", "for": "1s", "fault": "status=500,times=1"}]"#),
            clock: clock,
            vendor: (simulator, "photon")
        ) { _, _ in }
        let long = SimulatedTimeline(
            try world(#""timeline": [{"at": "1s", "for": "3s", "fault": "status=503"}]"#),
            clock: clock,
            vendor: (simulator, "photon")
        ) { _, _ in }
        short.start()
        long.start()
        clock.advance(by: .seconds(1))
        #expect(status("/status") == 500)
        #expect(status("/status") == 503)
        clock.advance(by: .seconds(1))
        #expect(status("/status") == 503)
        clock.advance(by: .seconds(2))
        #expect(status("/status") == 200)
    }

    @Test(arguments: ["", #", "for": "4s""#])
    func `a timeline that ends ends its faults, answers and errors`(_ duration: String) throws {
        let (simulator, status) = try vendor()
        let world = try world(
            """
            "operations": [{"operation": "f", "result": 1}], "answers": [{"path": "/other", "status": 200}], "timeline": [
              {"at": "1s"\(duration), "fault": "path=/api,status=503"},
              {"at": "1s"\(duration), "answers": [{"path": "/status", "status": 401}]},
              {"at": "1s"\(duration), "operations": [{"operation": "f", "result": 2}]},
              {"at": "1s"\(duration), "error": {"code": "denied", "message": "no"}}]
            """
        )
        let operations = SimulatedOperations(world, clock: clock)
        let timeline = SimulatedTimeline(
            world,
            clock: clock,
            operations: operations,
            vendor: (simulator, "photon")
        ) { _, _ in }
        timeline.start()
        clock.advance(by: .seconds(2))
        #expect(status("/api?q=Berlin") == 503)
        #expect(status("/status") == 401)
        #expect(throws: ConnectorError.self) { try operations.answer("f", [:]).result.get() }
        timeline.stop()
        #expect(status("/status") == 200)
        #expect(status("/api?q=Berlin") == 200)
        #expect(try operations.answer("f", [:]).result.get() == 1)
        #expect(clock.timerCount == 0)
    }

    @Test func `an error ends in time even if nothing holds the timeline but its clock`() throws {
        let world = try world(
            #"""
            "operations": [{"operation": "f", "result": 1}],
            "timeline": [{"at": "1s", "for": "2s", "error": {"code": "denied", "message": "no"}}]
            """#
        )
        let operations = SimulatedOperations(world, clock: clock)
        SimulatedTimeline(world, clock: clock, operations: operations) { _, _ in }.start()
        clock.advance(by: .seconds(1))
        #expect(throws: ConnectorError.self) { try operations.answer("f", [:]).result.get() }
        clock.advance(by: .seconds(2))
        #expect(try operations.answer("f", [:]).result.get() == 1)
    }

    @Test func `an outage that begins again before it ended is one outage, and timers do not pile up`() throws {
        let world = try world(
            #""operations": [{"operation": "f"}], "timeline": [{"every": "1ms", "for": "1h", "error": {"code": "denied", "message": "${count}"}}]"#
        )
        let operations = SimulatedOperations(world, clock: clock)
        let timeline = SimulatedTimeline(world, clock: clock, operations: operations) { _, _ in }
        timeline.start()
        clock.advance(by: .seconds(10))
        let error = #expect(throws: ConnectorError.self) { try operations.answer("f", [:]).result.get() }
        #expect(error?.message == "10000")
        #expect(clock.timerCount == 2)
        timeline.stop()
        #expect(clock.timerCount == 0)
    }

    @Test func `answers of operations change while they last, and records change for good`() throws {
        let world = try world(
            #"""
            "operations": [
              {"operation": "door", "read": {"in": "state", "key": "door"}, "result": "${record}"}, {"operation": "door", "result": "open"}],
            "timeline": [
              {"at": "1s", "for": "2s", "operations": [{"operation": "door", "times": 1, "result": "stuck"}]},
              {"at": "2s", "keep": {"in": "state", "key": "door", "value": "shut ${count}"}},
              {"at": "4s", "remove": {"in": "state", "key": "door"}}]
            """#
        )
        let operations = SimulatedOperations(world, clock: clock)
        SimulatedTimeline(world, clock: clock, operations: operations) { _, _ in }.start()
        func door() throws -> JSONValue { try operations.answer("door", [:]).result.get() }
        #expect(try door() == "open")
        clock.advance(by: .seconds(1))
        #expect(try door() == "stuck")
        #expect(try door() == "open")
        clock.advance(by: .seconds(1))
        #expect(try door() == "shut 1")
        clock.advance(by: .seconds(2))
        #expect(try door() == "open")
    }

    @Test func `the answers of a timeline are those of the version that a call of their name reaches`() throws {
        let manifest = try Manifest(
            parsing: Array(
                #"""
                {"manifest": 1, "id": "m", "version": "1.0.0", "abi": [1, 1], "entry": "m", "capabilities": {
                  "m/1": {"f": {"symbol": "m_f", "signature": "() -> i64"}},
                  "m/2": {"f": {"symbol": "m_f_2", "signature": "() -> i64"}}}}
                """#.utf8
            )
        )
        let world = try world(
            #"""
            "operations": [{"operation": "f", "result": 1}, {"operation": "m/2/f", "result": 2}],
            "timeline": [
              {"at": "1s", "operations": [{"operation": "m/1/f", "result": 3}]}, {"at": "2s", "operations": [{"operation": "f", "result": 4}]}]
            """#
        )
        #expect(world.faults(with: manifest).isEmpty)
        let labelled = world.labelled(by: manifest)
        let operations = SimulatedOperations(labelled, clock: clock)
        SimulatedTimeline(labelled, clock: clock, operations: operations) { _, _ in }.start()
        func answers() throws -> [JSONValue] {
            try ["m/f", "m/2/f"].map { try operations.answer($0, [:]).result.get() }
        }
        #expect(try answers() == [1, 2])
        clock.advance(by: .seconds(1))
        #expect(try answers() == [3, 2])
        clock.advance(by: .seconds(1))
        #expect(try answers() == [4, 2])
    }

    @Test func `an entry that becomes too large over time is reported once, and the others go on`() throws {
        let zeros = String(repeating: "0,", count: 400_000) + "0"
        let world = try world(
            """
            "operations": [], "timeline": [
              {"every": "1s", "keep": {"in": "log", "key": "${count}", "value": [\(zeros)]}, "event": {"name": "kept"}}]
            """
        )
        let operations = SimulatedOperations(world, clock: clock)
        let lost = Mutex<[String]>([])
        let events = Mutex(0)
        let timeline = SimulatedTimeline(
            world,
            clock: clock,
            operations: operations,
            lost: { what in lost.withLock { $0.append(what) } },
            emit: { _, _ in events.withLock { $0 += 1 } }
        )
        timeline.start()
        clock.advance(by: .seconds(30))
        timeline.stop()
        #expect(
            lost.withLock(\.self) == [
                "timeline[0].keep of the simulation did not happen: the records of the simulation would have more than 64 MiB"
            ]
        )
        #expect(events.withLock(\.self) == 30)
    }

    @Test func `an hour of events passes in a moment, in order, and none follows the end`() throws {
        let world = try world(
            #""timeline": [{"at": "0s", "every": "1s", "event": {"name": "tick", "payload": {"n": "${count}", "at": "${time}"}}}]"#
        )
        let events = Mutex<[JSONValue]>([])
        let timeline = SimulatedTimeline(world, clock: clock) { name, payload in events.withLock { $0.append(payload) }
        }
        timeline.start()
        timeline.start()
        clock.advance(by: .seconds(3600))
        timeline.stop()
        clock.advance(by: .seconds(3600))
        let all = events.withLock(\.self)
        #expect(all.count == 3601)
        #expect(all.first?["n"] == 1 && all.last?["n"] == 3601)
        #expect(all.last?["at"] == "2026-01-01T01:00:00.000Z")
    }
}
