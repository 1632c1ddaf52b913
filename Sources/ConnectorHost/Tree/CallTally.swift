// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Logging
internal import Synchronization

/// Counts and times the calls of one connector across snapshots of the tree, and logs failures hidden from callers.
final class CallTally: Sendable {
    private struct Failures {
        var byCode: [ConnectorError.Code: UInt64] = [:]
        var last: ConnectorError?
    }

    private let total = Atomic<UInt64>(0)
    private let failures = Mutex(Failures())
    /// Whether the connector, or one below it, is simulated.
    let isSimulated: Bool
    /// Times the calls.
    let clock: any HostClock
    private let timers: CallTimers?
    private let meters = CallMeters()
    private let path: String
    private let logger: Logger
    private let onChange: @Sendable () -> Void

    /// Creates a tally of zero calls.
    ///
    /// - Parameters:
    ///   - path: The connector's path, for the log and the metrics.
    ///   - metering: The clock and the metrics system.
    ///   - isSimulated: Whether the connector, or one below it, is simulated.
    ///   - onChange: Called after each logged failure.
    init(
        _ path: String,
        _ metering: Metering,
        isSimulated: Bool = false,
        logger: Logger,
        onChange: @escaping @Sendable () -> Void
    ) {
        self.isSimulated = isSimulated
        self.path = path
        clock = metering.clock
        timers = CallTimers(isSimulated: isSimulated, metering.factory)
        self.logger = logger
        self.onChange = onChange
    }

    /// Counts a call: one relaxed addition.
    ///
    /// - Returns: The monotonic time, for ``end(_:of:since:)``.
    func begin() -> UInt64 {
        total.wrappingAdd(1, ordering: .relaxed)
        return clock.now()
    }

    /// Times a call that has ended.
    ///
    /// - Parameter error: Nil for success.
    /// - Returns: How long it took, in nanoseconds.
    @discardableResult
    func end(_ error: ConnectorError?, of meter: CallMeter, since start: UInt64) -> UInt64 {
        let now = clock.now()
        let duration = now - min(start, now)
        meter.record(duration, error?.code)
        return duration
    }

    /// The meter of an operation by a name that a caller has used before, which lives as long as the tally.
    @inline(__always)
    func meter(of operation: String) -> Unmanaged<CallMeter>? { unsafe meters[operation] }

    /// Adds a meter for a name that no caller has used before.
    ///
    /// - Parameters:
    ///   - operation: The name the caller used.
    ///   - label: The operation's name in metrics; nil if it is in no manifest.
    ///   - isPrompt: What to expect of the first call: see ``CallMeter/isPrompt``.
    func addMeter(of operation: String, label: String?, isPrompt: Bool = false) -> Unmanaged<CallMeter> {
        // Labels contain a slash, so none can be mistaken for the name of another operation.
        let shared = label ?? MetricDefinition.other
        let meter = unsafe meters.add(shared) {
            CallMeter(shared, of: path, timers, isPrompt: isPrompt)
        }
        return label == nil ? unsafe meter : unsafe meters.add(operation) { unsafe meter.takeUnretainedValue() }
    }

    /// Removes the timers of a connector that is gone from the application's metrics system.
    func retire() { timers?.destroy() }

    /// The metrics of the calls.
    var samples: [MetricSample] {
        meters.all.sorted { $0.operation < $1.operation }.flatMap(\.samples)
    }

    /// Counts a failed call, unless its caller cancelled it.
    ///
    /// - Parameter isHidden: Whether a composite may hide the failure from its caller. If so, the 1st, 10th, 100th…
    ///   failure of each code is logged, unless children below have already logged it. Codes beyond
    ///   ``ConnectorError/Code/countLimit`` count as one.
    func fail(_ error: ConnectorError, of operation: String, isHidden: Bool) {
        guard error.code != .cancelled else { return }
        let count = failures.withLock { failures in
            failures.last = error
            let code = error.code.key(in: failures.byCode)
            failures.byCode[code, default: 0] += 1
            return failures.byCode[code] ?? 1
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
