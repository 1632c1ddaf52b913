// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Passes the changes of one event to one reader of a receipt, until they are final at every connector.
///
/// The initial state is read while changes already arrive, and may be older than the first of them: then the change
/// wins.
final class ReceiptSubscriber: Sendable {
    private struct State {
        /// The connectors whose final state is not known yet.
        var open: Set<String>
        /// The connectors that have reported a change.
        var heard: Set<String> = []
    }

    private let state: Mutex<State>
    private let continuation: AsyncStream<DeliveryChange>.Continuation

    /// Subscribes for some connectors.
    init(of paths: [String], _ continuation: AsyncStream<DeliveryChange>.Continuation) {
        state = Mutex(State(open: Set(paths)))
        self.continuation = continuation
    }

    /// Passes on the state that the event had at the beginning, unless a change came first.
    func begin(with change: DeliveryChange) {
        pass(change) { !$0.heard.contains(change.connector) }
    }

    /// Passes on a change.
    func send(_ change: DeliveryChange) {
        pass(change) { _ in true }
    }

    /// Ends the changes, whatever the state is.
    func finish() { continuation.finish() }

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
