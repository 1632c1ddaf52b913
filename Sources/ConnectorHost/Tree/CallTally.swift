// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Logging
internal import Synchronization

/// Counts and times the calls of one connector across snapshots of the tree, and logs failures that callers never see.
final class CallTally: Sendable {
    private struct Failures {
        var byCode: [ConnectorError.Code: UInt64] = [:]
        var last: ConnectorError?
    }

    private let total = Atomic<UInt64>(0)
    private let failures = Mutex(Failures())
    private let metering: Metering
    /// The meters of the plugins' operations, by each name that a call used; bounded, since unknown names share one.
    private let meters = Mutex<[String: CallMeter]>([:])
    private let path: String
    private let logger: Logger
    private let onChange: @Sendable () -> Void

    /// Creates a tally of zero calls.
    ///
    /// - Parameters:
    ///   - path: The connector's path, for the log and the metrics.
    ///   - metering: The time, and where durations go.
    ///   - onChange: Called after every line of the log.
    init(_ path: String, _ metering: Metering, logger: Logger, onChange: @escaping @Sendable () -> Void) {
        self.path = path
        self.metering = metering
        self.logger = logger
        self.onChange = onChange
    }

    /// Counts a call: one relaxed addition.
    ///
    /// - Returns: The monotonic time, for ``end(_:of:since:)``.
    func begin() -> UInt64 {
        total.add(1, ordering: .relaxed)
        return metering.clock.now()
    }

    /// Times a call that has ended.
    ///
    /// - Parameter error: Nil for success.
    /// - Returns: How long it took, in nanoseconds.
    @discardableResult
    func end(_ error: ConnectorError?, of meter: CallMeter, since start: UInt64) -> UInt64 {
        let now = metering.clock.now()
        let duration = now - min(start, now)
        meter.record(duration, error?.code)
        return duration
    }

    /// The meter of an operation.
    ///
    /// - Parameters:
    ///   - operation: The name that the caller used.
    ///   - name: What the metrics call the operation; nil if no manifest names it. Asked once for each operation that
    ///     one does.
    func meter(of operation: String, _ name: () -> String?) -> CallMeter {
        if let known = meters.withLock({ $0[operation] }) { return known }
        let label = name()
        return meters.withLock { meters in
            // Labels hold a slash, so that none of them is mistaken for the name of another operation.
            let shared = label ?? MetricDefinition.other
            let meter = meters[shared] ?? CallMeter(shared, of: path, metering.factory)
            meters[shared] = meter
            if label != nil { meters[operation] = meter }
            return meter
        }
    }

    /// The metrics of the calls.
    var samples: [MetricSample] {
        let meters = meters.withLock { meters in meters.filter { $0.key == $0.value.operation } }
        return meters.sorted { $0.key < $1.key }.flatMap(\.value.samples)
    }

    /// Counts a call that failed, unless its caller cancelled it.
    ///
    /// - Parameter isHidden: Whether a composite may hide the failure from its caller. The log then gets the 1st, 10th,
    ///   100th… failure of each code, unless lines of single children below report it already.
    func fail(_ error: ConnectorError, of operation: String, isHidden: Bool) {
        guard error.code != .cancelled else { return }
        let count = failures.withLock { failures in
            failures.last = error
            failures.byCode[error.code, default: 0] += 1
            return failures.byCode[error.code] ?? 1
        }
        guard isHidden, error.outcomes.isEmpty, Self.isPowerOfTen(count) else { return }
        logger.warning(
            "call failed",
            metadata: [
                "connector": "\(path)", "operation": "\(operation)", "error": "\(error)", "failures": "\(count)",
            ]
        )
        onChange()
    }

    /// The counters so far; nil before the first call.
    var counters: CallCounters? {
        guard total.load(ordering: .relaxed) > 0 else { return nil }
        return failures.withLock { failures in
            CallCounters(
                total: total.load(ordering: .relaxed),
                failures: failures.byCode.values.reduce(0, +),
                lastFailure: failures.last
            )
        }
    }

    private static func isPowerOfTen(_ number: UInt64) -> Bool {
        var rest = number
        while rest > 1, rest.isMultiple(of: 10) { rest /= 10 }
        return rest == 1
    }
}
