// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost

/// Checks, in a plugin author's tests, whether an open gate follows the contract of `sensor/1`.
///
/// ```swift
/// #expect(await SensorConformance.check(try host.sensor("system")).isEmpty)
/// ```
///
/// The models reject a reading without a unit, a time or a quality, so the suite reports such a reading, too.
public enum SensorConformance {
    /// Checks a gate that has measured at least once.
    ///
    /// - Parameter sensors: A client of one leaf with an open gate.
    /// - Returns: Every broken rule; empty if the plugin conforms.
    public static func check(_ sensors: SensorClient) async -> [PluginConformance.Finding] {
        var findings: [String] = []
        do throws(ConnectorError) {
            let latest = try await sensors.latest()
            if latest.isEmpty { findings.append("there is no reading") }
            if Set(latest.map(\.sensor)).count != latest.count { findings.append("latest names a sensor twice") }
            for reading in latest {
                let alone = try await sensors.latest(reading.sensor)
                if alone.map(\.sensor) != [reading.sensor] {
                    findings.append("latest of \(reading.sensor) has the readings of \(alone.map(\.sensor))")
                }
                let range = try await sensors.range(SensorRange(reading.sensor, from: reading.time))
                if !range.contains(reading) {
                    findings.append("the range from the time of the latest reading of \(reading.sensor) is without it")
                }
                if range != range.sorted(by: { $0.time < $1.time }) {
                    findings.append("the range of \(reading.sensor) is not in the order of time")
                }
                let newest = try await sensors.range(SensorRange(reading.sensor, limit: 1))
                if newest.count != 1 { findings.append("the range of one reading has \(newest.count)") }
            }
        } catch {
            findings.append("a call failed: \(error)")
        }
        do throws(ConnectorError) {
            _ = try await sensors.latest("no such sensor")
            findings.append("an unknown sensor has a reading")
        } catch {
            if error.code != .missing { findings.append("an unknown sensor is \(error.code), which must be missing") }
        }
        return findings.map { PluginConformance.Finding(.capability, $0) }
    }
}
