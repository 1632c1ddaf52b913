// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorHost

/// The load of the connectors: the last hour by the second, and the last day by the minute.
///
/// A connector without calls and without an outbox takes no memory. Every other one takes at most 145 KB, less for each idle
/// minute. At most 256 connectors are followed; one that a reload removes makes room for another.
package struct LoadHistory: Sendable {
    private var loads: [String: Load] = [:]
    /// How many seconds have been sampled so far.
    private var seconds = 0

    /// The maximum number of connectors followed.
    package static let connectorLimit = 256

    /// Creates an empty history.
    package init() {}

    /// The load of a connector; nil if it was never called and never had an event.
    package subscript(path: String) -> Load? { loads[path] }

    /// Adds the load since the last sample.
    ///
    /// A connector whose first call comes later starts with idle samples for the time until then, so its charts reach back as
    /// far as those of the others.
    ///
    /// - Parameters:
    ///   - durations: The durations of each connector's calls so far, by path.
    ///   - elapsed: The seconds since the last sample, at least 1. A machine that was asleep or busy takes fewer samples; each
    ///     is then spread over the seconds that it covers, so the time axis stays correct.
    package mutating func sample(
        _ report: Report,
        _ durations: [String: DurationHistogram],
        after elapsed: Int = 1
    ) {
        let elapsed = min(max(1, elapsed), Load.longest)
        let paths = Set(report.gates.map(\.path))
        for path in loads.keys where !paths.contains(path) { loads[path] = nil }
        for gate in report.gates where gate.calls != nil || gate.outbox != nil || loads[gate.path] != nil {
            guard loads[gate.path] != nil || loads.count < Self.connectorLimit else { continue }
            // Calls made before the first sample are not counted.
            let isNew = loads[gate.path] == nil
            if isNew { loads[gate.path] = seconds == 0 ? Load(gate, durations[gate.path]) : Load(idleFor: seconds) }
            loads[gate.path]?.add(gate, durations[gate.path], after: elapsed)
        }
        seconds = min(seconds + elapsed, Load.longest)
    }
}

/// The load of one connector.
package struct Load: Sendable {
    /// The last hour, one sample a second.
    package private(set) var seconds = Ring(limit: 3600)
    /// The last day, one sample a minute.
    package private(set) var minutes = Ring(limit: 1440)
    private var second = Counter()
    private var minute = Counter()

    /// The numbers of one second or minute.
    package struct Sample: Sendable, Hashable {
        /// Calls begun per second.
        package var calls: Float = 0
        /// Calls failed per second.
        package var failures: Float = 0
        /// The median duration of calls, in seconds; 0 if none ended.
        package var median: Float = 0
        /// The 90th percentile of the durations, in seconds.
        package var p90: Float = 0
        /// The 99th percentile of the durations, in seconds.
        package var p99: Float = 0
        /// Events waiting at the end of the second or minute.
        package var waiting: Float = 0
    }

    /// The longest time kept, in seconds: a day.
    static let longest = 86_400

    /// Starts counting now; earlier calls are not counted.
    init(_ gate: GateReport, _ durations: DurationHistogram?) {
        _ = second.take(gate, durations)
        _ = minute.take(gate, durations)
    }

    /// Starts with `count` idle seconds.
    init(idleFor count: Int) {
        for _ in 0..<min(count, 3600) { seconds.append(Sample()) }
        for _ in 0..<(count / 60) { minutes.append(Sample()) }
        minute.elapsed = count % 60
    }

    /// The counts at the start of a second or a minute.
    private struct Counter {
        var calls: UInt64 = 0
        var failures: UInt64 = 0
        var durations = DurationHistogram()
        var elapsed = 0

        /// Returns the sample since the last call, and restarts counting.
        mutating func take(_ gate: GateReport, _ durations: DurationHistogram?) -> Sample {
            let (calls, failures) = (gate.calls?.total ?? 0, gate.calls?.failures ?? 0)
            let seconds = Float(max(1, elapsed))
            var sample = Sample()
            sample.calls = Float(calls - min(self.calls, calls)) / seconds
            sample.failures = Float(failures - min(self.failures, failures)) / seconds
            sample.waiting = Float(gate.outbox?.queued ?? 0)
            if let durations {
                let ended = durations.since(self.durations)
                sample.median = Float(ended.quantile(0.5) ?? 0)
                sample.p90 = Float(ended.quantile(0.9) ?? 0)
                sample.p99 = Float(ended.quantile(0.99) ?? 0)
                self.durations = durations
            }
            (self.calls, self.failures, elapsed) = (calls, failures, 0)
            return sample
        }
    }

    mutating func add(_ gate: GateReport, _ durations: DurationHistogram?, after count: Int) {
        second.elapsed = count
        let sample = second.take(gate, durations)
        for _ in 0..<min(count, 3600) { seconds.append(sample) }
        minute.elapsed += count
        guard minute.elapsed >= 60 else { return }
        let (whole, rest) = minute.elapsed.quotientAndRemainder(dividingBy: 60)
        let average = minute.take(gate, durations)
        for _ in 0..<whole { minutes.append(average) }
        minute.elapsed = rest
    }
}

/// The most recent samples, in chunks of 60; an idle chunk takes no memory.
package struct Ring: Sendable {
    private let limit: Int
    private var chunks: [[Load.Sample]?] = []
    private var last: [Load.Sample] = []

    private static let size = 60

    /// Keeps at least `limit` samples.
    init(limit: Int) {
        self.limit = limit
    }

    /// How many samples are held in memory.
    package var held: Int { chunks.reduce(last.count) { $0 + ($1?.count ?? 0) } }

    /// The samples, oldest first.
    package var samples: [Load.Sample] {
        let idle = [Load.Sample](repeating: Load.Sample(), count: Self.size)
        return (chunks.flatMap { $0 ?? idle } + last).suffix(limit)
    }

    mutating func append(_ sample: Load.Sample) {
        last.append(sample)
        guard last.count == Self.size else { return }
        chunks.append(last.allSatisfy { $0 == Load.Sample() } ? nil : last)
        last = []
        // Keeps one chunk more than the limit needs, because samples expire one by one.
        if chunks.count > limit / Self.size { chunks.removeFirst() }
    }
}
