// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorOutbox
internal import Synchronization

/// A piece of work in a transaction of a ``SQLiteThread`` or a ``SQLiteReader``, and its awaiting caller.
protocol TransactionWork: AnyObject, Sendable {
    /// Whether the transaction must be on disk before the caller resumes.
    var isStable: Bool { get }

    /// Does the work, on the thread. Called again if the transaction failed because of another piece.
    func run(_ tables: OutboxTables) throws(Database.Failure)

    /// Reports the result on the thread, after the transaction was committed. Called once at most, before ``end(_:)``.
    func report()

    /// Resumes the caller after the transaction was committed or has failed. Called once.
    func end(_ failure: Database.Failure?)
}

/// Work whose caller awaits the result. One allocation per call, besides the closures.
@safe final class AwaitedWork<Value: Sendable>: TransactionWork {
    let isStable: Bool
    private let body: @Sendable (OutboxTables) throws(Database.Failure) -> Value
    /// Receives the value on the thread, after the transaction was committed and before any caller resumes.
    private let onCommit: (@Sendable (Value) -> Void)?
    private let caller: UnsafeContinuation<Result<Value, Database.Failure>, Never>
    private let value = Mutex<Value?>(nil)

    /// Creates work for a caller, which ``end(_:)`` resumes.
    @unsafe init(
        isStable: Bool,
        _ body: @escaping @Sendable (OutboxTables) throws(Database.Failure) -> Value,
        then onCommit: (@Sendable (Value) -> Void)? = nil,
        _ caller: UnsafeContinuation<Result<Value, Database.Failure>, Never>
    ) {
        self.isStable = isStable
        self.body = body
        self.onCommit = onCommit
        unsafe self.caller = caller
    }

    func run(_ tables: OutboxTables) throws(Database.Failure) {
        let made = try body(tables)
        value.withLock { $0 = made }
    }

    func report() {
        guard let onCommit, let value = value.withLock(\.self) else { return }
        onCommit(value)
    }

    func end(_ failure: Database.Failure?) {
        unsafe caller.resume(returning: Self.result(value.withLock(\.self), failure))
    }

    /// The result of work: its failure, or else its value.
    fileprivate static func result(_ value: Value?, _ failure: Database.Failure?) -> Result<Value, Database.Failure> {
        if let failure { return .failure(failure) }
        guard let value else {
            return .failure(Database.Failure(description: "the transaction ended without a result"))
        }
        return .success(value)
    }
}

/// Work that stores events. It is by far the most frequent, and not generic, because generic code looks up its types at run time.
@safe final class StoringWork: TransactionWork {
    let isStable = true
    private let events: [OutboxEvent]
    private let paths: [String]
    /// Receives the step on the thread, after the transaction was committed and before any caller resumes.
    private let onStored: @Sendable (OutboxStep) -> Void
    private let caller: UnsafeContinuation<Result<OutboxStep, Database.Failure>, Never>
    private let step = Mutex<OutboxStep?>(nil)

    /// Creates work for a caller, which ``end(_:)`` resumes.
    @unsafe init(
        _ events: [OutboxEvent],
        to paths: [String],
        then onStored: @escaping @Sendable (OutboxStep) -> Void,
        _ caller: UnsafeContinuation<Result<OutboxStep, Database.Failure>, Never>
    ) {
        (self.events, self.paths, self.onStored) = (events, paths, onStored)
        unsafe self.caller = caller
    }

    func run(_ tables: OutboxTables) throws(Database.Failure) {
        let made = OutboxStep(revision: tables.revision, isApplied: try tables.append(events, to: paths))
        step.withLock { $0 = made }
    }

    func report() {
        if let step = step.withLock(\.self) { onStored(step) }
    }

    func end(_ failure: Database.Failure?) {
        unsafe caller.resume(returning: AwaitedWork.result(step.withLock(\.self), failure))
    }
}

/// Empty work, whose transaction synchronizes all earlier ones.
final class EmptyWork: TransactionWork {
    let isStable = true

    func run(_ tables: OutboxTables) throws(Database.Failure) {}

    func report() {}

    func end(_ failure: Database.Failure?) {}
}
