// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Work inside a transaction of a ``SQLiteThread`` or a ``SQLiteReader``, with the caller that waits for it.
protocol TransactionWork: AnyObject, Sendable {
    /// Whether its transaction must be on the disk before the caller goes on.
    var isStable: Bool { get }

    /// Does the work, on the thread, and once more if the transaction failed for the fault of another piece.
    func run(_ tables: OutboxTables) throws(Database.Failure)

    /// Resumes the caller after the transaction was committed or failed. Called once.
    func end(_ failure: Database.Failure?)
}

/// Work whose caller awaits its result: one object for each event that is stored, and no closure beside its body.
@safe final class AwaitedWork<Value: Sendable>: TransactionWork {
    let isStable: Bool
    private let body: @Sendable (OutboxTables) throws(Database.Failure) -> Value
    private let caller: UnsafeContinuation<Result<Value, Database.Failure>, Never>
    private let value = Mutex<Value?>(nil)

    /// Takes the work, and the caller, which ``end(_:)`` resumes.
    @unsafe init(
        isStable: Bool,
        _ body: @escaping @Sendable (OutboxTables) throws(Database.Failure) -> Value,
        _ caller: UnsafeContinuation<Result<Value, Database.Failure>, Never>
    ) {
        self.isStable = isStable
        self.body = body
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
                .failure(Database.Failure(description: "the work was not done"))
            }
        unsafe caller.resume(returning: result)
    }
}

/// Empty work: its transaction makes all earlier ones stable.
final class EmptyWork: TransactionWork {
    let isStable = true

    func run(_ tables: OutboxTables) throws(Database.Failure) {}

    func end(_ failure: Database.Failure?) {}
}
