// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import DequeModule

/// The thread that owns the connection that writes an outbox's file, and the queue of what it is to do.
///
/// Whatever waits when a transaction begins is part of it, so one synchronisation of the disk serves every caller that
/// came while the one before was under way (group commit). A caller goes on once its transaction is stable. After a
/// transaction of many callers the next one waits a moment for them to come back, rather than to begin with the first.
final class SQLiteThread: Sendable {
    private struct State: Sendable {
        var waiting = Deque<any TransactionWork>()
        /// How many are worth waiting for.
        var expected = 1
        var isClosing = false
    }

    /// What the thread does to the file itself; every function is called on the thread.
    struct File: Sendable {
        /// Opens the file, or what can be read of it if it is damaged.
        var open: @Sendable () throws(Database.Failure) -> OutboxTables
        /// Sets a file aside that turned out to be damaged once it was open, unless it was already.
        var recover: @Sendable (Database.Failure, FileID) throws(Database.Failure) -> Void
        /// Writes what is in a file to its place, from which it was removed while it was open.
        var restore: @Sendable (OutboxTables) throws(Database.Failure) -> Void
    }

    private let monitor = Monitor(State())
    /// Sent when the file is closed.
    private let ended = OneShot<Void>()
    private let file: File
    private let watch: StatementWatch
    /// The most pieces of work in one transaction, so that the first of them does not wait for long.
    private let limit: Int
    /// The fewest callers of a transaction that the next one waits for.
    private static let crowd = 8
    /// How long it waits for them, in nanoseconds: less than a synchronisation takes.
    private static let patience: UInt64 = 200_000
    /// How often a transaction is tried on another file, once its own is damaged or removed.
    private static let files = 2

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - limit: The most pieces of work in one transaction.
    ///   - watch: Limits the time of the connection that `file` opens, and closes when the task is cancelled.
    init(
        limit: Int = 1000,
        watch: StatementWatch,
        _ file: File
    ) async throws(Database.Failure) {
        (self.limit, self.watch, self.file) = (limit, watch, file)
        let opened: Result<Void, Database.Failure> = await withTaskCancellationHandler {
            unsafe await withUnsafeContinuation { continuation in
                let isStarted = HostThread.start("outbox") { [self] in
                    var tables: OutboxTables?
                    do throws(Database.Failure) {
                        tables = try self.file.open()
                    } catch {
                        return unsafe continuation.resume(returning: .failure(error))
                    }
                    unsafe continuation.resume(returning: .success(()))
                    work(&tables)
                    tables = nil
                    ended.send()
                }
                if !isStarted {
                    unsafe continuation.resume(returning: .failure(Self.noThread))
                }
            }
        } onCancel: {
            watch.close()
        }
        try opened.get()
    }

    /// Does work in a transaction, and returns its result once the transaction is committed.
    ///
    /// - Parameter isStable: Whether a loss of power may no longer undo it then.
    func perform<Value: Sendable>(
        isStable: Bool,
        _ body: @escaping @Sendable (OutboxTables) throws(Database.Failure) -> Value
    ) async throws(Database.Failure) -> Value {
        let result: Result<Value, Database.Failure> = unsafe await withUnsafeContinuation { continuation in
            let work = unsafe AwaitedWork(isStable: isStable, body, continuation)
            let (isOpen, isAwaited) = monitor.withLock { state in
                if !state.isClosing { state.waiting.append(work) }
                return (!state.isClosing, state.waiting.count == 1 || state.waiting.count >= state.expected)
            }
            guard isOpen else { return work.end(Self.closed) }
            if isAwaited { monitor.signal() }
        }
        return try result.get()
    }

    /// Finishes what is queued, makes it stable, and closes the file; returns once it is closed. What takes too long is interrupted.
    func close() async {
        let isFirst = monitor.withLock { state in
            guard !state.isClosing else { return false }
            state.waiting.append(EmptyWork())
            state.isClosing = true
            return true
        }
        if isFirst {
            watch.close()
            monitor.signal()
        }
        await ended.wait()
    }

    /// The failure of a call after the store has closed.
    static let closed = Database.Failure(description: "the outbox has closed")

    /// The failure of a store that cannot start.
    static let noThread = Database.Failure(description: "cannot create a thread")

    private func work(_ tables: inout OutboxTables?) {
        var last = 0
        while true {
            let expected = last < Self.crowd ? 1 : last
            let end = SystemTime.monotonic() + Self.patience
            let group: Deque<any TransactionWork>? = monitor.wait { state in
                state.expected = expected
                guard !state.waiting.isEmpty else { return state.isClosing ? .proceed(nil) : .wait(until: nil) }
                if state.waiting.count < expected, !state.isClosing, SystemTime.monotonic() < end {
                    return .wait(until: end)
                }
                var group = Deque<any TransactionWork>(minimumCapacity: state.waiting.count)
                swap(&group, &state.waiting)
                while group.count > limit, let last = group.popLast() { state.waiting.prepend(last) }
                return .proceed(group)
            }
            guard let group else { return }
            last = group.count
            commit(group, to: &tables)
        }
    }

    /// Does work in one transaction; if that fails, each piece in its own, so that none fails for another's fault.
    ///
    /// - Parameter files: How many more files may take the place of one that is damaged or removed.
    private func commit(_ group: Deque<any TransactionWork>, to tables: inout OutboxTables?, files: Int = files) {
        do throws(Database.Failure) {
            if tables == nil { tables = try file.open() }
            let isStable = group.contains { $0.isStable }
            try tables?.transaction(isStable: isStable) { tables throws(Database.Failure) in
                for work in group { try work.run(tables) }
            }
            for work in group { work.end(nil) }
        } catch {
            var failure = error
            if files > 0, failure.isMoved || failure.isDamage {
                do throws(Database.Failure) {
                    try replace(&tables, failure)
                    return commit(group, to: &tables, files: files - 1)
                } catch {
                    failure = error
                }
            }
            // Opened again, SQLite may find a log that it can read, or the damage.
            if failure.isUnreadable { tables = nil }
            // Another process holds the file, so each of them would fail, too.
            guard group.count > 1, !failure.isBusy else { return group.forEach { $0.end(failure) } }
            for work in group { commit([work], to: &tables, files: files) }
        }
    }

    /// Closes a file that is damaged or no longer in its place, so that another one is opened.
    private func replace(_ tables: inout OutboxTables?, _ failure: Database.Failure) throws(Database.Failure) {
        guard let open = tables else { throw failure }
        if failure.isMoved {
            do throws(Database.Failure) {
                try file.restore(open)
            } catch {
                // What cannot be read is lost with the file that was removed.
                guard !error.mayPass else { throw error }
            }
            // The file is closed before its name is another's.
            tables = nil
        } else {
            guard let identity = open.database.file else { throw failure }
            // Closed first: it takes its log along, which its name would not tell from another's.
            tables = nil
            try file.recover(failure, identity)
        }
    }
}
