// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform
internal import Synchronization

/// Admits one call at a time to a gate whose plugin declares `"thread": "serial"`; the others wait in line.
///
/// Calls enter in the order of their tickets. A waiting call can be cancelled, and waits until its deadline at most.
package final class SerialGate: Sendable {
    private typealias Waiter = CheckedContinuation<ConnectorError?, Never>

    /// The state of one ticket.
    private enum Ticket {
        /// The call is about to wait.
        case arriving
        /// The call is waiting.
        case waiting(Waiter)
        /// The call may enter, and has not begun to wait.
        case admitted
        /// The call was cancelled or timed out before it began to wait.
        case refused(ConnectorError)
    }

    private struct State {
        /// Whether a call is inside.
        var isTaken = false
        /// The tickets of the calls that have neither entered nor left the line.
        var tickets: [UInt64: Ticket] = [:]
        /// The last ticket issued.
        var last: UInt64 = 0
        /// The last ticket served. Calls up to it are inside, have left, or are about to learn that they may enter.
        var served: UInt64 = 0

        /// Admits the next call in line, or frees the gate if there is none.
        mutating func admitNext() -> Waiter? {
            while served < last {
                served += 1
                switch tickets[served] {
                case .waiting(let waiter):
                    tickets[served] = nil
                    return waiter
                case .arriving:
                    tickets[served] = .admitted
                    return nil
                case .admitted, .refused, nil: continue
                }
            }
            isTaken = false
            return nil
        }
    }

    private let state = Mutex(State())

    /// The number of calls in line.
    package var waitingCount: Int { state.withLock(\.tickets.count) }

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
        let ticket = state.withLock { state -> UInt64? in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            state.last += 1
            state.tickets[state.last] = .arriving
            return state.last
        }
        guard let ticket else { return }
        let timer = clock.schedule(at: deadline) { [self] in
            refuse(ticket, ConnectorError(.timedOut, "\(name) timed out waiting for its turn", isRetryable: true))
        }
        let error = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(ticket, $0) }
        } onCancel: {
            refuse(ticket, ConnectorError(.cancelled, "\(name) was cancelled"))
        }
        clock.cancel(timer)
        if let error { throw error }
    }

    private func wait(_ ticket: UInt64, _ waiter: Waiter) {
        /// The result of the wait; nil while the call must keep waiting.
        var answer: ConnectorError??
        state.withLock { state in
            switch state.tickets[ticket] {
            case .refused(let error):
                state.tickets[ticket] = nil
                answer = .some(error)
            case .arriving: state.tickets[ticket] = .waiting(waiter)
            case .admitted, .waiting, nil:
                state.tickets[ticket] = nil
                answer = .some(nil)
            }
        }
        if case .some(let error) = answer { waiter.resume(returning: error) }
    }

    private func refuse(_ ticket: UInt64, _ error: ConnectorError) {
        let waiter = state.withLock { state -> Waiter? in
            switch state.tickets[ticket] {
            case .arriving:
                state.tickets[ticket] = .refused(error)
                return nil
            case .waiting(let waiter):
                state.tickets[ticket] = nil
                return waiter
            case .admitted, .refused, nil: return nil
            }
        }
        waiter?.resume(returning: error)
    }

    /// Leaves, and admits the next call in line.
    package func leave() {
        state.withLock { $0.admitNext() }?.resume(returning: nil)
    }
}
