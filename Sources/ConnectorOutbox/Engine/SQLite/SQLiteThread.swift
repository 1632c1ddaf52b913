// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import ConnectorOneShot
internal import ConnectorPlatform
internal import DequeModule

/// The thread that owns an outbox's file, and the queue of what it is to do.
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

    private let monitor = Monitor(State())
    /// Sent when the file is closed.
    private let ended = OneShot<Void>()
    private let open: @Sendable () throws(Database.Failure) -> OutboxTables
    /// Sets a damaged file aside.
    private let setAside: @Sendable (Database.Failure) throws(Database.Failure) -> Void
    /// Writes what is in a file anew that was removed or replaced while it was open.
    private let restore: @Sendable (OutboxTables) throws(Database.Failure) -> Void
    /// The most pieces of work in one transaction, so that the first of them does not wait for long.
    private static let limit = 1000
    /// The fewest callers of a transaction that the next one waits for.
    private static let crowd = 8
    /// How long it waits for them, in nanoseconds: less than a synchronisation takes.
    private static let patience: UInt64 = 200_000

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - open: Opens the file, on the thread.
    ///   - setAside: Sets a damaged file aside, on the thread, once it is closed.
    ///   - restore: Writes what is in a file anew that was removed or replaced while it was open, on the thread.
    init(
        open: @escaping @Sendable () throws(Database.Failure) -> OutboxTables,
        setAside: @escaping @Sendable (Database.Failure) throws(Database.Failure) -> Void,
        restore: @escaping @Sendable (OutboxTables) throws(Database.Failure) -> Void
    ) async throws(Database.Failure) {
        (self.open, self.setAside, self.restore) = (open, setAside, restore)
        let opened: Result<Void, Database.Failure> = unsafe await withUnsafeContinuation { continuation in
            let isStarted = HostThread.start("outbox") { [self] in
                var tables: OutboxTables?
                do throws(Database.Failure) {
                    tables = try openSound()
                } catch {
                    return unsafe continuation.resume(returning: .failure(error))
                }
                unsafe continuation.resume(returning: .success(()))
                work(&tables)
                tables = nil
                ended.send()
            }
            if !isStarted {
                let failure = Database.Failure(code: 0, description: "the system has no thread to give")
                unsafe continuation.resume(returning: .failure(failure))
            }
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

    /// Finishes what is queued, makes it stable, and closes the file; returns once it is closed.
    func close() async {
        let isFirst = monitor.withLock { state in
            guard !state.isClosing else { return false }
            state.waiting.append(EmptyWork())
            state.isClosing = true
            return true
        }
        if isFirst { monitor.signal() }
        await ended.wait()
    }

    private static let closed = Database.Failure(code: 0, description: "the outbox has closed")

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
                while group.count > Self.limit, let last = group.popLast() { state.waiting.prepend(last) }
                return .proceed(group)
            }
            guard let group else { return }
            last = group.count
            commit(group, to: &tables)
        }
    }

    /// Opens the file, or a new one if it is damaged.
    private func openSound() throws(Database.Failure) -> OutboxTables {
        do throws(Database.Failure) {
            return try open()
        } catch {
            guard error.isDamage else { throw error }
            try setAside(error)
            return try open()
        }
    }

    /// Keeps what is in a file that was removed or replaced, unless it cannot be read.
    private func keep(_ moved: OutboxTables) throws(Database.Failure) {
        do throws(Database.Failure) {
            try restore(moved)
        } catch {
            guard !error.mayPass else { throw error }
        }
    }

    /// Does work in one transaction; if that fails, each piece in its own, so that nobody fails for another's fault.
    private func commit(_ group: Deque<any TransactionWork>, to tables: inout OutboxTables?, mayReplace: Bool = true) {
        do throws(Database.Failure) {
            if let moved = tables, !moved.database.isInPlace {
                try keep(moved)
                tables = nil
            }
            // The file is closed before its name is another's.
            if tables == nil { tables = try openSound() }
            let isStable = group.contains { $0.isStable }
            try tables?.transaction(isStable: isStable) { tables throws(Database.Failure) in
                for work in group { try work.run(tables) }
            }
            for work in group { work.end(nil) }
        } catch {
            // Opened anew, SQLite may find a log that it can read, or the damage.
            if error.isUnreadable { tables = nil }
            if error.isDamage, mayReplace {
                tables = nil
                if (try? setAside(error)) != nil { return commit(group, to: &tables, mayReplace: false) }
            }
            // Whoever holds the file holds it for each of them.
            guard group.count > 1, !error.isBusy else { return group.forEach { $0.end(error) } }
            for work in group { commit([work], to: &tables, mayReplace: mayReplace) }
        }
    }
}
