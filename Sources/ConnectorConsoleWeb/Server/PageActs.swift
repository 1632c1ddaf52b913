// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole
internal import Synchronization

/// The acts that pages have sent. Each goes on even if its page is left, and is cancelled if the server ends before it does.
final class PageActs: Sendable {
    private struct State {
        var running: [UInt64: Task<ActOutcome, Never>] = [:]
        var last: UInt64 = 0
        var hasEnded = false
    }

    private let console: Console
    private let state = Mutex(State())

    /// Creates a list without an act.
    init(_ console: Console) {
        self.console = console
    }

    /// Performs an act and awaits its outcome. Cancelling the task does not cancel the act.
    func perform(_ act: ConsoleAct) async -> ActOutcome {
        let task = console.begin(act)
        let (number, hasEnded) = state.withLock { state in
            state.last += 1
            state.running[state.last] = task
            return (state.last, state.hasEnded)
        }
        if hasEnded { task.cancel() }
        let outcome = await task.value
        state.withLock { _ = $0.running.removeValue(forKey: number) }
        return outcome
    }

    /// Cancels every act that is still running, and every further one.
    func end() {
        let running = state.withLock { state in
            state.hasEnded = true
            return Array(state.running.values)
        }
        for task in running { task.cancel() }
    }
}
