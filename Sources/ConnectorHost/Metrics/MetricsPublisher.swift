// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import CoreMetrics
internal import Synchronization

/// Publishes the host's metrics to the application's metrics system, every ten seconds and once at the end.
///
/// Calls therefore never wait for the metrics system, except to record the duration of a call by name: see
/// ``CallMeter``. Without a metrics system there is no publisher.
final class MetricsPublisher: Sendable {
    /// How often it publishes.
    static let interval: Duration = .seconds(10)

    private struct State {
        var timer: HostTimer?
        /// Reads every series; nil before the start.
        var read: (@Sendable () -> [MetricSample])?
        /// Whether it has stopped for good.
        var isStopped = false
    }

    /// One series in the metrics system.
    private struct Series {
        let instrument: Instrument
        /// Whether the instrument is marked as that of a simulated connector.
        let isSimulated: Bool
        /// The part of a count that was published, with or without the mark.
        var published: UInt64

        /// Publishes the present value; of a count, what it has grown by.
        mutating func publish(_ value: MetricSample.Value) {
            switch (instrument, value) {
            case (.counter(let counter), .count(let count)):
                if count > published { counter.increment(by: count - published) }
                published = count
            case (.meter(let meter), .count(let count)): meter.set(count)
            case (.meter(let meter), .number(let number)): meter.set(number)
            default: break
            }
        }
    }

    /// The metrics system's instrument of one series.
    private enum Instrument {
        case counter(CoreMetrics.Counter)
        case meter(CoreMetrics.Meter)

        /// Removes it from the metrics system.
        func destroy() {
            switch self {
            case .counter(let counter): counter.destroy()
            case .meter(let meter): meter.destroy()
            }
        }
    }

    private let factory: any MetricsFactory
    private let clock: any HostClock
    private let workers: WorkerThreads
    private let state = Mutex(State())
    /// The series that were published last, by metric and attributes without the mark of a simulation. Locked while
    /// publishing, so that no increment is published twice.
    private let series = Mutex<[String: Series]>([:])

    /// Creates a publisher; nil if there is no metrics system.
    ///
    /// - Parameter workers: The threads to publish on, since a metrics system may block.
    init?(_ metering: Metering, _ workers: WorkerThreads) {
        guard let factory = metering.factory else { return nil }
        self.factory = factory
        clock = metering.clock
        self.workers = workers
    }

    /// Starts publishing, until ``stop()``. Does nothing after the first start, and after the stop.
    ///
    /// - Parameter read: Reads every series.
    func start(_ read: @escaping @Sendable () -> [MetricSample]) {
        let isFirst = state.withLock { state in
            guard state.read == nil, !state.isStopped else { return false }
            state.read = read
            return true
        }
        if isFirst { schedule() }
    }

    /// Publishes one last time, leaves every instrument in place, and stops for good.
    func stop() {
        let timer = state.withLock { state in
            state.isStopped = true
            return state.timer.take()
        }
        if let timer { clock.cancel(timer) }
        publish(isLast: true)
    }

    private func schedule() {
        guard !state.withLock(\.isStopped) else { return }
        let timer = clock.schedule(after: Self.interval.nanoseconds) { [weak self] in
            guard let self else { return }
            self.workers.run { [weak self] in
                self?.publish()
                self?.schedule()
            }
        }
        let isWanted = state.withLock { state in
            if !state.isStopped { state.timer = timer }
            return !state.isStopped
        }
        if !isWanted { clock.cancel(timer) }
    }

    /// Publishes every series, and destroys the instruments of those that are gone: their last values would stay for ever.
    ///
    /// - Parameter isLast: Whether the host has closed, which leaves what it measured to the metrics system.
    private func publish(isLast: Bool = false) {
        guard let read = state.withLock(\.read) else { return }
        series.withLock { series in
            var published: [String: Series] = [:]
            // Call durations are forwarded individually.
            for sample in read() where sample.definition.kind != .histogram {
                let lasting = sample.attributes.filter { $0.name != MetricDefinition.simulatedAttribute }
                let key = lasting.reduce(sample.definition.name) { "\($0)\u{0}\($1.value)" }
                let isSimulated = lasting.count < sample.attributes.count
                var one = series.removeValue(forKey: key) ?? make(sample, isSimulated, published: sample.past)
                if one.isSimulated != isSimulated {
                    one.instrument.destroy()
                    one = make(sample, isSimulated, published: one.published)
                }
                one.publish(sample.value)
                published[key] = one
            }
            if !isLast { for gone in series.values { gone.instrument.destroy() } }
            series = published
        }
    }

    private func make(_ sample: MetricSample, _ isSimulated: Bool, published: UInt64) -> Series {
        let (name, attributes) = (sample.definition.name, sample.attributes.map { ($0.name, $0.value) })
        let instrument: Instrument =
            sample.definition.kind == .counter
            ? .counter(CoreMetrics.Counter(label: name, dimensions: attributes, factory: factory))
            : .meter(CoreMetrics.Meter(label: name, dimensions: attributes, factory: factory))
        return Series(instrument: instrument, isSimulated: isSimulated, published: published)
    }
}
