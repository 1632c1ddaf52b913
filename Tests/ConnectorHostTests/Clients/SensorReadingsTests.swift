// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorCapabilities
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorServices

/// The readings that a sensor's connector sends.
@Suite struct SensorReadingsTests {
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
