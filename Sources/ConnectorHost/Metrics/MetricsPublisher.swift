// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import CoreMetrics
internal import Synchronization

/// Publishes the host's metrics to the application's metrics system, every ten seconds and once at the end.
///
/// So calls never wait for the metrics system, except to record the duration of a call by name: see ``CallMeter``.
/// Without a metrics system there is no publisher.
final class MetricsPublisher: Sendable {
    /// How often it publishes.
    static let interval: Duration = .seconds(10)

    private struct State {
        var timer: HostTimer?
        var isRunning = false
        /// Reads every series; nil before the first start.
        var read: (@Sendable () -> [MetricSample])?
    }

    /// The metrics system's instrument of one series.
    private enum Instrument {
        case counter(CoreMetrics.Counter, published: UInt64)
        case meter(CoreMetrics.Meter)
    }

    private let factory: any MetricsFactory
    private let clock: any HostClock
    private let workers: WorkerThreads
    private let state = Mutex(State())
    /// Locked while publishing, so that no increment is published twice.
    private let instruments = Mutex<[String: Instrument]>([:])

    /// Creates a publisher; nil if there is no metrics system.
    ///
    /// - Parameter workers: The threads to publish on, since a metrics system may block.
    init?(_ metering: Metering, _ workers: WorkerThreads) {
        guard let factory = metering.factory else { return nil }
        self.factory = factory
        clock = metering.clock
        self.workers = workers
    }

    /// Starts publishing, until ``stop()``. May be called again.
    ///
    /// - Parameter read: Reads every series.
    func start(_ read: @escaping @Sendable () -> [MetricSample]) {
        let isFirst = state.withLock { state in
            defer { state.isRunning = true }
            state.read = read
            return !state.isRunning
        }
        if isFirst { schedule() }
    }

    /// Publishes one last time and stops.
    func stop() {
        let timer = state.withLock { state in
            state.isRunning = false
            return state.timer.take()
        }
        if let timer { clock.cancel(timer) }
        publish()
    }

    private func schedule() {
        let timer = clock.schedule(after: Self.interval.nanoseconds) { [weak self] in
            guard let self else { return }
            self.workers.run { [weak self] in
                self?.publish()
                self?.scheduleAgain()
            }
        }
        let isWanted = state.withLock { state in
            if state.isRunning { state.timer = timer }
            return state.isRunning
        }
        if !isWanted { clock.cancel(timer) }
    }

    private func scheduleAgain() {
        if state.withLock(\.isRunning) { schedule() }
    }

    private func publish() {
        guard let samples = state.withLock(\.read)?() else { return }
        instruments.withLock { instruments in
            for sample in samples { publish(sample, &instruments) }
        }
    }

    private func publish(_ sample: MetricSample, _ instruments: inout [String: Instrument]) {
        // Call durations are forwarded individually.
        guard sample.definition.kind != .histogram else { return }
        let key = sample.attributes.reduce(sample.definition.name) { "\($0)\u{0}\($1.value)" }
        let instrument = instruments[key] ?? make(sample)
        switch (instrument, sample.value) {
        case (.counter(let counter, let published), .count(let count)):
            if count > published { counter.increment(by: count - published) }
            instruments[key] = .counter(counter, published: count)
        case (.meter(let meter), .count(let count)):
            meter.set(count)
            instruments[key] = instrument
        case (.meter(let meter), .number(let number)):
            meter.set(number)
            instruments[key] = instrument
        default: break
        }
    }

    private func make(_ sample: MetricSample) -> Instrument {
        let (name, attributes) = (sample.definition.name, sample.attributes.map { ($0.name, $0.value) })
        return sample.definition.kind == .counter
            ? .counter(CoreMetrics.Counter(label: name, dimensions: attributes, factory: factory), published: 0)
            : .meter(CoreMetrics.Meter(label: name, dimensions: attributes, factory: factory))
    }
}
