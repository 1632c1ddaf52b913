// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform

/// The operation table, threads and clock shared by all calls of a host.
package struct CallDependencies: Sendable {
    /// The pending asynchronous calls.
    package let operations: OperationTable
    /// The threads for plugin code that might block.
    package let workers: WorkerThreads
    /// The threads on which gates open, probe and close: one, or more while a plugin blocks one.
    ///
    /// Several threads load images more slowly than one: they contend for the dynamic linker's lock, and each page that one maps
    /// interrupts the processors of the others.
    package let gateThreads: WorkerThreads
    /// The threads that notify plugins of given-up calls. No operation runs here, so operations that block all other threads
    /// cannot delay the cancellation that may unblock them.
    package let cancelThreads: WorkerThreads
    /// The clock for deadlines.
    package let clock: any HostClock
    /// How long after its deadline this process gives a call up, in nanoseconds: a runner's host does so at the deadline, and says why.
    package let grace: UInt64

    /// Creates the dependencies of a host's calls.
    package init(
        operations: OperationTable,
        workers: WorkerThreads,
        gateThreads: WorkerThreads,
        cancelThreads: WorkerThreads,
        clock: any HostClock,
        grace: UInt64 = 0
    ) {
        self.operations = operations
        self.workers = workers
        self.gateThreads = gateThreads
        self.cancelThreads = cancelThreads
        self.clock = clock
        self.grace = grace
    }
}

extension CallDependencies {
    /// Whether the clock is not the system's, so that another process does not have it.
    package var hasOwnClock: Bool { !(clock is SystemHostClock) }

    /// Runs a phase of an instance's life cycle on a gate thread, which it may block, and awaits its completion or its deadline.
    ///
    /// - Parameters:
    ///   - overdue: Describes what is late; called at the deadline with the operation's id.
    ///   - owner: The instance that may complete the operation.
    ///   - deadline: The deadline in monotonic time.
    ///   - onDeadline: Runs on the clock's thread once the operation was given up at its deadline; must not block.
    ///   - start: Starts the phase; runs on a gate thread with the operation's id.
    package func run(
        overdue: @escaping @Sendable (UInt64) -> MissedDeadline,
        owner: UInt64,
        by deadline: UInt64,
        onDeadline: @escaping @Sendable (UInt64) -> Void,
        _ start: @escaping @Sendable (UInt64) -> Void
    ) async -> OperationTable.Outcome {
        guard clock.prepare(), gateThreads.prepare() else { return .failure(Self.noThread) }
        guard let operation = operations.begin(owner: owner) else { return .failure(OperationTable.isFull) }
        let timer = giveUpAtDeadline(overdue, operation, owner: owner, deadline: deadline, onDeadline)
        gateThreads.run { TraceContext(operation: operation, deadline: deadline).run { start(operation) } }
        let outcome = await operations.awaitOutcome(of: operation)
        clock.cancel(timer)
        return outcome
    }

    /// The error if no thread can enforce the deadline. It is not retryable, because a retry needs timers, too.
    private static var noThread: ConnectorError {
        ConnectorError(
            .failed,
            "the system cannot create a thread for timers",
            fix: HostThread.remedy,
            cause: HostThread.refusal?.description
        )
    }

    /// Schedules a call to be given up at its deadline unless it has completed.
    package func giveUpAtDeadline(
        _ overdue: @escaping @Sendable (UInt64) -> MissedDeadline,
        _ operation: UInt64,
        owner: UInt64,
        deadline: UInt64,
        _ onDeadline: @escaping @Sendable (UInt64) -> Void
    ) -> HostTimer {
        let now = clock.now()
        let wait = deadline > now ? deadline - now : 0
        return clock.schedule(after: wait) { [operations] in
            let error = overdue(operation).error(after: wait)
            guard operations.giveUp(operation, owner: owner, error) else { return }
            onDeadline(operation)
        }
    }

    /// The deadline, in monotonic time, of a call that starts now.
    package func deadline(after duration: Duration) -> UInt64 { deadline(after: duration.nanoseconds) }

    /// The deadline, in monotonic time, of a call that starts now.
    package func deadline(after nanoseconds: UInt64) -> UInt64 { clock.deadline(after: nanoseconds) }
}

extension OperationTable {
    /// The calls of all hosts in this process; a late plugin thread finds the table even after its host is gone.
    package static let shared = OperationTable()

    /// The error of a call when the table is full.
    package static var isFull: ConnectorError {
        ConnectorError(.unavailable, "\(capacity) calls are pending, the maximum", isRetryable: true)
    }
}
