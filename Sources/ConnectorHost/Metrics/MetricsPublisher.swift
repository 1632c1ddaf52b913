// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import CoreMetrics
internal import Synchronization

/// Passes what the host counts to the metrics system that the application bootstrapped, every ten seconds and at the end.
///
/// A call therefore never waits for the metrics system, but for the duration of a call by name: see ``CallMeter``. Without
/// a metrics system there is no publisher.
final class MetricsPublisher: Sendable {
    /// How often it publishes.
    static let interval: Duration = .seconds(10)

    private struct State {
        var timer: HostTimer?
        var isRunning = false
        /// Reads every series; nil before the first start.
        var read: (@Sendable () -> [MetricSample])?
    }

    /// One series, as the metrics system knows it.
    private enum Instrument {
        case counter(CoreMetrics.Counter, published: UInt64)
        case meter(CoreMetrics.Meter)
    }

    private let factory: any MetricsFactory
    private let clock: any HostClock
    private let workers: WorkerThreads
    private let state = Mutex(State())
    /// Held while publishing, so that a change is not published twice.
    private let instruments = Mutex<[String: Instrument]>([:])

    /// Prepares a publisher; nil if there is no metrics system.
    ///
    /// - Parameter workers: Where it publishes: a metrics system may block.
    init?(_ metering: Metering, _ workers: WorkerThreads) {
        guard let factory = metering.factory else { return nil }
        self.factory = factory
        clock = metering.clock
        self.workers = workers
    }

    /// Publishes from now on, until ``stop()``. May be called again.
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

    /// Publishes a last time, and no more.
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
        // The durations of calls are passed on one by one.
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
