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
    private let isSimulated: Bool
    private let factory: (any MetricsFactory)?
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

    /// The maximum number of distinct error codes: more than the host defines, but bounded because plugins can invent
    /// codes.
    static let codeLimit = 64

    /// Creates a meter without calls.
    ///
    /// - Parameter isSimulated: Whether the connector is simulated, which each duration sent to the metrics system says.
    init(_ operation: String, of path: String, isSimulated: Bool = false, _ factory: (any MetricsFactory)?) {
        self.operation = operation
        self.path = path
        self.isSimulated = isSimulated
        self.factory = factory
    }

    /// Counts a call that has ended.
    ///
    /// - Parameter code: The code of its error; nil for success.
    func record(_ nanoseconds: UInt64, _ code: ConnectorError.Code?) {
        let timer = state.withLock { state in
            guard let code else {
                if state.successes == nil { state.successes = Series(timer: makeTimer(nil)) }
                state.successes?.histogram.record(nanoseconds)
                return state.successes?.timer
            }
            let isKnown = state.failures[code] != nil || state.failures.count < Self.codeLimit
            let shown = isKnown ? code : ConnectorError.Code(rawValue: MetricDefinition.other)
            if state.failures[shown] == nil { state.failures[shown] = Series(timer: makeTimer(shown)) }
            state.failures[shown]?.histogram.record(nanoseconds)
            return state.failures[shown]?.timer
        }
        timer?.recordNanoseconds(nanoseconds)
    }

    private func makeTimer(_ code: ConnectorError.Code?) -> CoreMetrics.Timer? {
        factory.map { factory in
            let definition = MetricDefinition.callDuration
            let mark = isSimulated ? [(MetricDefinition.simulatedAttribute, "true")] : []
            return CoreMetrics.Timer(label: definition.name, dimensions: attributes(code) + mark, factory: factory)
        }
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
