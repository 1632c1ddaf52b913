// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Synchronization

/// Lets one call at a time into a gate whose plugin says `"thread": "serial"`; the others wait in line.
final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var line = CircularBuffer<CheckedContinuation<Void, Never>>()
    }

    private let state = Mutex(State())

    /// Waits until it is the caller's turn, which ends with ``end()``.
    func begin() async {
        let isFree = state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
        guard !isFree else { return }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.line.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Lets the next one in.
    func end() {
        let next = state.withLock { state in
            let next = state.line.popFirst()
            state.isTaken = next != nil
            return next
        }
        next?.resume()
    }
}
