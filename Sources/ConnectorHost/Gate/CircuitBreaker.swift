// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import Synchronization

/// Refuses calls to a gate whose calls keep failing or whose runners keep ending.
///
/// ```
/// closed    ── `failures` calls in a row failed ─► open
/// closed    ── five runners ended in a minute ───► half-open, once the gate has healed
/// open      ── `probe` has passed ───────────────► half-open
/// half-open ── the trial call succeeded ─────────► closed
/// half-open ── the trial call failed ────────────► open
/// ```
///
/// While half-open, the breaker admits one call at a time. All times are the host's monotonic clock, in nanoseconds.
final class CircuitBreaker: Sendable {
    /// How many runners must end within ``lossWindow`` for the gate to heal more slowly.
    private static let lossLimit = 5
    /// How long a lost runner counts, in nanoseconds: one minute.
    private static let lossWindow: UInt64 = 60_000_000_000
    /// How long a trial call keeps others out if no policy says, in nanoseconds: ten seconds.
    fileprivate static let trialPatience: UInt64 = 10_000_000_000

    /// What the breaker does with calls.
    fileprivate enum Mode: Equatable {
        case closed
        case open(until: UInt64)
        /// - Parameter trial: When the trial call began; nil if there is none.
        case halfOpen(trial: UInt64?)
    }

    fileprivate struct State {
        var policy: BreakerPolicy?
        var mode: Mode = .closed
        /// The number of the current mode or trial, so that the end of a call admitted before it is ignored.
        var round: UInt64 = 0
        /// The round before the first trial; later ones are trials of the same instance, until the breaker closes.
        var roundBeforeTrials: UInt64 = 0
        /// When the latest calls failed, with no success in between.
        var failures: [UInt64] = []
        /// When runners ended, within ``lossWindow``.
        var losses: [UInt64] = []
        /// How many runners have ended in quick succession, including the first five; nil until five have ended within
        /// a minute.
        var lossCount: Int?
        /// The last failure that opened the breaker.
        var reason: ConnectorError?
        var openings: UInt64 = 0
        var refusals: UInt64 = 0
    }

    /// A change worth reporting.
    enum Change: Equatable {
        /// - Parameter until: When the next trial call may begin.
        case opened(until: UInt64)
        /// The trial call said nothing about the gate, so the next call is another trial.
        case halfOpened
        case closed
    }

    private let state: Mutex<State>
    /// Whether calls must ask the breaker; calls that need not take no lock.
    let watch: CallWatch

    /// Creates a closed breaker.
    ///
    /// - Parameter policy: When failed calls open it; nil for never.
    init(_ policy: BreakerPolicy?) {
        state = Mutex(State(policy: policy))
        watch = CallWatch(isOn: policy != nil)
    }

    /// Adopts another policy.
    ///
    /// An open breaker stays open. Without a policy it closes, unless lost runners made it half-open.
    func use(_ policy: BreakerPolicy?) {
        change { state in
            guard policy != state.policy else { return }
            state.policy = policy
            state.failures = []
            if policy == nil, state.lossCount == nil { state.close() }
        }
    }

    // MARK: Calls

    /// Whether calls must be admitted by ``admit(at:)``; takes no lock.
    var isInvolved: Bool { watch.isOn }

    /// Whether the next call would be refused.
    func refuses(at now: UInt64) -> Bool {
        state.withLock { $0.wait(at: now) != nil }
    }

    /// Admits a call.
    ///
    /// - Returns: The ticket to pass to ``ended(_:with:at:)`` when the call ends.
    /// - Throws: `not-open`, with the wait until the next trial call.
    func admit(at now: UInt64) throws(ConnectorError) -> CallTicket {
        try state.withLock { state throws(ConnectorError) in
            if let wait = state.wait(at: now) {
                state.refusals += 1
                throw state.refusal(wait)
            }
            if state.mode != .closed {
                state.round += 1
                state.mode = .halfOpen(trial: now)
            }
            return CallTicket(round: state.round)
        }
    }

    /// Notes the end of an admitted call. A trial call that succeeds closes the breaker even after it has kept others out
    /// for so long that the next one became the trial.
    ///
    /// - Parameter error: Why the call failed; nil for success. Faults of the caller or of the host say nothing about
    ///   the gate.
    func ended(_ ticket: CallTicket, with error: ConnectorError?, at now: UInt64) -> Change? {
        change { state in
            guard let error else { return state.isCurrent(ticket) ? state.succeeded() : nil }
            guard ticket.round == state.round else { return nil }
            guard error.concernsGate else {
                return state.mode == .closed ? nil : state.halfOpen()
            }
            return state.failed(error, at: now)
        }
    }

    // MARK: Instances

    /// Another instance receives the calls: the cause of the opening may be gone, so the next call is a trial.
    func instanceChanged() {
        change { state in
            guard state.mode != .closed else { return }
            state.awaitTrial(.halfOpen(trial: nil))
        }
    }

    /// Lets the next call through as a trial, however long calls were to be refused: an operator wants an attempt now.
    ///
    /// - Returns: Whether calls were refused.
    func endWait() -> Bool {
        change { state in
            guard case .open = state.mode else { return false }
            state.awaitTrial(.halfOpen(trial: nil))
            return true
        }
    }

