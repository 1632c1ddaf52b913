// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import CoreMetrics
internal import Synchronization

/// Measures the calls of one operation of a connector.
///
/// It counts for everyone who reads, and passes each duration on to the application's metrics system, if it has one: that
/// takes no other values than single ones.
final class CallMeter: Sendable {
    /// The operation, as the metrics name it.
    let operation: String
    private let path: String
    private let factory: (any MetricsFactory)?
    private let series = Mutex<[ConnectorError.Code?: Series]>([:])

    /// The calls with one outcome.
    private struct Series {
        var histogram = DurationHistogram()
        var timer: CoreMetrics.Timer?
    }

    /// The most codes of errors that are told apart: more than the host has, and fewer than a manifest could invent.
    static let codeLimit = 64

    /// Begins with no calls.
    init(_ operation: String, of path: String, _ factory: (any MetricsFactory)?) {
        self.operation = operation
        self.path = path
        self.factory = factory
    }

    /// Counts a call that has ended.
    ///
    /// - Parameter code: The code of its error; nil for success.
    func record(_ nanoseconds: UInt64, _ code: ConnectorError.Code?) {
        let timer = series.withLock { series in
            let isKnown = series[code] != nil || series.count < Self.codeLimit || code == nil
            let code = isKnown ? code : ConnectorError.Code(rawValue: MetricDefinition.other)
            if series[code] == nil { series[code] = Series(timer: makeTimer(code)) }
            series[code]?.histogram.record(nanoseconds)
            return series[code]?.timer
        }
        timer?.recordNanoseconds(nanoseconds)
    }

    private func makeTimer(_ code: ConnectorError.Code?) -> CoreMetrics.Timer? {
        factory.map { factory in
            let definition = MetricDefinition.callDuration
            return CoreMetrics.Timer(label: definition.name, dimensions: attributes(code), factory: factory)
        }
    }

    private func attributes(_ code: ConnectorError.Code?) -> [(String, String)] {
        var attributes = [
            (MetricDefinition.pathAttribute, path), (MetricDefinition.operationAttribute, operation),
        ]
        if let code { attributes.append((MetricDefinition.errorAttribute, code.rawValue)) }
        return attributes
    }

    /// The calls so far, successes first.
    var samples: [MetricSample] {
        series.withLock(\.self).sorted { $0.key?.rawValue ?? "" < $1.key?.rawValue ?? "" }.map { code, series in
            MetricSample(.callDuration, attributes(code), .histogram(series.histogram))
        }
    }
}
