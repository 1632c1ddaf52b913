// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import DequeModule
internal import Synchronization

/// The thread that owns the reading connection of an outbox's file.
///
/// Each piece of work runs in a separate transaction without a lock, and sees the state committed when it began. So readers and
/// writers do not wait for each other.
final class SQLiteReader: Sendable {
    private struct State: Sendable {
        var waiting = Deque<any TransactionWork>()
        var isClosing = false
    }

    private let monitor = Monitor(State())
    /// Completed when the file has been closed.
    private let ended = OneShot<Void>()
    private let watch: StatementWatch
    private let reading: ReadingConnection

    /// Starts the thread, which opens the file for the first piece of work.
    init(watch: StatementWatch, _ reading: ReadingConnection) throws(Database.Failure) {
        (self.watch, self.reading) = (watch, reading)
        let isStarted = HostThread.start("outbox reader") { [self] in
            while let work = next() { run(work) }
            reading.close()
            ended.send()
        }
        guard isStarted else { throw SQLiteThread.noThread }
    }

    /// Runs a body in a reading transaction, and returns its result.
    ///
    /// - Throws: A failure; its ``Database/Failure/file`` is the open file, if any.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (OutboxTables) throws(Database.Failure) -> Value
    ) async throws(Database.Failure) -> Value {
        let result: Result<Value, Database.Failure> = unsafe await withUnsafeContinuation { continuation in
            let work = unsafe AwaitedWork(isStable: false, body, continuation)
            let isOpen = monitor.withLock { state in
                if !state.isClosing { state.waiting.append(work) }
                return !state.isClosing
            }
            guard isOpen else { return work.end(SQLiteThread.closed) }
            monitor.signal()
        }
        return try result.get()
    }

    /// Finishes the queued work, closes the file, and returns. Work that exceeds the grace period is interrupted.
    func close() async {
        let isFirst = monitor.withLock { state in
            defer { state.isClosing = true }
            return !state.isClosing
        }
        if isFirst {
            watch.close()
            monitor.signal()
        }
        await ended.wait()
    }

    private func next() -> (any TransactionWork)? {
        monitor.wait { state in
            if let work = state.waiting.popFirst() { return .proceed(work) }
            return state.isClosing ? .proceed(nil) : .wait(until: nil)
        }
    }

    private func run(_ work: any TransactionWork) {
        do throws(Database.Failure) {
            try reading.read { tables throws(Database.Failure) in try work.run(tables) }
            work.end(nil)
        } catch {
            work.end(error)
        }
    }
}
