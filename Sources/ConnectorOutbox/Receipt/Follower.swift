// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Passes on what becomes of an event to one who follows it, until that is final at every connector.
///
/// How the event stood at the beginning is read beside the changes, and may be older than the first of them: a connector
/// that has told of a change is not asked for its beginning.
final class Follower: Sendable {
    private struct State {
        /// The connectors where the end is not known.
        var open: Set<String>
        /// The connectors that were heard of.
        var heard: Set<String> = []
    }

    private let state: Mutex<State>
    private let continuation: AsyncStream<DeliveryChange>.Continuation

    /// Prepares to tell of some connectors.
    init(of paths: [String], _ continuation: AsyncStream<DeliveryChange>.Continuation) {
        state = Mutex(State(open: Set(paths)))
        self.continuation = continuation
    }

    /// Tells how the event stood when somebody began to follow it.
    func begin(with change: DeliveryChange) {
        pass(change) { !$0.heard.contains(change.connector) }
    }

    /// Tells of a change.
    func tell(_ change: DeliveryChange) {
        pass(change) { _ in true }
    }

    private func pass(_ change: DeliveryChange, if isNews: (State) -> Bool) {
        let isDone = state.withLock { state in
            guard state.open.contains(change.connector), isNews(state) else { return false }
            state.heard.insert(change.connector)
            // Within the lock, so that nothing overtakes it.
            continuation.yield(change)
            if change.state.isFinal { state.open.remove(change.connector) }
            return state.open.isEmpty
        }
        if isDone { continuation.finish() }
    }
}
