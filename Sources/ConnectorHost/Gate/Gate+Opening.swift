// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Logging
internal import Synchronization

extension Gate {
    /// Tries to open until it works, fails for good, the deadline passes, or the gate is closed.
    ///
    /// A gate that is opening already is waited for instead.
    ///
    /// - Parameter deadline: On the clock's monotonic time; no attempt lasts longer or starts later.
    func open(by deadline: UInt64 = .max) async {
        let clock = environment.clock
        let (action, round, pause) = storage.withLock { storage in
            let action = storage.machine.open()
            let round = storage.machine.round
            guard action == .nothing else {
                storage.openStart = clock.now()
                storage.openDuration = nil
                storage.error = nil
                return (action, round, Pause?.none)
            }
            guard storage.machine.isOpening(round: round) else { return (action, round, nil) }
            let pause = Pause()
            storage.followers.append((round, pause))
            return (action, round, pause)
        }
        environment.onChange()
        if let pause { return await end(of: pause, by: deadline) }
        await proceed(with: action, by: deadline, round)
        let followers = storage.withLock { $0.takeFollowers(of: round) }
        for follower in followers { follower.end() }
    }

    /// Waits for a pause that somebody else ends, but not for ever.
    private func end(of pause: Pause, by deadline: UInt64) async {
        guard deadline < .max else { return await pause.ended() }
        let now = environment.clock.now()
        let timer = environment.clock.schedule(after: deadline > now ? deadline - now : 0) { pause.end() }
        await pause.ended()
        environment.clock.cancel(timer)
    }

    /// Makes attempts, with pauses between them, until there is nothing more to do.
    private func proceed(with first: GateStateMachine.OpenAction, by deadline: UInt64, _ round: Int) async {
        var action = first
        while true {
            switch action {
            case .attempt: break
            case .attemptWithin(let bound):
                let wait = environment.jitter(bound.nanoseconds)
                guard await pause(.nanoseconds(Int64(clamping: wait)), before: deadline, round) else { return }
            case .attemptAfter(let wait): guard await pause(wait, before: deadline, round) else { return }
            case .prove: return scheduleProbe()
            case .nothing: return
            }
            action = await attempt(by: deadline, round)
            environment.onChange()
        }
    }

    /// Waits before the next attempt; false if there will be none.
    private func pause(_ duration: Duration, before deadline: UInt64, _ round: Int) async -> Bool {
        guard environment.deadline(after: duration) < deadline else {
            storage.withLock { $0.machine.gaveUp(round: round) }
            environment.onChange()
            return false
        }
        let pause = Pause()
        let isWanted = storage.withLock { storage in
            guard storage.machine.isOpening(round: round) else { return false }
            storage.pause = pause
            return true
        }
        guard isWanted else { return false }
        let timer = environment.clock.schedule(after: duration.nanoseconds) { pause.end() }
        await pause.ended()
        environment.clock.cancel(timer)
        return storage.withLock { $0.machine.isOpening(round: round) }
    }

    /// Makes an instance and opens it; what fails leaves nothing behind.
    private func attempt(by deadline: UInt64, _ round: Int) async -> GateStateMachine.OpenAction {
        let candidate: PluginCandidate
        switch plan.plugin {
        case .failure(let error): return await finish(.failure(error), round, deadline: deadline)
        case .success(let found): candidate = found
        }
        let attempt = OpenAttempt(environment: environment, plan: plan, logger: logger) { [weak self] in
            self?.misbehaved($0)
        }
        let isWanted = storage.withLock { storage in
            guard storage.machine.isOpening(round: round) else { return false }
            storage.attempt = attempt
            return true
        }
        guard isWanted else { return .nothing }
        let result = await attempt.run(candidate, by: min(deadline, environment.deadline(after: plan.timeout)))
        return await finish(result, round, deadline: deadline)
    }

    private func finish(
        _ result: Result<(PluginInstance, [Evidence]), ConnectorError>,
        _ round: Int,
        deadline: UInt64
    ) async -> GateStateMachine.OpenAction {
        let now = environment.clock.now()
        let action = change { storage in
            guard storage.machine.isOpening(round: round) else { return GateStateMachine.OpenAction.nothing }
            storage.attempt = nil
            storage.openDuration = .nanoseconds(Int64(clamping: now - min(now, storage.openStart)))
            switch result {
            case .success((let instance, let evidence)):
                storage.instance = instance
                storage.content = instance.plugin.content
                storage.evidence = evidence
                storage.error = nil
                return storage.machine.openSucceeded(round: round)
            case .failure(var error):
                if now >= deadline { error.isRetryable = false }
                storage.error = described(error)
                return storage.machine.openFailed(error, round: round)
            }
        }
        switch result {
        case .success((let instance, let evidence)):
            logger.debug("gate opened", metadata: ["evidence": "\(evidence.last?.kind.rawValue ?? "")"])
            // The gate was closed while the plugin opened.
            if action != .prove { await end(instance) }
        case .failure(let error):
            logger.debug("attempt to open failed", metadata: ["error": "\(described(error))"])
        }
        return action
    }
}
