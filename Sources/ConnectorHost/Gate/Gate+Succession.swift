// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorLoading
internal import ConnectorPlatform
internal import Logging
internal import Synchronization

/// How a gate takes up another plan: a successor opens beside the current generation, and calls are directed to it only once it has
/// given evidence.
extension Gate {
    /// A generation that has opened and has a seat, so that calls can be directed to it: a successor, or a predecessor during a trial.
    struct Seated: Sendable {
        let plan: GatePlan
        let generation: Generation
        let evidence: [Evidence]
    }

    /// How many earlier generations may wait for their last calls. One more, and the calls of the oldest are ended.
    static let drainingLimit = 2

    /// Opens a successor beside the current generation, as often as the plan's `retry` allows.
    ///
    /// It must prove at least as much as the same plugin proved last, by a probe if opening proved less.
    ///
    /// - Parameter deadline: In the clock's monotonic time.
    /// - Returns: Why there is no successor; `not-open` if the gate has been closed.
    func openSuccessor(_ plan: GatePlan, by deadline: UInt64) async -> Result<Seated, ConnectorError> {
        var attempt = 1
        while true {
            let result = await openBeside(plan, as: .prepared, by: deadline)
            guard case .failure(let error) = result, error.isTransient, attempt < plan.retry.attempts else {
                return result
            }
            let wait = max(
                environment.jitter(plan.retry.bound(afterAttempt: attempt).nanoseconds),
                min(error.retryAfter ?? .zero, plan.retry.max).nanoseconds
            )
            let end = environment.calls.deadline(after: wait)
            guard end < deadline else { return result }
            _ = await OneShot<Void>().wait(by: end, on: environment.clock)
            attempt += 1
        }
    }

    /// What a generation that opens beside the current one is for.
    enum Role {
        /// To replace it, with another plan.
        case prepared
        /// To wait for the end of its runner.
        case standby
    }

    /// Opens a generation beside the current one, once.
    ///
    /// - Returns: Why there is none; `not-open` if the gate has been closed, or the generation is no longer wanted.
    func openBeside(
        _ plan: GatePlan,
        as role: Role,
        in berth: RunnerPool.Berth = .first,
        by deadline: UInt64
    ) async -> Result<Seated, ConnectorError> {
        environment.redactor.add(plan.configuration.secrets.values)
        let successor = generation(of: plan, in: berth)
        let isWanted = storage.withLock { storage in
            guard storage.machine.target == .open, storage[role] == nil else { return false }
            storage[role] = successor
            return true
        }
        guard isWanted else {
            await successor.end()
            return .failure(closed)
        }
        let end = min(deadline, environment.deadline(after: plan.timeout))
        var result = await successor.open(by: end)
        if case .success(let evidence) = result { result = await prove(successor, evidence) }
        do throws(ConnectorError) {
            let evidence = try result.get()
            try storage.withLock { storage throws(ConnectorError) in
                guard storage[role] === successor else { throw closed }
                try successor.takeSeat()
            }
            return .success(Seated(plan: plan, generation: successor, evidence: evidence))
        } catch {
            abandon(successor, as: role)
            return .failure(shown(error))
        }
    }

    /// The evidence of a successor, which must be as strong as what the same plugin proved last.
    private func prove(
        _ successor: Generation,
        _ evidence: [Evidence]
    ) async -> Result<[Evidence], ConnectorError> {
        let (last, id) = storage.withLock { ($0.evidence.last?.kind, $0.current?.pluginID) }
        guard let last, id == successor.pluginID, let opened = evidence.last?.kind, opened < last else {
            return .success(evidence)
        }
        if successor.canProbe {
            let probed = await successor.probe()
            guard case .success(let evidence) = probed, let kind = evidence.last?.kind, kind < last else {
                return probed
            }
        }
        return .failure(
            ConnectorError(
                .failed,
                "the successor proves only that it is \(opened.rawValue), and the instance that it would replace is \(last.rawValue)",
                fix: "check the credentials; to accept the weaker proof, close the gate, reload, and open it again",
                connector: path
            )
        )
    }

    /// Directs calls to a generation that has a seat.
    func direct(to seated: Seated, _ storage: inout Storage) {
        storage.successor.take()?.giveUp(superseded)
        seated.generation.lead()
        storage.take(seated.generation, seated.evidence)
        storage.outageStart = nil
        stopTimer(&storage)
    }

