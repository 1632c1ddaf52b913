// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Measures this machine at an interval: load, memory, disks and temperatures.
///
/// The host's timer triggers each measurement, so no thread waits in between.
final class SystemSensor: SensorPlugin {
    private let probes: SystemProbes
    private let interval: Duration
    private let host: Host
    private let history: Mutex<ReadingHistory>
    /// The task that measures while the gate is open.
    private let sampling = Mutex<Task<Void, Never>?>(nil)

    convenience init(configuration: PluginConfiguration, host: Host) throws {
        try self.init(configuration: configuration, host: host, root: "")
    }

    /// - Parameter root: The directory that contains `proc` and `sys`; tests pass another one.
    init(configuration: PluginConfiguration, host: Host, root: String) throws {
        interval = try configuration.duration("interval")
        guard interval >= .seconds(1) else {
            throw PluginError(.invalid, "the interval must be at least 1s")
        }
        guard let disks = configuration["disks"]?.array, disks.count <= 32,
            disks.allSatisfy({ $0.string?.utf8.first == UInt8(ascii: "/") && $0.string?.utf8.count ?? 0 <= 100 })
        else {
            throw PluginError(.invalid, "disks must be an array of at most 32 absolute paths of at most 100 bytes")
        }
        probes = SystemProbes(root: root, disks: disks.compactMap(\.string))
        history = Mutex(ReadingHistory(capacity: Int(clamping: try configuration.integer("history"))))
        self.host = host
    }

    /// Measures once, and then at the interval.
    func open() async throws -> [Evidence] {
        let evidence = try await probe()
        let task = Task { [self] in await sample() }
        sampling.withLock { state in
            state?.cancel()
            state = task
        }
        return evidence
    }

    /// Measures again.
    func probe() async throws -> [Evidence] {
        let readings = try measure()
        let good = readings.count { $0.quality == .good }
        guard good > 0 else { throw PluginError(.unavailable, "no sensor of this machine can be read") }
        return [.reachable("\(good) of \(readings.count) sensors were read")]
    }

    /// Stops measuring.
    func close() async {
        let task = sampling.withLock { state in
            defer { state = nil }
            return state
        }
        task?.cancel()
        await task?.value
    }

    func latest(of sensor: String?) async throws -> [SensorReading] {
        try history.withLock { history throws(PluginError) in
            guard let sensor else { return history.latest }
            return [try history.latest(of: sensor)]
        }
    }

    func range(_ range: SensorRange) async throws -> [SensorReading] {
        try history.withLock { history throws(PluginError) in try history.readings(in: range) }
    }

    private func sample() async {
        while !Task.isCancelled {
            do throws(PluginError) {
                try await host.clock.sleep(for: interval)
                _ = try measure()
            } catch {
                // The gate is closing, or the host refused an event; only the first ends the loop.
                guard error.status != .cancelled, error.status != .notOpen else { return }
                host.log.log(.warning, "a measurement was lost", ["reason": .string(error.message)])
            }
        }
    }

    /// Measures every sensor, and emits the readings.
    private func measure() throws(PluginError) -> [SensorReading] {
        let readings: [SensorReading]
        do throws(ConnectorError) {
            readings = try probes.readings(at: host.clock.now)
        } catch {
            throw PluginError(error)
        }
        history.withLock { $0.append(readings) }
        try host.events.emit(readings)
        return readings
    }
}
