// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform

/// The operation table, threads and clock that all calls of a host share.
package struct CallEnvironment: Sendable {
    /// The pending asynchronous calls.
    package let operations: OperationTable
    /// The threads for plugin code that might block.
    package let workers: WorkerThreads
    /// The threads on which gates open, probe and close: one, and more while a plugin holds it.
    ///
    /// Several threads load images more slowly than one: they contend for the dynamic linker's lock, and every page
    /// that one maps interrupts the processors of the others.
    package let gateThreads: WorkerThreads
    /// The threads on which plugins are told of calls that were given up. No operation runs here, so operations that
    /// block every other thread cannot keep away the word that may free them.
    package let cancelThreads: WorkerThreads
    /// The source of the time.
    package let clock: any HostClock

    /// Combines the parts.
    package init(
        operations: OperationTable,
        workers: WorkerThreads,
        gateThreads: WorkerThreads,
        cancelThreads: WorkerThreads,
        clock: any HostClock
    ) {
        self.operations = operations
        self.workers = workers
        self.gateThreads = gateThreads
        self.cancelThreads = cancelThreads
        self.clock = clock
    }
}

extension CallEnvironment {
    /// Runs a phase of an instance's life on a thread that it may hold, until it completes or its deadline passes.
    ///
    /// - Parameters:
    ///   - overdue: What did not happen in time, asked at the deadline with the id of the operation.
    ///   - owner: The instance that may complete the operation.
    ///   - deadline: On the clock's monotonic time.
    ///   - onDeadline: Runs on the clock's thread after the operation was given up at its deadline; must not block.
    ///   - start: Runs on a worker thread with the id of the operation.
    package func run(
        overdue: @escaping @Sendable (UInt64) -> Overdue,
        owner: UInt64,
        by deadline: UInt64,
        onDeadline: @escaping @Sendable (UInt64) -> Void,
        _ start: @escaping @Sendable (UInt64) -> Void
    ) async -> OperationTable.Outcome {
        guard clock.prepare(), gateThreads.prepare() else { return .failure(Self.noThread) }
        guard let operation = operations.begin(owner: owner) else { return .failure(OperationTable.isFull) }
        let timer = giveUpAtDeadline(overdue, operation, owner: owner, deadline: deadline, onDeadline)
        gateThreads.run { TraceContext(operation: operation).run { start(operation) } }
        let outcome = await operations.awaitOutcome(of: operation)
        clock.cancel(timer)
        return outcome
    }

    /// The error of work whose deadline could not be kept. Trying it again needs timers, too.
    private static let noThread = ConnectorError(
        .failed,
        "the system cannot create a thread for timers",
        fix: "let the process have more threads: ulimit -u, or the limit of its container"
    )

    /// Schedules the call to be given up at its deadline, unless it is complete by then.
    package func giveUpAtDeadline(
        _ overdue: @escaping @Sendable (UInt64) -> Overdue,
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

    /// The deadline of work that starts now.
    package func deadline(after duration: Duration) -> UInt64 { deadline(after: duration.nanoseconds) }

    /// The deadline of work that starts now.
    package func deadline(after nanoseconds: UInt64) -> UInt64 { clock.deadline(after: nanoseconds) }
}

extension OperationTable {
    /// The calls of every host in this process; a late plugin thread finds the table even when its host is gone.
    package static let shared = OperationTable()

    /// The error for a call that finds the table full.
    package static var isFull: ConnectorError {
        ConnectorError(.unavailable, "\(capacity) calls are pending, and the host takes no more", isRetryable: true)
    }
}
