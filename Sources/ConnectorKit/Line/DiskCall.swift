// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The call that work on a ``DiskThread`` serves. Long work asks it from time to time whether to continue.
package final class DiskCall: Sendable {
    private let isCancelled = Atomic(false)
    /// In nanoseconds on the monotonic clock.
    private let deadline: UInt64
    private let clock: any ClockService
    private let subject: String

    /// The call that the current task serves.
    ///
    /// - Parameter subject: What the work is done on, such as `file`, for the error once the deadline has passed.
    package init(clock: any ClockService, on subject: String) {
        deadline = Deadline.current
        (self.clock, self.subject) = (clock, subject)
    }

    /// Ends the work the next time it asks. Any thread may call this, any number of times.
    package func cancel() {
        isCancelled.store(true, ordering: .relaxed)
    }

    /// Why the work must end; nil if it may continue.
    package var end: PluginError? {
        if isCancelled.load(ordering: .relaxed) { return PluginError(.cancelled, "the call was cancelled") }
        guard deadline < UInt64.max, clock.monotonic >= deadline else { return nil }
        return PluginError(.timedOut, "the work on the \(subject) took longer than the call's deadline allows")
    }
}
