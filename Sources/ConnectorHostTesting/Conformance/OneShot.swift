// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorPlatform
internal import Synchronization

/// A value that arrives once, or not in time.
final class OneShot<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var isOver = false
        var waiter: CheckedContinuation<Value?, Never>?
    }

    private let state = Mutex(State())

    /// Delivers the value; later values are dropped.
    func resolve(_ value: Value?) {
        let waiter = state.withLock { state -> CheckedContinuation<Value?, Never>? in
            guard !state.isOver else { return nil }
            state.isOver = true
            state.value = value
            return state.waiter.take()
        }
        waiter?.resume(returning: value)
    }

    /// The value, or nil if it does not arrive in time. For one waiter.
    func value(within duration: Duration, _ clock: any HostClock) async -> Value? {
        let timer = clock.schedule(after: duration.wholeNanoseconds) { self.resolve(nil) }
        defer { clock.cancel(timer) }
        return await withCheckedContinuation { waiter in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiter = waiter }
                return state.isOver
            }
            if isOver { waiter.resume(returning: state.withLock(\.value)) }
        }
    }
}

extension Duration {
    /// The duration in nanoseconds, as the host's clocks count; never negative.
    var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, isOverflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return isOverflow ? .max : product.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000)).partialValue
    }
}
