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

    /// What was published last.
    private struct Published {
        /// The series by metric and attributes without the mark of a simulation.
        var series: [String: Series] = [:]
        /// The counts that outlast their gates, by metric and path. A count stays here when its series goes, so that it carries on
        /// with the next one.
        var counts: [String: UInt64] = [:]

        /// Takes the part of a count that was published, or is from before this host, as that of its present path.
        mutating func takeCount(of sample: MetricSample) -> UInt64 {
            for (path, past) in sample.origins {
                guard let count = counts.removeValue(forKey: Self.key(sample, path)) ?? past else { continue }
                if case .count(let present) = sample.value { return min(count, present) }
            }
            return 0
        }

        /// Keeps a count that outlasts its gate.
        mutating func keepCount(of sample: MetricSample, _ count: UInt64) {
            if let path = sample.origins.first?.path { counts[Self.key(sample, path)] = count }
        }

        private static func key(_ sample: MetricSample, _ path: String) -> String {
            "\(sample.definition.name)\u{0}\(path)"
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
    /// Locked while publishing, so that no increment is published twice.
    private let published = Mutex(Published())

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

    /// Stops for good. Call it before the gates close: a pass under way then leaves every instrument in place.
    func stop() {
        let timer = state.withLock { state in
            state.isStopped = true
            return state.timer.take()
        }
        if let timer { clock.cancel(timer) }
    }

    /// Publishes one last time, and leaves every instrument in place. Call it after ``stop()``.
    func finish() { publish(isLast: true) }

    /// Whether it has stopped for good.
    private var isStopped: Bool { state.withLock(\.isStopped) }

    private func schedule() {
        guard !isStopped else { return }
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

    /// Publishes every series, and destroys the instruments of those that are gone: their last values would stay forever.
    ///
    /// A publisher that has stopped destroys none, which leaves what the host measured to the metrics system.
    ///
    /// - Parameter isLast: Whether to publish although the publisher has stopped.
    private func publish(isLast: Bool = false) {
        guard let read = state.withLock(\.read) else { return }
        published.withLock { published in
            guard isLast || !isStopped else { return }
            var present: [String: Series] = [:]
            // Call durations are forwarded individually.
            for sample in read() where sample.definition.kind != .histogram {
                let lasting = sample.attributes.filter { $0.name != MetricDefinition.simulatedAttribute }
                let key = lasting.reduce(sample.definition.name) { "\($0)\u{0}\($1.value)" }
                let isSimulated = lasting.count < sample.attributes.count
                var one =
                    published.series.removeValue(forKey: key)
                    ?? make(sample, isSimulated, published: published.takeCount(of: sample))
                if one.isSimulated != isSimulated {
                    one.instrument.destroy()
                    one = make(sample, isSimulated, published: one.published)
                }
                one.publish(sample.value)
                published.keepCount(of: sample, one.published)
                present[key] = one
            }
            if !isStopped { for gone in published.series.values { gone.instrument.destroy() } }
            published.series = present
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
