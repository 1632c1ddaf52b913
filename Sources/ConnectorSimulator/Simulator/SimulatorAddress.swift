// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The port of a server, available to callers that ask before it listens.
final class SimulatorAddress: Sendable {
    /// Final once not `nil`, except that a stopped server loses its port.
    private struct State {
        var result: Result<Int, SimulatorError>?
        var waiting: [CheckedContinuation<Result<Int, SimulatorError>, Never>] = []
    }

    /// Guarded by one short critical section; continuations are resumed outside of it.
    private let state = Mutex(State())

    /// Sets the port for current and future callers.
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
