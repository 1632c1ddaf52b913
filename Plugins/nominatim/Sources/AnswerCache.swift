// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Synchronization

/// Caches the latest answers by request, as the public server's usage policy requires.
final class AnswerCache: Sendable {
    private struct State {
        var answers: [String: JSONValue] = [:]
        /// The keys in order of arrival.
        var order: [String] = []
        /// How many keys at the start of ``order`` are already dropped.
        var dropped = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The answer to a request; setting one drops the oldest beyond the limit.
    subscript(key: String) -> JSONValue? {
        get { state.withLock { $0.answers[key] } }
        set {
            guard capacity > 0, let newValue else { return }
            state.withLock { state in
                guard state.answers.updateValue(newValue, forKey: key) == nil else { return }
                state.order.append(key)
                while state.answers.count > capacity {
                    state.answers[state.order[state.dropped]] = nil
                    state.dropped += 1
                }
                if state.dropped > capacity {
                    state.order.removeFirst(state.dropped)
                    state.dropped = 0
                }
            }
        }
    }
}
