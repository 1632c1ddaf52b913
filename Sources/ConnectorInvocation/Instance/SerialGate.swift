// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform
internal import Synchronization

/// Admits one call at a time to a gate whose plugin declares `"thread": "serial"`; the others wait in line.
///
/// Calls enter in the order of their tickets. A waiting call can be cancelled, and waits until its deadline at most.
package final class SerialGate: Sendable {
    /// What a call in line waits for: nil to enter, or the error with which it leaves the line.
    private typealias Turn = OneShot<ConnectorError?>

    private struct State {
        /// Whether a call is inside.
        var isTaken = false
        /// The calls in line, by ticket. Whoever removes one from the line sends its turn.
        var line: [UInt64: Turn] = [:]
        /// The last ticket issued.
        var last: UInt64 = 0
        /// The last ticket served. Calls up to it are no longer in line.
        var served: UInt64 = 0

        /// Removes the next call from the line, or frees the gate if there is none.
        mutating func next() -> Turn? {
            while served < last {
                served += 1
                if let turn = line.removeValue(forKey: served) { return turn }
            }
            isTaken = false
            return nil
        }
    }

    private let state = Mutex(State())

    /// The number of calls in line.
    package var waitingCount: Int { state.withLock(\.line.count) }

    /// Enters if no call is inside; ``leave()`` must follow.
    package func enterNow() -> Bool {
        state.withLock { state in
            guard !state.isTaken else { return false }
            state.isTaken = true
            return true
        }
    }

    /// Waits in line and enters; ``leave()`` must follow.
    ///
    /// - Parameters:
    ///   - name: The operation's name, for errors.
    ///   - deadline: The deadline in monotonic time.
    /// - Throws: `timed-out` or `cancelled`; the caller has then not entered.
    package func enter(_ name: String, by deadline: UInt64, _ clock: any HostClock) async throws(ConnectorError) {
        let place = state.withLock { state -> (ticket: UInt64, turn: Turn)? in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            let turn = Turn()
            state.last += 1
            state.line[state.last] = turn
            return (state.last, turn)
        }
        guard let (ticket, turn) = place else { return }
        let timer = clock.schedule(at: deadline) { [self] in
            refuse(ticket, ConnectorError(.timedOut, "\(name) timed out waiting for its turn", isRetryable: true))
        }
        let error = await withTaskCancellationHandler {
            await turn.wait()
        } onCancel: {
            refuse(ticket, ConnectorError(.cancelled, "\(name) was cancelled"))
        }
        clock.cancel(timer)
        if let error { throw error }
    }

    /// Makes a call leave the line, unless it may enter already.
    private func refuse(_ ticket: UInt64, _ error: ConnectorError) {
        state.withLock { $0.line.removeValue(forKey: ticket) }?.send(error)
    }

    /// Leaves, and admits the next call in line.
    package func leave() {
        state.withLock { $0.next() }?.send(nil)
    }
}