    /// Directs calls to a successor, and lets the calls of its predecessor finish.
    ///
    /// If the gate has been closed meanwhile, it stays closed, and has the new plan. If it has been opened again, too, its instance is
    /// replaced by another one.
    ///
    /// - Returns: The end of the predecessor; nil if there is none.
    @discardableResult
    func take(_ succession: Seated) -> OneShot<Void>? {
        let successor = succession.generation
        let earlierPlan = plan
        let (isTaken, predecessor, outdated) = storage.withLock { storage -> (Bool, Generation?, Int?) in
            let proof = storage.evidence
            let isOther = adopt(succession.plan, &storage)
            guard storage.prepared === successor else {
                return (false, nil, isOther && storage.machine.isProved ? storage.planNumber : nil)
            }
            storage.prepared = nil
            guard storage.machine.succeeded() else { return (false, successor, nil) }
            var predecessor = storage.current
            if succession.plan.trial != nil, let kept = predecessor {
                // The one before it is no longer needed.
                predecessor = storage.predecessor?.generation
                storage.predecessor = Seated(plan: earlierPlan, generation: kept, evidence: proof)
            }
            direct(to: succession, &storage)
            return (true, predecessor, nil)
        }
        if let outdated { replaceOutdated(by: succession.plan, of: outdated) }
        if isTaken {
            breaker.instanceChanged()
            checkLoss(of: successor)
            logger.info(
                "gate uses its successor",
                metadata: ["evidence": "\(succession.evidence.last?.kind.rawValue ?? "")"]
            )
            scheduleProbe()
            sendEarlyEvents()
            environment.uses.opened(path)
            renewStandby()
        }
        environment.onChange()
        return predecessor.map { predecessor in
            let ended = OneShot<Void>()
            Task(executorPreference: environment.calls.gateThreads) {
                await self.drain(predecessor)
                ended.send()
            }
            return ended
        }
    }

    /// Replaces an instance of an earlier plan, which a caller has opened.
    ///
    /// - Parameter number: The number of the plan.
    private func replaceOutdated(by plan: GatePlan, of number: Int) {
        detach { gate in
            let message: Logger.Message = "gate uses its new configuration"
            if await gate.replace(by: plan.configuration, of: number, saying: message) { return }
            gate.logger.warning("gate could not use its new configuration yet")
        }
    }

    /// Ends a successor that is not wanted. The gate stays as it was.
    func abandon(_ succession: Seated) {
        abandon(succession.generation, as: .prepared)
    }

    func abandon(_ successor: Generation, as role: Role) {
        storage.withLock { storage in
            if storage[role] === successor { storage[role] = nil }
        }
        Task(executorPreference: environment.calls.gateThreads) { await successor.end() }
    }

    /// Takes up another plan without opening anything. A generation in use continues.
    func adopt(_ plan: GatePlan) {
        storage.withLock { storage in
            // An attempt under the earlier plan would only be discarded.
            if adopt(plan, &storage) { storage.successor?.giveUp(superseded) }
            if plan.probeInterval == nil, storage.machine.isProved { stopTimer(&storage) }
        }
        if plan.hasStandby { keepStandby() } else { renewStandby() }
        scheduleProbe()
        environment.onChange()
    }

    /// - Returns: Whether an instance of the plan would be another one.
    @discardableResult
    func adopt(_ plan: GatePlan, _ storage: inout Storage) -> Bool {
        let isOther = planned.withLock { planned in
            defer { planned = plan }
            return !planned.opensLike(plan)
        }
        isRecorded.store(plan.recording != nil, ordering: .relaxed)
        if isOther { storage.planNumber += 1 }
        storage.configuration = plan.configuration
        storage.machine.retry = plan.retry
        breaker.use(plan.breaker)
        storage.current?.use(timeout: plan.timeout)
        return isOther
    }

    /// Takes up a plan of which an instance would be the same, so that the earlier configuration is released.
    func refresh(_ plan: GatePlan) {
        planned.withLock { $0 = plan }
    }

    /// Closes the gate, and opens it with another plan. Calls fail meanwhile.
    func restart(_ plan: GatePlan, by deadline: UInt64) async {
        await close()
        adopt(plan)
        await open(by: deadline)
    }

    /// Opens a gate that is not open, after it has taken up another plan.
    func reopen(by deadline: UInt64) async {
        await open(by: deadline)
        if state == .failed { await retry() }
    }

    /// Ends a generation that receives no more calls, after the calls in flight, and counts it until then.
    func drain(_ generation: Generation) async {
        let oldest = storage.withLock { storage in
            storage.draining.append(generation)
            return storage.draining.count > Self.drainingLimit
                ? storage.draining[storage.draining.count - 1 - Self.drainingLimit] : nil
        }
        oldest?.cut()
        await generation.end()
        storage.withLock { $0.draining.removeAll { $0 === generation } }
        environment.onChange()
    }

    /// The error of an attempt to open under a plan that the gate no longer has.
    var superseded: ConnectorError {
        ConnectorError(.unavailable, "the configuration has changed", connector: path, isRetryable: true)
    }
}

extension Gate.Storage {
    /// The generation that opens, or has opened, for a role.
    subscript(role: Gate.Role) -> Generation? {
        get {
            switch role {
            case .prepared: prepared
            case .standby: standby.opening
            }
        }
        set {
            switch role {
            case .prepared: prepared = newValue
            case .standby: standby.opening = newValue
            }
        }
    }

    /// Records the generation that receives calls from now on.
    mutating func take(_ generation: Generation, _ evidence: [Evidence]) {
        current = generation
        content = generation.content
        self.evidence = evidence
        error = nil
        successCount += 1
        generationCount += 1
    }
}

extension Generation {
    /// The plugin's id; nil if no plugin was found.
    fileprivate var pluginID: String? { try? plan.plugin.get().manifest.id }
}
