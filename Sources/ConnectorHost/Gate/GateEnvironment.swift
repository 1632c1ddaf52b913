// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Logging

/// What all gates of a host share.
struct GateEnvironment: Sendable {
    /// Turns files into images.
    let loader: PluginLoader
    /// The asynchronous calls that are pending.
    let operations: OperationTable
    /// Where plugin code runs that might block.
    let workers: WorkerThreads
    /// Where gates open, are proved and close: one thread, and more while a plugin holds it.
    ///
    /// Several threads load images more slowly than one: they wait for the dynamic linker's lock, and every page that one maps
    /// interrupts the processors of the others.
    let lifecycle: WorkerThreads
    /// HTTP, timers, events, storage.
    let services: HostServices
    /// The time.
    let clock: any HostClock
    /// Takes secrets out of texts.
    let redactor: Redactor
    /// Where the host itself writes.
    let logger: Logger
    /// Chooses a number between zero and its argument, in nanoseconds: the jitter of retries.
    let jitter: @Sendable (UInt64) -> UInt64
    /// Told after every change of a gate.
    let onChange: @Sendable () -> Void
}

extension GateEnvironment {
    /// Runs something of a plugin as a call that ends with its completion, at its deadline, or with an error of the start.
    ///
    /// - Parameters:
    ///   - what: Named in the error of a deadline.
    ///   - owner: The instance that may complete it.
    ///   - deadline: On the clock's monotonic time.
    ///   - start: Runs on a worker thread with the id of the operation.
    ///   - onDeadline: Runs on a worker thread after the deadline ended the call.
    func call(
        _ what: String,
        owner: UInt64,
        deadline: UInt64,
        _ start: @escaping @Sendable (UInt64) -> Void,
        onDeadline: @escaping @Sendable (UInt64) -> Void
    ) async -> OperationTable.Outcome {
        guard let operation = operations.begin(owner: owner) else {
            return .failure(ConnectorError(.unavailable, "\(OperationTable.capacity) calls are pending; no more fit"))
        }
        let timer = expire(what, operation, owner: owner, deadline: deadline, onDeadline)
        lifecycle.run { start(operation) }
        let outcome = await operations.end(of: operation)
        clock.cancel(timer)
        return outcome
    }

    /// Ends a call at its deadline, unless it has ended before.
    func expire(
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
    func deadline(after duration: Duration) -> UInt64 { deadline(after: duration.nanoseconds) }

    /// When something that starts now has taken too long.
    func deadline(after nanoseconds: UInt64) -> UInt64 { clock.deadline(after: nanoseconds) }
}
