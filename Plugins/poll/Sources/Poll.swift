// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Asks a server for one number at an interval.
///
/// The host's timer triggers each request, so no thread waits in between.
final class Poll: SensorPlugin {
    private let source: PolledSource
    private let interval: Duration
    private let host: Host
    private let history: Mutex<ReadingHistory>
    /// The task that asks while the gate is open.
    private let asking = Mutex<Task<Void, Never>?>(nil)

    init(configuration: PluginConfiguration, host: Host) throws {
        source = try PolledSource(configuration)
        interval = try configuration.duration("interval")
        guard interval >= .seconds(1) else {
            throw PluginError(.invalid, "interval must be at least 1s")
        }
        history = Mutex(ReadingHistory(capacity: Int(clamping: try configuration.integer("history"))))
        self.host = host
    }

    /// Asks once, and then at the interval.
    func open() async throws -> [Evidence] {
        let evidence = try await probe()
        let task = Task { await ask() }
        asking.withLock { state in
            state?.cancel()
            state = task
        }
        return evidence
    }

    /// Asks again.
    func probe() async throws -> [Evidence] {
        let reading = try await measure()
        return [.reachable("\(reading.sensor) is \(reading.value.map { "\($0)" } ?? "unknown") \(reading.unit)")]
    }

    /// Stops asking.
    func close() async {
        let task = asking.withLock { state in
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

    private func ask() async {
        var pause = interval
        while !Task.isCancelled {
            do throws(PluginError) {
                try await host.clock.sleep(for: pause)
                pause = interval
                _ = try await measure()
            } catch {
                // The gate is closing; any other failure leaves a reading of bad quality.
                guard error.status != .cancelled, error.status != .notOpen else { return }
                pause = max(interval, error.retryAfter ?? .zero)
                host.log.log(.warning, "the server told no number", ["reason": .string(error.message)])
            }
        }
    }

    /// Asks the server, keeps the reading, and announces it; without an answer, the reading has bad quality.
    private func measure() async throws(PluginError) -> SensorReading {
        do throws(PluginError) {
            let value = try await source.value(host)
            let reading = try source.reading(value, at: host.clock.now)
            try keep(reading)
            return reading
        } catch {
            if error.status != .cancelled, error.status != .notOpen {
                try keep(source.reading(nil, at: host.clock.now))
            }
            throw error
        }
    }

    private func keep(_ reading: SensorReading) throws(PluginError) {
        history.withLock { $0.append([reading]) }
        try host.events.emit([reading])
    }
}
