// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Work inside a transaction of ``SQLiteThread``, with whoever waits for it.
protocol TransactionWork: AnyObject, Sendable {
    /// Whether its transaction must be on the disk before the caller goes on.
    var isStable: Bool { get }

    /// Does the work, on the thread. It does it again if the transaction failed for another's fault.
    func run(_ tables: OutboxTables) throws(Database.Failure)

    /// Lets the caller go on: the transaction has ended, well or not. Called once.
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
                .failure(Database.Failure(code: 0, description: "the work was not done"))
            }
        unsafe caller.resume(returning: result)
    }
}

/// Nothing, in a transaction that makes everything before it stable.
final class EmptyWork: TransactionWork {
    let isStable = true

    func run(_ tables: OutboxTables) throws(Database.Failure) {}

    func end(_ failure: Database.Failure?) {}
}
