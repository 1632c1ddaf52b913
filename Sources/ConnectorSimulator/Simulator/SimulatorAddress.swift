// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The port of a server, which callers can await before it listens.
final class SimulatorAddress: Sendable {
    /// Set once, except that stopping the server replaces the port by an error.
    private struct State {
        var result: Result<Int, SimulatorError>?
        var waiting: [CheckedContinuation<Result<Int, SimulatorError>, Never>] = []
    }

    /// Held only for short critical sections; continuations are resumed outside.
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
