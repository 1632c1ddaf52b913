// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
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
    /// The source of the time.
    package let clock: any HostClock

    /// Combines the parts.
    package init(
        operations: OperationTable,
        workers: WorkerThreads,
        gateThreads: WorkerThreads,
        clock: any HostClock
    ) {
        self.operations = operations
        self.workers = workers
        self.gateThreads = gateThreads
        self.clock = clock
    }
}

extension CallEnvironment {
    /// Runs a phase of an instance's life on a thread that it may hold, until it completes or its deadline passes.
    ///
    /// - Parameters:
    ///   - overdue: What did not happen in time, asked at the deadline.
    ///   - owner: The instance that may complete the operation.
    ///   - deadline: On the clock's monotonic time.
    ///   - onDeadline: Runs on a worker thread after the operation was given up at its deadline.
    ///   - start: Runs on a worker thread with the id of the operation.
    package func run(
        overdue: @escaping @Sendable () -> Overdue,
        owner: UInt64,
        by deadline: UInt64,
        onDeadline: @escaping @Sendable (UInt64) -> Void,
        _ start: @escaping @Sendable (UInt64) -> Void
    ) async -> OperationTable.Outcome {
        guard let operation = operations.begin(owner: owner) else { return .failure(OperationTable.isFull) }
        let timer = giveUpAtDeadline(overdue, operation, owner: owner, deadline: deadline, onDeadline)
        gateThreads.run { start(operation) }
        let outcome = await operations.awaitOutcome(of: operation)
        clock.cancel(timer)
        return outcome
    }

    /// Schedules the call to be given up at its deadline, unless it is complete by then.
    package func giveUpAtDeadline(
        _ overdue: @escaping @Sendable () -> Overdue,
        _ operation: UInt64,
        owner: UInt64,
        deadline: UInt64,
        _ onDeadline: @escaping @Sendable (UInt64) -> Void
    ) -> HostTimer {
        let now = clock.now()
        let wait = deadline > now ? deadline - now : 0
        return clock.schedule(after: wait) { [operations, workers] in
            let error = overdue().error(after: wait)
            guard operations.giveUp(operation, owner: owner, error) else { return }
            // A plugin must not hold the clock's thread.
            workers.run { onDeadline(operation) }
        }
    }

    /// The deadline of work that starts now.
    package func deadline(after duration: Duration) -> UInt64 { deadline(after: duration.nanoseconds) }

    /// The deadline of work that starts now.
    package func deadline(after nanoseconds: UInt64) -> UInt64 { clock.deadline(after: nanoseconds) }
}

/// What did not happen before a deadline.
package struct Overdue: Sendable {
    /// The subject and the verb: `open did not complete`.
    package var what: String
    /// The remedy, if it is not the usual one.
    package var fix: String?

    /// The plugin has not completed an operation.
    package static func completion(of name: String) -> Overdue {
        Overdue(what: "\(name) did not complete")
    }

    /// A function of the plugin has not returned, and holds its thread.
    package static func returning(from function: String) -> Overdue {
        Overdue(
            what: "\(function) did not return",
            fix: "mend the plugin: it holds a thread of the host, and no function of a plugin may block"
        )
    }

    /// The error of whoever waited.
    ///
    /// - Parameter wait: In nanoseconds.
    package func error(after wait: UInt64) -> ConnectorError {
        let span = Duration.nanoseconds(Int64(clamping: wait)).brief
        return ConnectorError(.timedOut, "\(what) within \(span)", fix: fix, isRetryable: true)
    }
}

extension OperationTable {
    /// The calls of every host in this process; a late plugin thread finds the table even when its host is gone.
    package static let shared = OperationTable()

    /// The error for a call that finds the table full.
    package static var isFull: ConnectorError {
        ConnectorError(.unavailable, "\(capacity) calls are pending, and the host takes no more", isRetryable: true)
    }
}
