// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// What a gate does next, decided from what happened; it does nothing itself.
///
/// ```
/// closed ──open──► opening ──succeeded──► open ◄──proved──► degraded
///    ▲                │ ▲ retry            │                   │
///    │                ▼ │                  │ close             │ failed three times
///    │              failed ◄───────────────┼───────────────────┘
///    │                │ └─ heals: opens ──►│
///    └── closing ◄────┴──────close─────────┘
/// ```
///
/// A gate that is meant to be open and has failed is tried again until it opens or is closed.
struct GateStateMachine: ~Copyable {
    /// How many proofs in a row may fail before a gate has failed.
    static let toleratedProbeFailures = 3

    private enum State {
        case closed
        case opening(attempt: Int)
        case open
        case degraded(failures: Int)
        /// - Parameter isTrying: Whether an attempt to heal is under way.
        case failed(isTrying: Bool)
        case closing
    }

    private var current: State = .closed
    private let retry: RetryPolicy
    /// Whether the gate was closed for good, with its host.
    private var isRetired = false
    /// What was asked for last: open, or closed.
    private(set) var target: GateState = .closed
    /// How many attempts to open were begun since the gate was last open, or asked to open.
    private(set) var attempts = 0
    /// Counts the times that attempts began anew: what an attempt of an earlier round brings is too late to matter.
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

    // MARK: Opening

    /// What to do for somebody who wants the gate open.
    enum OpenAction: Equatable {
        /// Begin to open.
        case begin
        /// Await the attempts that are under way.
        case join
        /// Await the closing that is under way, then ask again.
        case awaitClosing
        /// Nothing: it is open already, or closed for good.
        case nothing
    }

    /// The application wants the gate open.
    mutating func open() -> OpenAction {
        guard !isRetired else { return .nothing }
        target = .open
        switch current {
        case .closed, .failed(isTrying: false):
            attempts = 1
            round += 1
            current = .opening(attempt: 1)
            return .begin
        case .opening, .failed(isTrying: true): return .join
        case .closing: return .awaitClosing
        case .open, .degraded: return .nothing
        }
    }

    /// Begins an attempt to heal.
    ///
    /// - Parameter round: The round whose end scheduled it; nil if somebody asks for it now.
    /// - Returns: False if there is nothing to heal any more.
    mutating func heal(round: Int? = nil) -> Bool {
        guard !isRetired, case .failed(isTrying: false) = current, target == .open, round ?? self.round == self.round
        else {
            return false
        }
        attempts += 1
        self.round += 1
        current = .failed(isTrying: true)
        return true
    }

    /// An attempt succeeded, with evidence.
    ///
    /// - Returns: Whether somebody wants the instance.
    mutating func attemptSucceeded(round: Int) -> Bool {
        guard isTrying(round: round) else { return false }
        current = .open
        return true
    }

    /// What to do after an attempt that failed.
    enum FailureAction: Equatable {
        /// Try again, at random within the first, but no sooner than the second.
        case retry(within: Duration, after: Duration)
        /// The gate has failed.
        case fail
        /// Nothing: nobody asks for the attempt any more.
        case nothing
    }

    /// An attempt failed.
    mutating func attemptFailed(_ error: ConnectorError, round: Int) -> FailureAction {
        guard isTrying(round: round) else { return .nothing }
        guard case .opening(let attempt) = current, error.isRetryable, attempt < retry.attempts else {
            current = .failed(isTrying: false)
            return .fail
        }
        attempts = attempt + 1
        current = .opening(attempt: attempt + 1)
        if let wait = error.retryAfter { return .retry(within: .zero, after: min(wait, retry.max)) }
        return .retry(within: retry.bound(afterAttempt: attempt), after: .zero)
    }

    /// There is no time left for the attempt that was to come.
    mutating func gaveUp(round: Int) {
        guard isTrying(round: round) else { return }
        attempts -= 1
        current = .failed(isTrying: false)
    }

    /// Whether the result of an attempt of a round is still wanted.
    func isTrying(round: Int) -> Bool {
        switch current {
        case .opening, .failed(isTrying: true): round == self.round
        default: false
        }
    }

    // MARK: Proofs

    /// Whether an open gate is to be proved.
    var isProved: Bool {
        switch current {
        case .open, .degraded: true
        default: false
        }
    }

    /// What a proof changed.
    enum ProofAction: Equatable {
        /// Nothing that anybody has to be told of.
        case nothing
        /// The gate works again.
        case recover
        /// Its instance is used, and proved again soon.
        case degrade
        /// Its instance is to be ended.
        case fail
    }

    /// A proof succeeded.
    mutating func probeSucceeded() -> ProofAction {
        guard case .degraded = current else { return .nothing }
        current = .open
        return .recover
    }

    /// A proof failed: once is degraded, several times in a row is failed.
    mutating func probeFailed() -> ProofAction {
        switch current {
        case .open:
            current = .degraded(failures: 1)
            return .degrade
        case .degraded(let failures) where failures + 1 < Self.toleratedProbeFailures:
            current = .degraded(failures: failures + 1)
            return .nothing
        case .degraded:
            attempts = 0
            round += 1
            current = .failed(isTrying: false)
            return .fail
        default: return .nothing
        }
    }

    /// How many proofs have failed in a row.
    var probeFailures: Int {
        if case .degraded(let failures) = current { failures } else { 0 }
    }

    // MARK: Closing

    /// What to do for somebody who wants the gate closed.
    enum CloseAction: Equatable {
        /// End what there is.
        case begin
        /// Await the closing that is under way.
        case join
        /// Nothing: it is closed.
        case nothing
    }

    /// Nothing opens the gate any more: its host closes.
    mutating func retire() {
        isRetired = true
    }

    /// The application wants the gate closed.
    mutating func close() -> CloseAction {
        target = .closed
        round += 1
        switch current {
        case .closed: return .nothing
        case .closing: return .join
        default:
            current = .closing
            return .begin
        }
    }

    /// The instance is gone.
    mutating func closed() {
        current = .closed
        attempts = 0
    }
}
