// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Polls a server for one number at an interval.
///
/// The host's timer triggers each request, so no thread waits in between.
final class Poll: SensorPlugin {
    private let source: PolledSource
    private let interval: Duration
    private let host: Host
    private let history: Mutex<ReadingHistory>
    /// The task that polls while the gate is open.
    private let polling = Mutex<Task<Void, Never>?>(nil)
    /// Whether that task waits for longer than the interval, because the server requests it.
    private let isHeldBack = Atomic(false)

    init(configuration: PluginConfiguration, host: Host) throws {
        source = try PolledSource(configuration)
        interval = try configuration.duration("interval")
        guard interval >= .seconds(1) else {
            throw PluginError(.invalid, "interval must be at least 1s")
        }
        history = Mutex(ReadingHistory(capacity: Int(clamping: try configuration.integer("history"))))
        self.host = host
    }

    /// Polls once, and then at the interval.
    func open() async throws -> [Evidence] {
        let evidence = try await probe()
        polling.withLock { state in
            state?.cancel()
            state = Task { await poll() }
        }
        return evidence
    }

    /// Polls once more. A number ends a wait that the server has requested.
    func probe() async throws -> [Evidence] {
        let reading = try await measure()
        if isHeldBack.exchange(false, ordering: .relaxed) {
            polling.withLock { state in
                // The gate may have closed.
                guard let task = state else { return }
                task.cancel()
                state = Task { await poll() }
            }
        }
        return [.reachable("\(reading.sensor) is \(reading.value.map { "\($0)" } ?? "unknown") \(reading.unit)")]
    }

    /// Stops polling.
    func close() async {
        let task = polling.withLock { state in
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

    private func poll() async {
        var pause = interval
        while !Task.isCancelled {
            do throws(PluginError) {
                try await host.clock.sleep(for: pause)
                isHeldBack.store(false, ordering: .relaxed)
                pause = interval
                _ = try await measure()
            } catch {
                // The gate is closing; any other failure leaves a reading of bad quality.
                guard error.status != .cancelled, error.status != .notOpen else { return }
                // A server whose clock is wrong may ask for a wait of years.
                pause = max(interval, min(error.retryAfter ?? .zero, .seconds(86_400)))
                isHeldBack.store(pause > interval, ordering: .relaxed)
                host.log.log(.warning, "the server gave no number", ["reason": .string(error.message)])
            }
        }
    }

    /// Polls the server, keeps the reading, and announces it; without an answer, the reading has bad quality.
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
