// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import CoreMetrics
internal import Synchronization

/// Measures the calls of one operation of a connector.
///
/// It keeps a histogram for readers, and also forwards each duration to the application's metrics system, if any, which
/// accepts only individual values.
final class CallMeter: Sendable {
    /// The operation, as the metrics name it.
    let operation: String
    private let path: String
    private let timers: CallTimers?
    private let promptness: Atomic<Bool>
    private let state = Mutex(State())

    /// The calls by outcome. Successes are separate, so that the common case needs no lookup.
    private struct State {
        var successes: Series?
        var failures: [ConnectorError.Code: Series] = [:]
    }

    /// The calls with one outcome.
    private struct Series {
        var histogram = DurationHistogram()
        var timer: CoreMetrics.Timer?
        /// The durations to forward once there is a timer; nil if there is one, or none is to be made.
        var waiting: [UInt64]?

        /// Creates a series without calls.
        ///
        /// - Parameter isForwarded: Whether a timer will be made for it.
        init(isForwarded: Bool) {
            if isForwarded { waiting = [] }
        }

        /// Counts a call.
        ///
        /// - Returns: The timer to forward its duration to.
        mutating func record(_ nanoseconds: UInt64) -> CoreMetrics.Timer? {
            histogram.record(nanoseconds)
            waiting?.append(nanoseconds)
            return timer
        }

        /// Uses a timer from now on.
        ///
        /// - Returns: The durations to forward to it now.
        mutating func use(_ timer: CoreMetrics.Timer?) -> [UInt64] {
            self.timer = timer
            return waiting.take() ?? []
        }
    }

    /// Creates a meter without calls.
    ///
    /// - Parameters:
    ///   - timers: The connector's timers; nil if there is no metrics system.
    ///   - isPrompt: What to expect of the first call: see ``isPrompt``.
    init(_ operation: String, of path: String, _ timers: CallTimers?, isPrompt: Bool = false) {
        promptness = Atomic(isPrompt)
        self.operation = operation
        self.path = path
        self.timers = timers
    }

    /// Whether the next call of the operation is expected to run on its caller's thread, as a prepared call: as the manifest says at
    /// first, and then as the last call did.
    ///
    /// A reload, or a function that turns out slow, can make this wrong at any time. The instance that admits the call decides: a
    /// call that was expected to run elsewhere takes the other path, and corrects the expectation.
    var isPrompt: Bool {
        get { promptness.load(ordering: .relaxed) }
        set { promptness.store(newValue, ordering: .relaxed) }
    }

    /// Counts a call that has ended.
    ///
    /// - Parameter code: The code of its error; nil for success.
    func record(_ nanoseconds: UInt64, _ code: ConnectorError.Code?) {
        let (timer, isNew, key) = state.withLock { state -> (CoreMetrics.Timer?, Bool, ConnectorError.Code?) in
            guard let code else {
                let isNew = state.successes == nil
                if isNew { state.successes = Series(isForwarded: timers != nil) }
                return (state.successes?.record(nanoseconds), isNew, nil)
            }
            let key = code.key(in: state.failures)
            let isNew = state.failures[key] == nil
            if isNew { state.failures[key] = Series(isForwarded: timers != nil) }
            return (state.failures[key]?.record(nanoseconds), isNew, key)
        }
        timer?.recordNanoseconds(nanoseconds)
        if isNew, let timers { forward(key, to: timers) }
    }

    /// Makes the timer of a new series, and forwards to it the calls so far.
    ///
    /// Not under the lock: the metrics system is the application's code.
    private func forward(_ code: ConnectorError.Code?, to timers: CallTimers) {
        let timer = timers.make(attributes(code))
        let waiting = state.withLock { state -> [UInt64] in
            guard let code else { return state.successes?.use(timer) ?? [] }
            return state.failures[code]?.use(timer) ?? []
        }
        for nanoseconds in waiting { timer?.recordNanoseconds(nanoseconds) }
    }

    private func attributes(_ code: ConnectorError.Code?) -> [(String, String)] {
        var attributes = [
            (MetricDefinition.pathAttribute, path), (MetricDefinition.operationAttribute, operation),
        ]
        if let code { attributes.append((MetricDefinition.errorAttribute, code.rawValue)) }
        return attributes
    }

    /// The metrics so far, successes first.
    var samples: [MetricSample] {
        let (successes, failures) = state.withLock { ($0.successes, $0.failures) }
        let series: [(ConnectorError.Code?, Series)] =
            (successes.map { [(nil, $0)] } ?? [])
            + failures.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key, $0.value) }
        return series.map { code, series in
            MetricSample(.callDuration, attributes(code), .histogram(series.histogram))
        }
    }
}
