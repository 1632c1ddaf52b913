// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorHost

/// How busy the connectors were: the last hour by seconds, and the last day by minutes.
///
/// A connector that nobody calls and that has no outbox costs nothing. Any other costs at most 145 KB, less for every minute in
/// which nothing happened; at most 256 connectors are followed.
package struct LoadHistory: Sendable {
    private var loads: [String: Load] = [:]

    /// The most connectors that are followed.
    package static let connectorLimit = 256

    /// Nothing seen yet.
    package init() {}

    /// How busy a connector was; nil if nobody called it and nothing waited for it.
    package subscript(path: String) -> Load? { loads[path] }

    /// Takes the numbers of a second.
    ///
    /// - Parameter durations: How long the calls of each connector took so far.
    package mutating func sample(_ report: Report, _ durations: [String: DurationHistogram]) {
        for gate in report.gates where gate.calls != nil || gate.outbox != nil || loads[gate.path] != nil {
            guard loads[gate.path] != nil || loads.count < Self.connectorLimit else { continue }
            loads[gate.path, default: Load()].add(gate, durations[gate.path])
        }
    }
}

/// How busy one connector was.
package struct Load: Sendable {
    /// The last hour.
    package private(set) var seconds = Ring(limit: 3600)
    /// The last day.
    package private(set) var minutes = Ring(limit: 1440)
    private var second = Counter()
    private var minute = Counter()

    /// The numbers of one second or minute.
    package struct Sample: Sendable, Hashable {
        /// How many calls began, each second.
        package var calls: Float = 0
        /// How many of them failed, each second.
        package var failures: Float = 0
        /// How long half of the calls took at most, in seconds; 0 if none ended.
        package var median: Float = 0
        /// How long nine of ten calls took at most, in seconds.
        package var most: Float = 0
        /// How long 99 of 100 calls took at most, in seconds.
        package var nearlyAll: Float = 0
        /// How many events waited at the end.
        package var waiting: Float = 0
    }

    /// What had been counted when a second or a minute began.
    private struct Counter {
        var calls: UInt64 = 0
        var failures: UInt64 = 0
        var durations = DurationHistogram()
        var elapsed = 0

        /// What happened since, and begins anew.
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
                sample.most = Float(ended.quantile(0.9) ?? 0)
                sample.nearlyAll = Float(ended.quantile(0.99) ?? 0)
                self.durations = durations
            }
            (self.calls, self.failures, elapsed) = (calls, failures, 0)
            return sample
        }
    }

    mutating func add(_ gate: GateReport, _ durations: DurationHistogram?) {
        if seconds.isEmpty {
            // What happened before somebody looked on belongs to no second.
            _ = second.take(gate, durations)
            _ = minute.take(gate, durations)
        }
        second.elapsed = 1
        minute.elapsed += 1
        seconds.append(second.take(gate, durations))
        if minute.elapsed == 60 { minutes.append(minute.take(gate, durations)) }
    }
}

/// The last numbers, in pieces of a minute or an hour each; a piece in which nothing happened is not there.
package struct Ring: Sendable {
    private let limit: Int
    private var chunks: [[Load.Sample]?] = []
    private var last: [Load.Sample] = []

    private static let size = 60

    /// Keeps at least so many numbers.
    init(limit: Int) {
        self.limit = limit
    }

    /// Whether there is none.
    package var isEmpty: Bool { chunks.isEmpty && last.isEmpty }

    /// How many numbers are held in memory.
    package var held: Int { chunks.reduce(last.count) { $0 + ($1?.count ?? 0) } }

    /// The numbers, oldest first.
    package var samples: [Load.Sample] {
        let idle = [Load.Sample](repeating: Load.Sample(), count: Self.size)
        return (chunks.flatMap { $0 ?? idle } + last).suffix(limit)
    }

    mutating func append(_ sample: Load.Sample) {
        last.append(sample)
        guard last.count == Self.size else { return }
        chunks.append(last.allSatisfy { $0 == Load.Sample() } ? nil : last)
        last = []
        // The oldest piece is used up bit by bit, so there is one more.
        if chunks.count > limit / Self.size { chunks.removeFirst() }
    }
}
