// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform
internal import Synchronization

/// Admits one call at a time to a gate whose plugin says `"thread": "serial"`; the others wait in line.
///
/// Calls enter in the order of their tickets. A waiting call can be cancelled, and waits no longer than until its
/// deadline; then nothing is left of it.
package final class SerialGate: Sendable {
    private typealias Waiter = CheckedContinuation<ConnectorError?, Never>

    /// The state of one ticket.
    private enum Place {
        /// Its call is about to wait.
        case arriving
        /// Its call waits.
        case waiting(Waiter)
        /// Its call may enter, and has not begun to wait.
        case admitted
        /// Its call gave up before it began to wait.
        case refused(ConnectorError)
    }

    private struct State {
        /// Whether a call is inside.
        var isTaken = false
        /// The tickets of the calls that are neither inside nor gone.
        var places: [UInt64: Place] = [:]
        /// The ticket given out last.
        var last: UInt64 = 0
        /// The ticket served last. Those up to it are inside, gone, or about to learn that they may enter.
        var served: UInt64 = 0

        /// Admits the next call in line; frees the gate if there is none.
        mutating func admitNext() -> Waiter? {
            while served < last {
                served += 1
                switch places[served] {
                case .waiting(let waiter):
                    places[served] = nil
                    return waiter
                case .arriving:
                    places[served] = .admitted
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
    package var waitingCount: Int { state.withLock(\.places.count) }

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
    ///   - name: The operation, for errors.
    ///   - deadline: On the clock's monotonic time.
    /// - Throws: `timed-out` or `cancelled`; the caller is then not inside.
    package func enter(_ name: String, by deadline: UInt64, _ clock: any HostClock) async throws(ConnectorError) {
        let ticket = state.withLock { state -> UInt64? in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            state.last += 1
            state.places[state.last] = .arriving
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
        /// Nil until there is an answer.
        var answer: ConnectorError??
        state.withLock { state in
            switch state.places[ticket] {
            case .refused(let error):
                state.places[ticket] = nil
                answer = .some(error)
            case .arriving: state.places[ticket] = .waiting(waiter)
            case .admitted, .waiting, nil:
                state.places[ticket] = nil
                answer = .some(nil)
            }
        }
        if case .some(let error) = answer { waiter.resume(returning: error) }
    }

    private func refuse(_ ticket: UInt64, _ error: ConnectorError) {
        let waiter = state.withLock { state -> Waiter? in
            switch state.places[ticket] {
            case .arriving:
                state.places[ticket] = .refused(error)
                return nil
            case .waiting(let waiter):
                state.places[ticket] = nil
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
