// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The port a server listens on, for those who ask before it does.
final class SimulatorAddress: Sendable {
    /// Known for good once it is not `nil`, save that a stopped server has none any more.
    private struct State {
        var result: Result<Int, SimulatorError>?
        var waiting: [CheckedContinuation<Result<Int, SimulatorError>, Never>] = []
    }

    /// Guarded by one short critical section; continuations are resumed outside of it.
    private let state = Mutex(State())

    /// Tells everyone who waits and everyone who asks from now on.
    func set(_ result: Result<Int, SimulatorError>) {
        let waiting = state.withLock { state in
            state.result = result
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: result) }
    }

    /// Waits for ``set(_:)`` unless it was called already.
    func port() async -> Result<Int, SimulatorError> {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Result<Int, SimulatorError>? in
                if state.result == nil { state.waiting.append(continuation) }
                return state.result
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
