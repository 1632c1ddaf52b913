// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// What a gate does next, decided from what happened; it does nothing itself.
///
/// ```
/// closed ──open──► opening ──succeeded──► open ◄──proved──► degraded ──► failed
///    ▲                │ ▲                  │   ◄──────────proved───────────┘
///    │                │ └─ retry           │ close
///    └── closing ◄────┴──────────close─────┘
/// ```
struct GateStateMachine: ~Copyable {
    /// How many proofs in a row may fail before a gate counts as failed.
    static let toleratedProbeFailures = 3

    private enum State {
        case closed
        case opening(attempt: Int)
        case open
        case degraded(failures: Int)
        case failed(hasOpened: Bool)
        case closing
    }

    private var current: State = .closed
    private let retry: RetryPolicy
    /// What was asked for last: open, or closed.
    private(set) var target: GateState = .closed
    /// How many attempts to open were begun since the last `open`.
    private(set) var attempts = 0
    /// Counts the times that opening began: what an attempt of an earlier round brings is too late to matter.
    private(set) var round = 0

    init(retry: RetryPolicy) {
        self.retry = retry
    }

    /// The state as the report shows it.
    var state: GateState {
        switch current {
        case .closed: .closed
        case .opening: .opening
        case .open: .open
        case .degraded: .degraded
        case .failed: .failed
        case .closing: .closing
        }
    }

    /// What to do after an attempt to open.
    enum OpenAction: Equatable {
        /// Start an attempt now.
        case attempt
        /// Start an attempt after a delay chosen at random between zero and this.
        case attemptWithin(Duration)
        /// Wait this long, because the vendor said so, then start an attempt.
        case attemptAfter(Duration)
        /// Start proving again at intervals.
        case prove
        /// Nothing: the gate has failed, is closing, or is open already.
        case nothing
    }

    /// The application wants the gate open.
    mutating func open() -> OpenAction {
        target = .open
        switch current {
        case .closed, .failed:
            attempts = 1
            round += 1
            current = .opening(attempt: 1)
            return .attempt
        default: return .nothing
        }
    }

    /// An attempt succeeded, with evidence.
    ///
    /// - Returns: ``OpenAction/prove``, or ``OpenAction/nothing`` if nobody wants the instance any more.
    mutating func openSucceeded(round: Int) -> OpenAction {
        switch current {
        case .opening where round == self.round:
            current = .open
            return .prove
        default: return .nothing
        }
    }

    /// An attempt failed.
    mutating func openFailed(_ error: ConnectorError, round: Int) -> OpenAction {
        switch current {
        case .opening(let attempt) where round == self.round:
            guard error.isRetryable, attempt < retry.attempts else {
                current = .failed(hasOpened: false)
                return .nothing
            }
            attempts = attempt + 1
            current = .opening(attempt: attempt + 1)
            if let wait = error.retryAfter { return .attemptAfter(min(wait, retry.max)) }
            return .attemptWithin(retry.bound(afterAttempt: attempt))
        default: return .nothing
        }
    }

    /// There is no time left for the attempt that was to come.
    mutating func gaveUp(round: Int) {
        guard isOpening(round: round) else { return }
        attempts -= 1
        current = .failed(hasOpened: false)
    }

    /// Whether an attempt of a round is still wanted.
    func isOpening(round: Int) -> Bool {
        if case .opening = current { round == self.round } else { false }
    }

    /// A proof succeeded.
    mutating func probeSucceeded() {
        switch current {
        case .degraded, .open, .failed(hasOpened: true): current = .open
        default: break
        }
    }

    /// A proof failed: once is degraded, several times in a row is failed.
    mutating func probeFailed() {
        switch current {
        case .open: current = .degraded(failures: 1)
        case .degraded(let failures):
            current =
                failures + 1 < Self.toleratedProbeFailures
                ? .degraded(failures: failures + 1) : .failed(hasOpened: true)
        default: break
        }
    }

    /// Whether proofs are to go on: a gate that failed after it had opened may come back.
    var isProved: Bool {
        switch current {
        case .open, .degraded, .failed(hasOpened: true): true
        default: false
        }
    }

    /// The application wants the gate closed; true if there is something to close.
    mutating func close() -> Bool {
        target = .closed
        switch current {
        case .closed, .closing: return false
        default:
            current = .closing
            return true
        }
    }

    /// The instance is gone.
    mutating func closed() {
        current = .closed
    }
}
