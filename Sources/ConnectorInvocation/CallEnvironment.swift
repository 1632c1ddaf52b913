// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
package import ConnectorPlatform

/// What the calls of all gates of a host share.
package struct CallEnvironment: Sendable {
    /// The asynchronous calls that are pending.
    package let operations: OperationTable
    /// Where plugin code runs that might block.
    package let workers: WorkerThreads
    /// Where gates open, are proved and close: one thread, and more while a plugin holds it.
    ///
    /// Several threads load images more slowly than one: they wait for the dynamic linker's lock, and every page that one maps
    /// interrupts the processors of the others.
    package let lifecycle: WorkerThreads
    /// The time.
    package let clock: any HostClock

    /// Takes what is given.
    package init(
        operations: OperationTable,
        workers: WorkerThreads,
        lifecycle: WorkerThreads,
        clock: any HostClock
    ) {
        self.operations = operations
        self.workers = workers
        self.lifecycle = lifecycle
        self.clock = clock
    }
}

extension CallEnvironment {
    /// Runs a step of an instance's life on a thread that it may hold: it ends with the plugin's completion or at its deadline.
    ///
    /// - Parameters:
    ///   - what: Named in the error of a deadline.
    ///   - owner: The instance that may complete it.
    ///   - deadline: On the clock's monotonic time.
    ///   - onDeadline: Runs on a worker thread after the deadline ended the call.
    ///   - start: Runs on a worker thread with the id of the operation.
    package func run(
        _ what: String,
        owner: UInt64,
        by deadline: UInt64,
        onDeadline: @escaping @Sendable (UInt64) -> Void,
        _ start: @escaping @Sendable (UInt64) -> Void
    ) async -> OperationTable.Outcome {
        guard let operation = operations.begin(owner: owner) else { return .failure(OperationTable.isFull) }
        let timer = expire(what, operation, owner: owner, deadline: deadline, onDeadline)
        lifecycle.run { start(operation) }
        let outcome = await operations.end(of: operation)
        clock.cancel(timer)
        return outcome
    }

    /// Ends a call at its deadline, unless it has ended before.
    package func expire(
        _ what: String,
        _ operation: UInt64,
        owner: UInt64,
        deadline: UInt64,
        _ onDeadline: @escaping @Sendable (UInt64) -> Void
    ) -> HostTimer {
        let now = clock.now()
        let wait = deadline > now ? deadline - now : 0
        return clock.schedule(after: wait) { [operations, workers] in
            let error = ConnectorError(
                .timedOut,
                "\(what) did not complete within \(Duration.nanoseconds(Int64(clamping: wait)).brief)",
                isRetryable: true
            )
            guard operations.giveUp(operation, owner: owner, error) else { return }
            // The clock's thread must not be held by a plugin.
            workers.run { onDeadline(operation) }
        }
    }

    /// When something that starts now has taken too long.
    package func deadline(after duration: Duration) -> UInt64 { deadline(after: duration.nanoseconds) }

    /// When something that starts now has taken too long.
    package func deadline(after nanoseconds: UInt64) -> UInt64 { clock.deadline(after: nanoseconds) }
}

extension OperationTable {
    /// The calls of every host in this process: a late thread of a plugin finds it, whatever became of its host.
    package static let shared = OperationTable()

    /// No further call fits.
    package static var isFull: ConnectorError {
        ConnectorError(.unavailable, "\(capacity) calls are pending; no more fit", isRetryable: true)
    }
}
