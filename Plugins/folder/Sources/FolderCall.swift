// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import Synchronization

/// One call of the host, which long work asks now and then whether to go on.
final class FolderCall: Sendable {
    private let isCancelled = Atomic(false)
    /// On the monotonic clock.
    private let deadline: UInt64
    private let clock: any ClockService

    /// The call that the current task serves.
    init(clock: any ClockService) {
        deadline = Deadline.current
        self.clock = clock
    }

    /// Ends the call's work. Any thread may call it, any number of times.
    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
    }

    /// Why the work must end; nil if it may go on.
    var end: PluginError? {
        if isCancelled.load(ordering: .relaxed) { return PluginError(.cancelled, "the call was cancelled") }
        guard deadline < UInt64.max, clock.monotonic >= deadline else { return nil }
        return PluginError(.timedOut, "the work on the disk took longer than the call's deadline allows")
    }
}