    /// Notes that the gate's runner has ended.
    ///
    /// - Returns: How many runners have ended, if that is too many for the gate to heal as usual; nil otherwise.
    func lostRunner(_ error: ConnectorError, at now: UInt64) -> Int? {
        change { state in
            state.losses.removeAll { now - min($0, now) > Self.lossWindow }
            state.losses.append(now)
            if let count = state.lossCount {
                state.lossCount = count + 1
            } else if state.losses.count >= Self.lossLimit {
                state.lossCount = state.losses.count
                state.openings += 1
            }
            guard let count = state.lossCount else { return nil }
            state.losses = []
            state.reason = error
            // The next call to reach an instance is a trial. Until the gate heals or a standby takes over, no call gets
            // that far.
            state.awaitTrial(.halfOpen(trial: nil))
            return count
        }
    }

    // MARK: Report

    /// The breaker's part of the report; nil if it has no policy and has never opened.
    ///
    /// - Parameter time: The host's wall-clock time at `now`.
    func report(at now: UInt64, _ time: Timestamp) -> BreakerReport? {
        state.withLock { state in
            guard state.policy != nil || state.openings > 0 else { return nil }
            var report = BreakerReport(
                state: .closed,
                failures: state.failures.count,
                openings: state.openings,
                refusals: state.refusals
            )
            switch state.mode {
            case .closed: break
            case .open(let end) where now < end:
                report.state = .open
                report.nextTrialAt = Timestamp(nanoseconds: time.nanoseconds.saturatingAdding(end - now))
            case .open, .halfOpen: report.state = .halfOpen
            }
            return report
        }
    }

    /// Why calls are refused; nil unless the breaker is open.
    func refusal(at now: UInt64) -> ConnectorError? {
        state.withLock { state in
            guard case .open = state.mode else { return nil }
            return state.wait(at: now).map(state.refusal)
        }
    }

    @discardableResult
    private func change<Value: Sendable>(_ body: (inout sending State) -> Value) -> Value {
        state.withLock { state in
            defer { watch.set(state.policy != nil || state.mode != .closed) }
            return body(&state)
        }
    }
}

extension CircuitBreaker.State {
    /// How long the next call must wait, in nanoseconds; nil if it is admitted.
    fileprivate func wait(at now: UInt64) -> UInt64? {
        switch mode {
        case .closed, .halfOpen(trial: nil): return nil
        case .open(let end): return now < end ? end - now : nil
        case .halfOpen(let start?):
            // A trial call that never ends must not block the gate forever.
            let end = start.saturatingAdding(policy?.probe.nanoseconds ?? CircuitBreaker.trialPatience)
            return now < end ? end - now : nil
        }
    }

    fileprivate func refusal(_ wait: UInt64) -> ConnectorError {
        let wait = Duration.nanoseconds(Int64(clamping: wait))
        let cause = reason?.asCause
        if case .open = mode {
            return ConnectorError(
                .notOpen,
                "the circuit breaker is open, because \(policy?.failures ?? 0) calls in a row have failed",
                fix: "wait for the trial call in \(wait.brief), or see to what failed",
                cause: cause,
                isRetryable: true,
                retryAfter: wait
            )
        }
        return ConnectorError(
            .notOpen,
            "the circuit breaker is half-open, and another call is the trial",
            cause: cause,
            isRetryable: true
        )
    }

    /// Whether the success of a call says something about the current mode.
    fileprivate func isCurrent(_ ticket: CallTicket) -> Bool {
        ticket.round == round || mode != .closed && ticket.round > roundBeforeTrials
    }

    /// Ignores the calls that are in flight: the next one to be admitted is the first trial.
    fileprivate mutating func awaitTrial(_ mode: CircuitBreaker.Mode) {
        self.mode = mode
        round += 1
        roundBeforeTrials = round
    }

    fileprivate mutating func close() {
        mode = .closed
        round += 1
        failures = []
        losses = []
        lossCount = nil
        reason = nil
    }

    fileprivate mutating func halfOpen() -> CircuitBreaker.Change {
        mode = .halfOpen(trial: nil)
        return .halfOpened
    }

    fileprivate mutating func succeeded() -> CircuitBreaker.Change? {
        failures = []
        guard mode != .closed else { return nil }
        close()
        return .closed
    }

    fileprivate mutating func failed(_ error: ConnectorError, at now: UInt64) -> CircuitBreaker.Change? {
        guard let policy else {
            // Without a policy, only lost runners make the breaker half-open; any other failure shows that this runner
            // is alive.
            guard error.code == .crashed else { return succeeded() }
            return halfOpen()
        }
        failures.removeAll { now - min($0, now) > policy.window.nanoseconds }
        failures.append(now)
        guard mode != .closed || failures.count >= policy.failures else { return nil }
        failures = Array(failures.suffix(policy.failures))
        let wait = max(policy.probe, error.retryAfter ?? .zero).nanoseconds
        let end = now.saturatingAdding(wait)
        awaitTrial(.open(until: end))
        openings += 1
        reason = error
        return .opened(until: end)
    }
}

extension ConnectorError {
    /// Whether a failed call says something about the gate rather than about its caller or the host.
    fileprivate var concernsGate: Bool {
        let others: [Code] = [
            .invalid, .unsupported, .missing, .conflict, .cancelled, .notOpen, .unknownConnector, .denied, .tooLarge,
            .partial, .notSimulated, .wrongType, .invalidValue, .missingValue, .unknownKey,
        ]
        return !others.contains(code) && !hadNoTime
    }
}
