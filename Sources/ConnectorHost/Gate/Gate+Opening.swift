// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorPlatform
internal import Logging
internal import Synchronization

extension Gate {
    /// Sets the target to open before the gate's turn comes. If the gate is closed meanwhile, ``open(by:isAgain:)`` can
    /// leave it closed.
    func request() {
        storage.withLock { $0.machine.request() }
    }

    /// Attempts to open until one succeeds, `retry` allows no more attempts, the deadline passes, or the gate closes.
    ///
    /// A second caller awaits the attempts in progress. A gate that fails here heals automatically.
    ///
    /// - Parameters:
    ///   - deadline: In the clock's monotonic time; no wait lasts longer, and no attempt begins later.
    ///   - isAgain: Whether this carries on an earlier request: a gate that was closed since then stays closed.
    /// - Returns: Whether this call made the attempts.
    @discardableResult
    func open(by deadline: UInt64 = .max, isAgain: Bool = false) async -> Bool {
        var isAgain = isAgain
        while true {
            let (action, round, event) = storage.withLock { [isAgain] storage in
                let action = storage.machine.open(isAgain: isAgain)
                if action == .begin { prepare(&storage) }
                let event = action == .awaitClosing ? storage.closed : storage.settled
                return (action, storage.machine.round, event)
            }
            switch action {
            case .nothing: return false
            case .join:
                _ = await event?.wait(by: deadline, on: dependencies.clock)
                return false
            case .awaitClosing:
                dependencies.onChange()
                guard await event?.wait(by: deadline, on: dependencies.clock) != nil else { return false }
                isAgain = true
            case .begin:
                dependencies.onChange()
                await attempts(of: round, by: deadline)
                // If the gate was closed meanwhile, await its closing.
                _ = await storage.withLock { $0.closed }?.wait(by: deadline, on: dependencies.clock)
                return true
            }
        }
    }

    /// Resets the record of the last opening, before the first attempt of a round.
    func prepare(_ storage: inout Storage) {
        storage.settled = OneShot()
        storage.history.openingBegan(at: dependencies.clock.now())
        stopTimer(&storage)
    }

    /// Cancels the next scheduled proof or attempt.
    func stopTimer(_ storage: inout Storage) {
        if let timer = storage.timer.take() { dependencies.clock.cancel(timer) }
        storage.nextAttempt = nil
    }

    /// Makes attempts, pausing between them, until the gate opens, fails or closes.
    private func attempts(of round: Int, by deadline: UInt64) async {
        while true {
            switch await attempt(round, by: deadline) {
            case .nothing: return settle()
            case .fail: return hasFailed()
            case .retry(let bound, let least):
                let wait = max(dependencies.jitter(bound.nanoseconds), least.nanoseconds)
                guard await pause(wait, before: deadline, round) else { return settle() }
            }
        }
    }

    /// Creates a generation and opens it. A failed attempt is cleaned up.
    ///
    /// If the vendor refuses the secrets, the same attempt tries the next alternative. If the gate adopts another plan
    /// meanwhile, the same attempt begins again with that plan.
    func attempt(_ round: Int, by deadline: UInt64) async -> GateStateMachine.FailureAction {
        while true {
            let (isRepeated, number) = storage.withLock {
                ($0.machine.attempts > 1 || $0.machine.round > 1, $0.planNumber)
            }
            var alternatives = SecretAlternatives(isRepeated ? renewedConfigurations() : [lastConfiguration])
            while storage.withLock({ $0.planNumber == number }) {
                let action = await attempt(
                    with: alternatives.next() ?? lastConfiguration,
                    round,
                    plan: number,
                    by: deadline
                ) {
                    if !isRepeated, plan.hasAlternatives { alternatives.add(renewedConfigurations()) }
                    return !alternatives.isEmpty
                }
                if let action { return action }
            }
        }
    }

    /// Opens a generation with one alternative of the secrets.
    ///
    /// - Parameters:
    ///   - number: The number of the plan that the configuration belongs to.
    ///   - hasMore: Whether another alternative follows if the vendor refuses this one.
    /// - Returns: Nil if the vendor refused the secrets and another alternative follows, or if the attempt failed and the
    ///   gate has another plan by now.
    private func attempt(
        with configuration: GatePlan.InstanceConfiguration,
        _ round: Int,
        plan number: Int,
        by deadline: UInt64,
        hasMore: () -> Bool
    ) async -> GateStateMachine.FailureAction? {
        let generation = generation(configuration)
        let (isWanted, isExhausted, other) = storage.withLock { storage in
            guard storage.machine.isTrying(round: round) else { return (false, false, Generation?.none) }
            // An instance with new secrets, which still opens although the one that it was to replace is gone.
            let other = storage.opening
            if let other { storage.draining.append(other) }
            storage.opening = generation
            storage.held.removeAll { !$0.isHeld }
            return (true, storage.held.count >= Self.heldLimit, other)
        }
        if let other { detach { await $0.drain(other) } }
        guard isWanted else {
            await generation.end()
            return .nothing
        }
        guard !isExhausted else {
            return finish(generation, .failure(Self.exhaustion), round, plan: number, by: deadline)
        }
        guard dependencies.clock.now() < deadline else {
            return finish(generation, .failure(Self.noTime), round, plan: number, by: deadline)
        }
        var result = await generation.open(by: min(deadline, dependencies.deadline(after: plan.timeout)))
        if case .success = result {
            do throws(ConnectorError) {
                try directCalls(to: generation, round, plan: number)
            } catch {
                result = .failure(error)
            }
        }
        if case .failure(let error) = result, error.code == .unauthorized { await generation.awaitReturn() }
        // End the failed generation before the next attempt begins, unless the plugin still blocks its thread.
        if case .failure = result, !generation.isHeld { await generation.end() }
        if case .failure(let error) = result, error.code == .unauthorized, !generation.isHeld, hasMore() { return nil }
        return finish(generation, result, round, plan: number, by: deadline)
    }

