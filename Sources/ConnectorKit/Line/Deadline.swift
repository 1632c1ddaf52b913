// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// The deadline of one call, which applies to everything that the call awaits.
///
/// A task that a call starts and leaves behind has no deadline once the call has ended; a detached task never has one.
package final class Deadline: Sendable {
    @TaskLocal private static var ofCall: Deadline?

    /// In nanoseconds; `UInt64.max` once the call has ended.
    private let end: Atomic<UInt64>

    private init(_ end: UInt64) {
        self.end = Atomic(end)
    }

    /// The deadline of the call that the current task serves, on the monotonic clock of `clock/1`; `UInt64.max` if there is none.
    package static var current: UInt64 { ofCall?.end.load(ordering: .relaxed) ?? .max }

    /// The earlier of ``current`` and the end of a timeout that begins now.
    static func after(_ timeout: Duration?, on clock: any ClockService) -> UInt64 {
        guard let timeout else { return current }
        let (end, overflow) = clock.monotonic.addingReportingOverflow(timeout.nanoseconds)
        return overflow ? current : min(end, current)
    }

    /// Makes a call with a deadline.
    package static func apply<Value>(_ end: UInt64, to call: () async throws -> Value) async rethrows -> Value {
        let deadline = Deadline(end)
        defer { deadline.end.store(.max, ordering: .relaxed) }
        return try await $ofCall.withValue(deadline, operation: call)
    }
}
