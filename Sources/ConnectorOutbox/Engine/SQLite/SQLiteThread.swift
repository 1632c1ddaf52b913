// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import ConnectorPlatform
internal import DequeModule

/// The thread that owns an outbox's file, and the queue of what it is to do.
///
/// Whatever waits when a transaction begins is part of it, so one synchronisation of the disk serves every caller that
/// came while the one before was under way (group commit). A caller goes on once its transaction is stable.
final class SQLiteThread: Sendable {
    /// Work inside a transaction. It returns what to do once the transaction has ended, well or not.
    private typealias Job = @Sendable (OutboxTables) throws(Database.Failure) -> @Sendable (Database.Failure?) -> Void

    private struct Waiting: Sendable {
        var job: Job
        /// Tells the caller that the work could not be done.
        var fail: @Sendable (Database.Failure) -> Void
    }

    private struct State: Sendable {
        var waiting = Deque<Waiting>()
        var isClosing = false
    }

    private let monitor = Monitor(State())
    /// Runs on the thread when the file turns out to be damaged; opens a new one.
    private let replace: @Sendable (Database.Failure) throws(Database.Failure) -> OutboxTables
    /// The most pieces of work in one transaction, so that the first of them does not wait for long.
    private static let limit = 1000

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - open: Opens the file, on the thread.
    ///   - replace: Sets a damaged file aside and opens a new one, on the thread.
    init(
        open: @escaping @Sendable () throws(Database.Failure) -> OutboxTables,
        replace: @escaping @Sendable (Database.Failure) throws(Database.Failure) -> OutboxTables
    ) async throws(Database.Failure) {
        self.replace = replace
        let opened: Result<Void, Database.Failure> = unsafe await withUnsafeContinuation { continuation in
            let isStarted = HostThread.start("outbox") { [self] in
                do throws(Database.Failure) {
                    let tables = try open()
                    unsafe continuation.resume(returning: .success(()))
                    work(tables)
                } catch {
                    unsafe continuation.resume(returning: .failure(error))
                }
            }
            if !isStarted {
                let failure = Database.Failure(code: 0, description: "the system has no thread to give")
                unsafe continuation.resume(returning: .failure(failure))
            }
        }
        try opened.get()
    }

    /// Does work in a transaction, and returns its result once the transaction is stable.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (OutboxTables) throws(Database.Failure) -> Value
    ) async throws(Database.Failure) -> Value {
        let result: Result<Value, Database.Failure> = unsafe await withUnsafeContinuation { continuation in
            let waiting = Waiting { tables throws(Database.Failure) in
                let value = try body(tables)
                return { failure in
                    unsafe continuation.resume(returning: failure.map { .failure($0) } ?? .success(value))
                }
            } fail: { failure in
                unsafe continuation.resume(returning: .failure(failure))
            }
            let isOpen = monitor.withLock { state in
                if !state.isClosing { state.waiting.append(waiting) }
                return !state.isClosing
            }
            if isOpen { monitor.signal() } else { waiting.fail(Self.closed) }
        }
        return try result.get()
    }

    /// Finishes what is queued and ends the thread, which closes the file.
    func close() async {
        unsafe await withUnsafeContinuation { continuation in
            let isFirst = monitor.withLock { state in
                guard !state.isClosing else { return false }
                let end = Waiting { _ in
                    { _ in unsafe continuation.resume() }
                } fail: { _ in
                    unsafe continuation.resume()
                }
                state.waiting.append(end)
                state.isClosing = true
                return true
            }
            if isFirst { monitor.signal() } else { unsafe continuation.resume() }
        }
    }

    private static let closed = Database.Failure(code: 0, description: "the outbox has closed")

    private func work(_ opened: OutboxTables) {
        var tables = opened
        while true {
            let group: [Waiting]? = monitor.wait { state in
                guard !state.waiting.isEmpty else { return state.isClosing ? .proceed(nil) : .wait(until: nil) }
                let group = Array(state.waiting.prefix(Self.limit))
                state.waiting.removeFirst(group.count)
                return .proceed(group)
            }
            guard let group else { return }
            commit(group, to: &tables)
        }
    }

    /// Does work in one transaction; if that fails, each piece in its own, so that nobody fails for another's fault.
    private func commit(_ group: [Waiting], to tables: inout OutboxTables, mayReplace: Bool = true) {
        do throws(Database.Failure) {
            var ends: [@Sendable (Database.Failure?) -> Void] = []
            ends.reserveCapacity(group.count)
            try tables.transaction { tables throws(Database.Failure) in
                for waiting in group { ends.append(try waiting.job(tables)) }
            }
            for end in ends { end(nil) }
        } catch {
            if error.isDamage, mayReplace, let replaced = try? replace(error) {
                tables = replaced
                return commit(group, to: &tables, mayReplace: false)
            }
            guard group.count > 1 else { return group.forEach { $0.fail(error) } }
            for waiting in group { commit([waiting], to: &tables, mayReplace: mayReplace) }
        }
    }
}
