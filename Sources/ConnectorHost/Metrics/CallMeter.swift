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
    }

    /// Creates a meter without calls.
    ///
    /// - Parameter timers: The connector's timers; nil if there is no metrics system.
    init(_ operation: String, of path: String, _ timers: CallTimers?) {
        self.operation = operation
        self.path = path
        self.timers = timers
    }

    /// Counts a call that has ended.
    ///
    /// - Parameter code: The code of its error; nil for success.
    func record(_ nanoseconds: UInt64, _ code: ConnectorError.Code?) {
        let timer = state.withLock { state in
            guard let code else {
                if state.successes == nil { state.successes = Series(timer: timers?.make(attributes(nil))) }
                state.successes?.histogram.record(nanoseconds)
                return state.successes?.timer
            }
            let key = code.key(in: state.failures)
            if state.failures[key] == nil { state.failures[key] = Series(timer: timers?.make(attributes(key))) }
            state.failures[key]?.histogram.record(nanoseconds)
            return state.failures[key]?.timer
        }
        timer?.recordNanoseconds(nanoseconds)
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
