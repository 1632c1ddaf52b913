// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Caches the latest answers by request, as the public server's usage policy requires.
final class AnswerCache: Sendable {
    private struct Entry {
        let answer: JSONValue
        /// When the answer is too old, in nanoseconds of the monotonic clock.
        let expiry: UInt64
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// The keys in order of arrival.
        var order: [String] = []
        /// How many keys at the start of ``order`` are already dropped.
        var dropped = 0
    }

    private let capacity: Int
    private let clock: any ClockService
    private let state = Mutex(State())

    init(capacity: Int, clock: any ClockService) {
        self.capacity = capacity
        self.clock = clock
    }

    /// The answer to a request; nil if there is none, or if it is too old.
    subscript(key: String) -> JSONValue? {
        guard let entry = state.withLock({ $0.entries[key] }), clock.monotonic < entry.expiry else { return nil }
        return entry.answer
    }

    /// Keeps the answer to a request, and drops the oldest beyond the limit.
    ///
    /// - Parameter isShort: Whether to keep it for five minutes only, and not for a day: what a server does not find, its next import may
    ///   bring.
    func keep(_ answer: JSONValue, for key: String, isShort: Bool) {
        guard capacity > 0 else { return }
        let age: UInt64 = (isShort ? 300 : 86_400) * 1_000_000_000
        let entry = Entry(answer: answer, expiry: clock.monotonic &+ age)
        state.withLock { state in
            guard state.entries.updateValue(entry, forKey: key) == nil else { return }
            state.order.append(key)
            while state.entries.count > capacity {
                state.entries[state.order[state.dropped]] = nil
                state.dropped += 1
            }
            if state.dropped > capacity {
                state.order.removeFirst(state.dropped)
                state.dropped = 0
            }
        }
    }
}
