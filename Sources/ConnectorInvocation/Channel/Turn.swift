// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
package import ConnectorPlatform
internal import DequeModule
internal import Synchronization

/// Admits one call at a time to a gate whose plugin says `"thread": "serial"`; the others wait in line.
///
/// A waiting call can be cancelled, and waits no longer than until its deadline.
package final class Turn: Sendable {
    private typealias Waiter = CheckedContinuation<ConnectorError?, Never>

    /// The state of one call that must wait.
    private enum Place {
        /// About to stand in line.
        case arriving
        case waiting(Waiter)
        /// Gave up before it stood in line.
        case refused(ConnectorError)
    }

    private struct State {
        var isTaken = false
        var places: [UInt64: Place] = [:]
        var line = Deque<UInt64>()
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The calls that wait.
    package var waitingCount: Int { state.withLock(\.places.count) }

    /// Takes the turn if it is free; ``passOn()`` must follow.
    package func takeNow() -> Bool {
        state.withLock { state in
            guard !state.isTaken else { return false }
            state.isTaken = true
            return true
        }
    }

    /// Waits for the turn and takes it; ``passOn()`` must follow.
    ///
    /// - Parameters:
    ///   - name: The operation, for errors.
    ///   - deadline: On the clock's monotonic time.
    /// - Throws: `timed-out` or `cancelled`; the caller then has no turn to pass on.
    package func take(_ name: String, by deadline: UInt64, _ clock: any HostClock) async throws(ConnectorError) {
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
        let now = clock.now()
        let timer = clock.schedule(after: deadline > now ? deadline - now : 0) { [self] in
            refuse(ticket, ConnectorError(.timedOut, "\(name) timed out waiting for its turn", isRetryable: true))
        }
        let error = await withTaskCancellationHandler {
            await withCheckedContinuation { stand(ticket, $0) }
        } onCancel: {
            refuse(ticket, ConnectorError(.cancelled, "\(name) was cancelled"))
        }
        clock.cancel(timer)
        if let error { throw error }
    }

    private func stand(_ ticket: UInt64, _ waiter: Waiter) {
        /// Nil until there is an answer.
        var answer: ConnectorError??
        state.withLock { state in
            if case .refused(let error) = state.places[ticket] {
                state.places[ticket] = nil
                answer = .some(error)
            } else if state.isTaken {
                state.places[ticket] = .waiting(waiter)
                state.line.append(ticket)
            } else {
                state.places[ticket] = nil
                state.isTaken = true
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
            case .refused, nil: return nil
            }
        }
        waiter?.resume(returning: error)
    }

    /// Passes the turn to the next call in line.
    package func passOn() {
        let next = state.withLock { state -> Waiter? in
            while let ticket = state.line.popFirst() {
                guard case .waiting(let waiter) = state.places.removeValue(forKey: ticket) else { continue }
                return waiter
            }
            state.isTaken = false
            return nil
        }
        next?.resume(returning: nil)
    }
}
