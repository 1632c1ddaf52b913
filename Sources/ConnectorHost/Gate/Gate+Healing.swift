// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorPlatform
internal import Logging
internal import Synchronization

/// How a failed gate heals.
extension Gate {
    /// Logs the failure and schedules the next attempt.
    ///
    /// - Parameter isNews: False for a healing attempt, whose gate is already reported as failed.
    func hasFailed(isNews: Bool = true) {
        let error = storage.withLock { $0.history.error }
        let wait = scheduleHealing()
        logger.log(
            level: isNews && dependencies.heals ? .warning : .debug,
            "gate failed",
            metadata: [
                "error": "\(error.map { "\($0)" } ?? "the deadline passed before an attempt could begin")",
                "next attempt": "\(wait.map { "in \(Duration.nanoseconds(Int64(clamping: $0)).brief)" } ?? "none")",
            ]
        )
        settle()
        dependencies.onChange()
    }

    /// A random wait of up to half the outage so far, within the policy's bounds, in nanoseconds.
    ///
    /// Attempts back off exponentially, gates that failed together do not retry together, and a vendor that was down
    /// for ten seconds is reached again within fifteen. After a permanent error, the wait is between half of the policy's
    /// maximum and all of it. The wait is never shorter than the vendor's `Retry-After`.
    func healingWait(
        _ policy: HealPolicy,
        since start: UInt64,
        after error: ConnectorError?,
        at now: UInt64
    ) -> UInt64 {
        let outage = now - min(now, start)
        let (initial, longest) = (policy.initial.nanoseconds, max(policy.initial, policy.max).nanoseconds)
        let isTransient = error?.isTransient ?? true
        let bound = isTransient ? min(max(outage / 2, initial), longest) : longest
        let least = isTransient ? 0 : bound / 2
        return max(least.saturatingAdding(dependencies.jitter(bound - least)), error?.retryAfter?.nanoseconds ?? 0)
    }

    /// Schedules the next healing attempt.
    ///
    /// - Returns: The wait in nanoseconds; nil if no attempt follows.
    private func scheduleHealing() -> UInt64? {
        guard dependencies.heals, let policy = plan.heal else { return nil }
        return storage.withLock { storage in
            guard storage.machine.target == .open, storage.machine.state == .failed else { return nil }
            let (now, history) = (dependencies.clock.now(), storage.history)
            let wait = healingWait(policy, since: history.outageStart ?? now, after: history.error, at: now)
            let round = storage.machine.round
            stopTimer(&storage)
            storage.nextAttempt = Timestamp(
                nanoseconds: dependencies.clock.wallTime().nanoseconds.saturatingAdding(wait)
            )
            storage.timer = dependencies.clock.schedule(after: wait) { [weak self] in
                self?.detach { await $0.heal(round) }
            }
            return wait
        }
    }

    /// Makes one healing attempt.
    ///
    /// - Parameter round: The round that scheduled the attempt; nil for an immediate one.
    /// - Returns: False if the gate needs no healing.
    @discardableResult
    private func heal(_ round: Int? = nil) async -> Bool {
        let next = storage.withLock { storage -> Int? in
            guard storage.machine.heal(round: round) else { return nil }
            stopTimer(&storage)
            storage.settled = OneShot()
            storage.history.attemptBegan(at: dependencies.clock.now())
            return storage.machine.round
        }
        guard let next else { return false }
        dependencies.onChange()
        switch await attempt(next, by: .max) {
        case .fail: hasFailed(isNews: false)
        case .nothing, .retry: settle()
        }
        return true
    }

    /// Makes a healing attempt at once, because a gate that the plugin uses has opened.
    func healWithUsed() {
        guard dependencies.heals, plan.heal != nil, state == .failed else { return }
        detach { await $0.heal() }
    }

    /// Opens a failed gate, or proves an open one, without waiting for a timer. A closed one stays closed. The next call is a trial if
    /// the breaker is open.
    ///
    /// An attempt already in progress may have asked the vendor before this request, so a gate that it opens is proved,
    /// too.
    func retry() async {
        // A gate that is to open, and waits until others have, opens in its turn.
        guard state != .closed else { return }
        if breaker.endWait() { dependencies.onChange() }
        endPause()
        if await heal() { return }
        if await open(isAgain: true) { return }
        await probe(isScheduled: false)
    }
}
