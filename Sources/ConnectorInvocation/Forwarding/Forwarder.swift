// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

/// Carries the calls of C functions to an instance elsewhere.
final class Forwarder: Sendable {
    /// Calls an operation by its name, and awaits the answer until a deadline in monotonic time.
    typealias Call =
        @Sendable (_ name: String, CallArguments, CallOptions, UInt64) async throws(ConnectorError) -> CallResult

    /// Makes a call while its thread waits.
    ///
    /// - Returns: The status of the function; nil if the call has to be made by name.
    typealias Exchange = @Sendable (ForwardedCall) throws(ConnectorError) -> Int32?

    /// Makes calls with one frame while their thread waits, and sends each before earlier ones are answered.
    ///
    /// - Parameters:
    ///   - count: How many calls.
    ///   - prepare: Sets the parameters of a call, by its number from 0.
    ///   - take: Reads the answers of a call, which are in the frame.
    /// - Returns: How many calls were made, counted from the first; the others have to be made one by one.
    typealias Batch =
        @Sendable (
            ForwardedCall, _ count: Int, _ prepare: (Int) throws(ConnectorError) -> Void,
            _ take: (Int) throws(ConnectorError) -> Void
        ) throws(ConnectorError) -> Int

    /// What identifies an operation in a call.
    struct Route: Sendable {
        /// Its position among all operations of the manifest.
        let position: Int
        /// The name to call it by.
        let name: String
    }

    private let dependencies: CallDependencies
    private let owner: UInt64
    private let call: Call
    /// Makes a call that is answered at once.
    let exchange: Exchange
    /// Makes many calls that are answered at once.
    let batch: Batch
    /// The operations, by the symbols that their functions have here.
    let routes: [String: Route]
    /// The asynchronous calls that have no answer yet, by operation.
    private let tasks = Mutex<[UInt64: Task<Void, Never>]>([:])

    /// - Parameter owner: The instance that the operations belong to.
    init(
        _ dependencies: CallDependencies,
        owner: UInt64,
        routes: [String: Route],
        exchange: @escaping Exchange,
        batch: @escaping Batch,
        _ call: @escaping Call
    ) {
        self.dependencies = dependencies
        self.owner = owner
        self.routes = routes
        self.exchange = exchange
        self.batch = batch
        self.call = call
    }

    /// Calls an operation, and blocks the thread until it is answered: for as long as a call by name waits by default.
    func answer(_ name: String, _ arguments: CallArguments) -> Result<CallResult, ConnectorError> {
        let answer = Monitor<Result<CallResult, ConnectorError>?>(nil)
        let options = CallOptions()
        let deadline = dependencies.deadline(after: options.timeoutNanoseconds)
        Task(executorPreference: dependencies.gateThreads) { [call] in
            let result = await Self.result(of: call, name, arguments, options, deadline)
            answer.withLock { $0 = result }
            answer.signal()
        }
        return answer.wait { answer in answer.map { .proceed($0) } ?? .wait(until: nil) }
    }

    /// Starts an asynchronous call, which completes an operation.
    func start(_ operation: UInt64, _ name: String, _ arguments: CallArguments, by deadline: UInt64) {
        tasks.withLock { tasks in
            tasks[operation] = Task(executorPreference: dependencies.gateThreads) { [self] in
                let options = CallOptions { [dependencies, owner] value in
                    _ = dependencies.operations.progress(operation, owner: owner, value)
                }
                let result = await Self.result(of: call, name, arguments, options, deadline)
                _ = self.tasks.withLock { $0.removeValue(forKey: operation) }
                dependencies.operations.complete(operation, owner: owner, result.map(\.text))
            }
        }
    }

    /// Gives up an asynchronous call.
    func cancel(_ operation: UInt64) {
        tasks.withLock { $0.removeValue(forKey: operation) }?.cancel()
    }

    private static func result(
        of call: Call,
        _ name: String,
        _ arguments: CallArguments,
        _ options: CallOptions,
        _ deadline: UInt64
    ) async -> Result<CallResult, ConnectorError> {
        do throws(ConnectorError) {
            return .success(try await call(name, arguments, options, deadline))
        } catch {
            return .failure(error)
        }
    }
}
