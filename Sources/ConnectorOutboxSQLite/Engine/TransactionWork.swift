// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A piece of work in a transaction of a ``SQLiteThread`` or a ``SQLiteReader``, and its awaiting caller.
protocol TransactionWork: AnyObject, Sendable {
    /// Whether the transaction must be on disk before the caller resumes.
    var isStable: Bool { get }

    /// Does the work, on the thread. Called again if the transaction failed because of another piece.
    func run(_ tables: OutboxTables) throws(Database.Failure)

    /// Resumes the caller after the transaction was committed or has failed. Called once.
    func end(_ failure: Database.Failure?)
}

/// Work whose caller awaits the result. One allocation per call, besides the closures.
@safe final class AwaitedWork<Value: Sendable>: TransactionWork {
    let isStable: Bool
    private let body: @Sendable (OutboxTables) throws(Database.Failure) -> Value
    /// Receives the value on the thread, after the transaction was committed and before the caller resumes.
    private let onEnd: (@Sendable (Value) -> Void)?
    private let caller: UnsafeContinuation<Result<Value, Database.Failure>, Never>
    private let value = Mutex<Value?>(nil)

    /// Creates work for a caller, which ``end(_:)`` resumes.
    @unsafe init(
        isStable: Bool,
        _ body: @escaping @Sendable (OutboxTables) throws(Database.Failure) -> Value,
        then onEnd: (@Sendable (Value) -> Void)? = nil,
        _ caller: UnsafeContinuation<Result<Value, Database.Failure>, Never>
    ) {
        self.isStable = isStable
        self.body = body
        self.onEnd = onEnd
        unsafe self.caller = caller
    }

    func run(_ tables: OutboxTables) throws(Database.Failure) {
        let made = try body(tables)
        value.withLock { $0 = made }
    }

    func end(_ failure: Database.Failure?) {
        let result: Result<Value, Database.Failure> =
            if let failure {
                .failure(failure)
            } else if let value = value.withLock(\.self) {
                .success(value)
            } else {
                .failure(Database.Failure(description: "the transaction ended without a result"))
            }
        if case .success(let value) = result { onEnd?(value) }
        unsafe caller.resume(returning: result)
    }
}

/// Empty work, whose transaction synchronizes all earlier ones.
final class EmptyWork: TransactionWork {
    let isStable = true

    func run(_ tables: OutboxTables) throws(Database.Failure) {}

    func end(_ failure: Database.Failure?) {}
}
