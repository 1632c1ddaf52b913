// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Sensors as an application uses them, of the machine that runs the test.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer")
)
struct SensorClientTests {
    private let clock = ManualHostClock(now: .seconds(1), wallTime: Timestamp(nanoseconds: 1_800_000_000_000_000_000))

    private func host(_ isolation: String = "none") async throws -> ConnectorHost {
        let settings = #""isolation": "\#(isolation)", "probe": "off", "config": {"interval": "5s"}"#
        let host = try ConnectorHost.testing(
            #"[{"name": "system", "plugin": "system-sensor", \#(settings)}]"#,
            plugins: [try BuiltProducts.library("system-sensor")],
            clock: clock
        )
        try await host.open().requireReady()
        return host
    }

    @Test func `readings arrive at each interval, and are kept for queries of a range`() async throws {
        let host = try await host()
        let sensors = try host.sensor("system")
        let events = sensors.readings()
        let told = Journal<[SensorReading]>()
        let listening = Task {
            for try await readings in events { told.note(readings) }
        }
        while told.values.count < 2 {
            if clock.timerCount > 0 { clock.advance(by: .seconds(5)) }
            try await Task.checkedYield()
        }
        #expect(told.values.allSatisfy { $0.contains { $0.sensor == "load.1m" } && $0.allSatisfy { !$0.unit.isEmpty } })
        let range = try await sensors.range(SensorRange("load.1m"))
        let seconds = range.map { $0.time.nanoseconds / 1_000_000_000 }
        #expect(seconds.first == 1_800_000_000 && seconds.count >= 3)
        #expect(zip(seconds, seconds.dropFirst()).allSatisfy { $0 < $1 && ($1 - $0) % 5 == 0 })
        #expect(try await sensors.latest("load.1m").map(\.unit) == ["1"])
        await host.close()
        try await listening.value
    }

    @Test func `the adapter keeps the contract of its capability`() async throws {
        let host = try await host()
        let findings = try await SensorConformance.check(host.sensor("system"))
        #expect(findings == [])
        await host.close()
    }

    @Test func `in a runner, a disk is measured as it is, or not at all`() async throws {
        let host = try await host("process")
        let total = try #require(try await host.sensor("system").latest("disk.total:/").first)
        var space = statvfs()
        try #require(unsafe statvfs("/", &space) == 0)
        let expected = Double(space.f_blocks) * Double(space.f_frsize)
        #expect(total.quality == .bad ? total.value == nil : total.value == expected)
        await host.close()
    }

    @Test func `an unknown sensor is missing`() async throws {
        let host = try await host()
        let error = try await failure { () async throws(ConnectorError) in
            try await host.sensor("system").latest("nothing")
        }
        #expect(error.code == .missing)
        await host.close()
    }
}
