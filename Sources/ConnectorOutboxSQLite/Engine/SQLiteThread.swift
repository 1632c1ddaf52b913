// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox
internal import ConnectorPlatform
internal import DequeModule

/// The thread that owns the writing connection of an outbox's file, and its queue of work.
///
/// A transaction includes all work that is queued when it begins, so one synchronization of the disk serves every caller that
/// arrived during the previous one (group commit). A caller resumes once its transaction is committed. After a transaction of
/// many callers, the next one waits briefly for them to return, instead of starting with the first.
final class SQLiteThread: Sendable {
    private struct State: Sendable {
        var waiting = Deque<any TransactionWork>()
        /// The number of pieces of work to wait for.
        var expected = 1
        var isClosing = false
    }

    /// The operations on the file itself, each called on the thread.
    struct File: Sendable {
        /// Opens the file; salvages it first if it is damaged.
        var open: @Sendable () throws(Database.Failure) -> OutboxTables
        /// Replaces a file that was found to be damaged while it was open, unless it has already been replaced.
        var recover: @Sendable (Database.Failure, FileID) throws(Database.Failure) -> Void
        /// Writes the contents of an open file back to its path, from which it was removed; reports contents that cannot be read
        /// as lost.
        var restore: @Sendable (OutboxTables) throws(Database.Failure) -> Void
        /// Makes other connections leave the file before this one does, for the last time. It may wait for a reading to end.
        var end: @Sendable () -> Void = {}
    }

    private let monitor = Monitor(State())
    /// Completed when the file has been closed.
    private let ended = OneShot<Void>()
    private let file: File
    private let watch: StatementWatch
    /// The maximum number of pieces of work in one transaction, which bounds the wait of the first.
    private let limit: Int
    /// The minimum size of a group of callers that the next transaction waits for.
    private static let groupSize = 8
    /// The maximum wait for a group, in nanoseconds: less than a synchronization takes.
    private static let groupWait: UInt64 = 200_000
    /// How often a transaction is repeated on another file after its file was damaged or removed.
    private static let replacements = 2

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of pieces of work in one transaction.
    ///   - watch: The watch of the connection that `file` opens. It closes when the task is cancelled.
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
                    self.file.end()
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

    /// Runs a body in a transaction, and returns its result once the transaction is committed.
    ///
    /// - Parameters:
    ///   - isStable: Whether the transaction must survive a power failure.
    ///   - onCommit: Receives the result on this thread, before any caller of the transaction resumes; it must not block, since the
    ///     file's other callers wait.
    func perform<Value: Sendable>(
        isStable: Bool,
        _ body: @escaping @Sendable (OutboxTables) throws(Database.Failure) -> Value,
        then onCommit: (@Sendable (Value) -> Void)? = nil
    ) async throws(Database.Failure) -> Value {
        let result: Result<Value, Database.Failure> = unsafe await withUnsafeContinuation { continuation in
            submit(unsafe AwaitedWork(isStable: isStable, body, then: onCommit, continuation))
        }
        return try result.get()
    }

    /// Stores events, as ``OutboxTables/append(_:to:)`` does, and returns once they are stable.
    ///
    /// - Parameter onStored: As the last parameter of ``perform(isStable:_:then:)``.
    func store(
        _ events: [OutboxEvent],
        to paths: [String],
        then onStored: @escaping @Sendable (OutboxStep) -> Void
    ) async throws(Database.Failure) -> OutboxStep {
        let result: Result<OutboxStep, Database.Failure> = unsafe await withUnsafeContinuation { continuation in
            submit(unsafe StoringWork(events, to: paths, then: onStored, continuation))
        }
        return try result.get()
    }

    /// Queues work, and wakes the thread if it waits for no more than this.
    private func submit(_ work: any TransactionWork) {
        let (isOpen, isAwaited) = monitor.withLock { state in
            if !state.isClosing { state.waiting.append(work) }
            return (!state.isClosing, state.waiting.count == 1 || state.waiting.count >= state.expected)
        }
        guard isOpen else { return work.end(Self.closed) }
        if isAwaited { monitor.signal() }
    }

    /// Finishes the queued work, synchronizes it, closes the file, and returns. Work that exceeds the grace period is interrupted.
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

    /// The failure of a store whose thread cannot be created.
    static let noThread = Database.Failure(description: "cannot create a thread")

    private func work(_ tables: inout OutboxTables?) {
        var last = 0
        while true {
            let expected = last < Self.groupSize ? 1 : last
            let end = SystemTime.monotonic() + Self.groupWait
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

    /// Runs work in one transaction. If that fails, runs each piece in a separate one, so that a failing piece affects no other.
    ///
    /// - Parameter replacements: How many more times a damaged or removed file may be replaced.
    private func commit(
        _ group: Deque<any TransactionWork>,
        to tables: inout OutboxTables?,
        replacements: Int = replacements
    ) {
        do throws(Database.Failure) {
            if tables == nil { tables = try file.open() }
            let isStable = group.contains { $0.isStable }
            try tables?.transaction(isStable: isStable) { tables throws(Database.Failure) in
                for work in group { try work.run(tables) }
            }
            // Callers that resume send their next events, and would contend for the locks that reports take.
            for work in group { work.report() }
            for work in group { work.end(nil) }
        } catch {
            var failure = error
            let isMoved = failure.isMoved
            if replacements > 0, failure.isMoved || failure.isDamage {
                do throws(Database.Failure) {
                    try replace(&tables, failure)
                    return commit(group, to: &tables, replacements: replacements - 1)
                } catch {
                    failure = error
                }
            }
            // After opening the file again, SQLite may be able to read the log, or detect the damage. A removed file
            // stays open, since closing it would lose it.
            if failure.isUnreadable, tables?.database.isInPlace == true { tables = nil }
            // If another process has locked the file, or a removed one cannot be put back, each piece would also fail.
            guard group.count > 1, !failure.isBusy, !isMoved else { return group.forEach { $0.end(failure) } }
            for work in group { commit([work], to: &tables, replacements: replacements) }
        }
    }

    /// Closes and replaces a file that is damaged or no longer at its path, so that the next transaction opens another.
    private func replace(_ tables: inout OutboxTables?, _ failure: Database.Failure) throws(Database.Failure) {
        guard let open = tables else { throw failure }
        if failure.isMoved {
            try file.restore(open)
            // Close the file before another one is created at its path.
            tables = nil
        } else {
            guard let identity = open.database.file else { throw failure }
            // Close it first, since closing removes its log by name, which could be that of the new file later.
            tables = nil
            try file.recover(failure, identity)
        }
    }
}
