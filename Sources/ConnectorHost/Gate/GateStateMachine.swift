// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration

/// Decides a gate's next step after each event; performs no I/O.
///
/// ```
/// closed    ── open ──────────────► opening
/// opening   ── attempt failed ────► opening, while `retry` allows another attempt; then failed
/// opening   ── attempt succeeded ─► open
/// open      ── proof failed ──────► degraded
/// degraded  ── proof succeeded ───► open
/// degraded  ── third proof failed ► failed, not counting those requested by an operator
/// failed    ── healed ────────────► open
/// failed    ── open ──────────────► opening
/// any other than closed ── close ─► closing ── instance ended ─► closed
/// ```
///
/// A gate whose target is `open` is retried after every failure until it opens or closes.
struct GateStateMachine: ~Copyable {
    /// How many consecutive proofs must fail before the gate fails.
    static let toleratedProbeFailures = 3

    private enum State {
        case closed
        case opening(attempt: Int)
        case open
        /// - Parameter failures: How many consecutive scheduled proofs have failed.
        case degraded(failures: Int)
        /// - Parameter isTrying: Whether a healing attempt is in progress.
        case failed(isTrying: Bool)
        case closing
    }

    private var current: State = .closed
    /// How many attempts opening makes before the gate fails.
    var retry: RetryPolicy
    /// Whether the host has closed the gate permanently.
    private(set) var isRetired = false
    /// The state last requested: open or closed.
    private(set) var target: GateState = .closed
    /// How many attempts have begun since the gate was last open, or since it was last requested to open.
    private(set) var attempts = 0
    /// Numbers each series of attempts, so that a late result of an earlier series is ignored.
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

    /// What to do for a caller that wants the gate open.
    enum OpenAction: Equatable {
        /// Begin to open.
        case begin
        /// Await the attempts in progress.
        case join
        /// Await the closing in progress, then ask again.
        case awaitClosing
        /// Nothing: the gate is open, permanently closed, or no longer wanted open.
        case nothing
    }

    /// The application asks for the gate to open once others have: ``open(isAgain:)`` then carries on this request.
    mutating func request() {
        if !isRetired { target = .open }
    }

    /// The application asks for the gate to open.
    ///
    /// - Parameter isAgain: Whether this carries on an earlier request: a gate that was closed since then stays closed.
    mutating func open(isAgain: Bool = false) -> OpenAction {
        guard !isRetired, !isAgain || target == .open else { return .nothing }
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

    /// Begins a healing attempt.
    ///
    /// - Parameter round: The round that scheduled the attempt; nil for an immediate one.
    /// - Returns: False if the gate needs no healing.
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
    /// - Returns: Whether the gate should use the instance.
    mutating func attemptSucceeded(round: Int) -> Bool {
        guard isTrying(round: round) else { return false }
        current = .open
        return true
    }

    /// A successor opened beside the current instance takes its place. Attempts in progress then belong to an earlier
    /// round.
    ///
    /// - Returns: False if the gate is closed or closing.
    mutating func succeeded() -> Bool {
        guard !isRetired, target == .open else { return false }
        switch current {
        case .closed, .closing: return false
        case .opening, .failed: round += 1
        case .open, .degraded: break
        }
        current = .open
        return true
    }

    /// What to do after a failed attempt.
    enum FailureAction: Equatable {
        /// Try again after a random wait of at most the first duration and at least the second.
        case retry(within: Duration, after: Duration)
        /// The gate has failed.
        case fail
        /// Nothing: the attempt belongs to an earlier round, or the gate is closing.
        case nothing
    }

    /// An attempt failed.
    ///
    /// - Parameter isLast: Whether the deadline of all attempts has passed.
    mutating func attemptFailed(_ error: ConnectorError, round: Int, isLast: Bool = false) -> FailureAction {
        guard isTrying(round: round) else { return .nothing }
        guard case .opening(let attempt) = current, error.isTransient, !isLast, attempt < retry.attempts else {
            current = .failed(isTrying: false)
            return .fail
        }
        attempts = attempt + 1
        current = .opening(attempt: attempt + 1)
        if let wait = error.retryAfter { return .retry(within: .zero, after: min(wait, retry.max)) }
        return .retry(within: retry.bound(afterAttempt: attempt), after: .zero)
    }

    /// The deadline precludes another attempt.
    mutating func gaveUp(round: Int) {
        guard isTrying(round: round) else { return }
        attempts -= 1
        current = .failed(isTrying: false)
    }

    /// Whether an attempt of this round is still in progress.
    func isTrying(round: Int) -> Bool {
        switch current {
        case .opening, .failed(isTrying: true): round == self.round
        default: false
        }
    }

    // MARK: Proofs

    /// Whether the gate is open and its instance can be proved.
    var isProved: Bool {
        switch current {
        case .open, .degraded: true
        default: false
        }
    }

    /// What a proof changes.
    enum ProofAction: Equatable {
        /// Nothing to report.
        case nothing
        /// The gate works again.
        case recover
        /// Keep the instance in use, and prove it again soon.
        case degrade
        /// End the instance.
        case fail
    }

    /// A proof succeeded.
    mutating func probeSucceeded() -> ProofAction {
        guard case .degraded = current else { return .nothing }
        current = .open
        return .recover
    }

    /// A proof failed: the first degrades the gate, the third scheduled one in a row fails it.
    ///
    /// - Parameter isScheduled: False for a proof requested by an operator: three in quick succession do not show a
    ///   lasting outage.
    mutating func probeFailed(isScheduled: Bool = true) -> ProofAction {
        switch current {
        case .open:
            current = .degraded(failures: isScheduled ? 1 : 0)
            return .degrade
        case .degraded where !isScheduled: return .nothing
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

    /// The instance is gone, without having been closed.
    ///
    /// - Returns: False if the gate does not use one.
    mutating func instanceLost() -> Bool {
        guard isProved else { return false }
        attempts = 0
        round += 1
        current = .failed(isTrying: false)
        return true
    }

    /// The number of the next wait in the backoff of a degraded gate; nil unless it is degraded.
    var degradedProofs: Int? {
        if case .degraded(let failures) = current { max(1, failures) } else { nil }
    }

    // MARK: Closing

    /// What to do for a caller that wants the gate closed.
    enum CloseAction: Equatable {
        /// End the instance.
        case begin
        /// Await the closing in progress.
        case join
        /// Nothing: the gate is closed.
        case nothing
    }

    /// The host is closing; the gate never opens again.
    mutating func retire() {
        isRetired = true
    }

    /// The application asks for the gate to close.
    ///
    /// - Parameter isRestart: Whether the gate is to open again afterwards, so that its target stays what it is.
    mutating func close(isRestart: Bool = false) -> CloseAction {
        if !isRestart { target = .closed }
        round += 1
        switch current {
        case .closed: return .nothing
        case .closing: return .join
        default:
            current = .closing
            return .begin
        }
    }

    /// The instance has ended.
    mutating func closed() {
        current = .closed
        attempts = 0
    }
}