    /// The maximum number of this process's threads that attempts to open a gate may leave blocked in its plugin. In runners,
    /// ``Runner/leftLimit`` applies.
    static let heldLimit = 8

    /// The error of an attempt that would risk another blocked thread.
    private static var exhaustion: ConnectorError {
        ConnectorError(
            .unavailable,
            "\(heldLimit) earlier attempts to open are still blocked in functions of the plugin",
            fix: "fix the plugin and restart the application",
            isRetryable: true
        )
    }

    /// The error of an attempt that would begin after the deadline, such as that of a gate that had to wait for another one.
    private static var noTime: ConnectorError {
        ConnectorError(
            .timedOut,
            "the time to open was over before the attempt began",
            fix: "give the opening a longer timeout",
            isRetryable: true
        )
    }

    /// Directs calls to an opened generation, unless the round is over.
    private func directCalls(
        to generation: Generation,
        _ round: Int,
        plan number: Int
    ) throws(ConnectorError) {
        try storage.withLock { storage throws(ConnectorError) in
            guard storage.machine.isTrying(round: round) else { return }
            guard storage.planNumber == number else { throw superseded }
            try generation.reserveSeat()
            generation.receiveCalls()
        }
    }

    /// Records the result of an attempt.
    ///
    /// - Returns: Nil if the attempt failed and the gate has another plan by now, of which the failure says nothing.
    private func finish(
        _ generation: Generation,
        _ result: Result<[Evidence], ConnectorError>,
        _ round: Int,
        plan number: Int,
        by deadline: UInt64
    ) -> GateStateMachine.FailureAction? {
        let now = dependencies.clock.now()
        let (action, isUsed, hasRecovered) = storage.withLock {
            storage -> (GateStateMachine.FailureAction?, Bool, Bool) in
            guard storage.machine.isTrying(round: round) else { return (.nothing, false, false) }
            storage.opening = nil
            if case .failure = result, generation.isHeld { storage.held.append(generation) }
            if case .failure = result, storage.planNumber != number { return (nil, false, false) }
            storage.history.attemptEnded(at: now)
            switch result {
            case .success(let evidence):
                storage.install(generation, evidence)
                // The gate may have adopted another plan since calls were directed to the generation.
                storage.isOutdated = storage.planNumber != number
                let hasRecovered = storage.history.endOutage()
                _ = storage.machine.attemptSucceeded(round: round)
                return (.nothing, true, hasRecovered)
            case .failure(let error):
                storage.history.attemptFailed(shown(error.explained(by: storage.secretFault)), of: generation)
                return (storage.machine.attemptFailed(error, round: round, isLast: now >= deadline), false, false)
            }
        }
        if isUsed {
            instanceChanged()
            logger.info(
                hasRecovered ? "gate recovered" : "gate opened",
                metadata: ["evidence": "\((try? result.get())?.last?.kind.rawValue ?? "")"]
            )
            scheduleProbe()
            sendEarlyEvents()
            dependencies.uses.opened(path)
            checkLoss(of: generation)
            renewStandby()
            replaceOutdated()
        } else {
            if case .failure(let error) = result {
                logger.debug("attempt to open failed", metadata: ["error": "\(shown(error))"])
            }
            detach { _ in await generation.end() }
        }
        dependencies.onChange()
        return action
    }

    /// Waits before the next attempt; returns false if none follows.
    private func pause(_ nanoseconds: UInt64, before deadline: UInt64, _ round: Int) async -> Bool {
        let end = dependencies.calls.deadline(after: nanoseconds)
        guard end < deadline else {
            storage.withLock { $0.machine.gaveUp(round: round) }
            hasFailed()
            return false
        }
        await pause(until: end) { $0.machine.isTrying(round: round) }
        return storage.withLock { $0.machine.isTrying(round: round) }
    }

    /// Waits until a moment of the clock, or until the gate closes.
    ///
    /// - Parameter isWanted: Whether there is anything to wait for; called under the lock of the storage.
    func pause(until end: UInt64, if isWanted: @Sendable (borrowing Storage) -> Bool) async {
        let closing = storage.withLock { storage -> OneShot<Void>? in
            guard isWanted(storage) else { return nil }
            let closing = storage.pause ?? OneShot()
            storage.pause = closing
            return closing
        }
        _ = await closing?.wait(by: end, on: dependencies.clock)
    }

    /// Resumes every caller that awaits the attempts.
    func settle() {
        storage.withLock { $0.settled.take() }?.send()
    }
}
