// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Sensors as an application uses them, of the machine that runs the test.
@Suite(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
struct SensorClientTests {
    private let clock = ManualHostClock(now: .seconds(1), wallTime: Timestamp(nanoseconds: 1_800_000_000_000_000_000))

    private func host() async throws -> ConnectorHost {
        let host = try ConnectorHost.testing(
            #"[{"name": "system", "plugin": "system-sensor", "probe": "off", "config": {"interval": "5s"}}]"#,
            plugins: [try BuiltProducts.library("system-sensor")],
            clock: clock
        )
        try await host.open().requireReady()
        return host
    }

    @Test func `readings come at the interval, and stay for a range`() async throws {
        let host = try await host()
        let sensors = try host.sensor("system")
        let events = sensors.readings()
        let told = Journal<[SensorReading]>()
        let listening = Task {
            for try await readings in events { told.note(readings) }
        }
        while told.values.count < 2 {
            if clock.timerCount > 0 { clock.advance(by: .seconds(5)) }
            await Task.yield()
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

    @Test func `an unknown sensor is missing`() async throws {
        let host = try await host()
        let error = try await failure { () async throws(ConnectorError) in
            try await host.sensor("system").latest("nothing")
        }
        #expect(error.code == .missing)
        await host.close()
    }

    @Test func `a reading without a unit is the plugin's misbehaviour, and the next one is read`() async throws {
        let bus = EventBus()
        var readings = SensorReadings(bus.events()).makeAsyncIterator()
        let good = try SensorReading("t", 1, unit: "Cel", at: Timestamp(nanoseconds: 0))
        var bad = try #require(good.json.object)
        bad["unit"] = nil
        for payload in [[.object(bad)], [good.json]] as [JSONValue] {
            bus.publish(ConnectorEvent(connector: "a", name: SensorReading.event, payload: payload))
        }
        let error = await #expect(throws: ConnectorError.self) { try await readings.next(isolation: nil) }
        #expect(error?.code == .misbehaved && error?.message.contains("has no unit") == true)
        #expect(try await readings.next(isolation: nil) == [good])
    }
}
