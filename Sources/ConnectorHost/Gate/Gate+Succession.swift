// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging
internal import Synchronization

/// How a gate adopts another plan: a successor opens beside the current generation, and calls are directed to it only
/// once it has given evidence.
extension Gate {
    /// An open generation with a reserved seat, so that calls can be directed to it at any time: a successor, a standby, or
    /// the predecessor during a trial.
    struct ReadyGeneration: Sendable {
        let plan: GatePlan
        let generation: Generation
        let evidence: [Evidence]
    }

    /// How many earlier generations may wait for their last calls. When one more joins them, the calls of the oldest
    /// are ended.
    static let drainingLimit = 2

    /// Opens a successor beside the current generation, in as many attempts as the plan's `retry` allows.
    ///
    /// The successor must prove at least as much as the same plugin last proved; if opening proves less, it is probed.
    ///
    /// - Parameter deadline: In the clock's monotonic time.
    /// - Returns: The open successor, or why there is none: `not-open` if the gate has been closed.
    func openSuccessor(_ plan: GatePlan, by deadline: UInt64) async -> Result<ReadyGeneration, ConnectorError> {
        var attempt = 1
        while true {
            let result = await openBeside(plan, as: .successor, by: deadline)
            guard case .failure(let error) = result, error.isTransient, attempt < plan.retry.attempts else {
                return result
            }
            let wait = max(
                dependencies.jitter(plan.retry.bound(afterAttempt: attempt).nanoseconds),
                min(error.retryAfter ?? .zero, plan.retry.max).nanoseconds
            )
            let end = dependencies.calls.deadline(after: wait)
            guard end < deadline else { return result }
            await pause(until: end) { $0.machine.target == .open }
            guard storage.withLock({ $0.machine.target == .open }) else { return .failure(.gateClosed(path)) }
            attempt += 1
        }
    }

    /// What a generation is opened for beside the current one.
    enum Role: Equatable {
        /// To receive calls under the plan of a reload.
        case successor
        /// To receive calls under the gate's plan, which has this number: with other secrets, or because the current
        /// one is of an earlier plan.
        case renewal(ofPlan: Int)
        /// To take over when the current one's runner ends.
        case standby
    }

    /// Opens a generation beside the current one, once.
    ///
    /// - Parameter acceptsWeaker: Whether it may prove less than the current one.
    /// - Returns: The open generation, or why there is none: `not-open` if the gate has been closed or the generation
    ///   is no longer wanted.
    func openBeside(
        _ plan: GatePlan,
        as role: Role,
        acceptsWeaker: Bool = false,
        by deadline: UInt64
    ) async -> Result<ReadyGeneration, ConnectorError> {
        dependencies.redactor.add(plan.configuration.secrets, of: path)
        let successor = generation(of: plan, isStandby: role == .standby)
        let isWanted = storage.withLock { storage in
            guard storage.wants(role) else { return false }
            storage[role] = successor
            return true
        }
        guard isWanted else {
            await successor.end()
            return .failure(.gateClosed(path))
        }
        let end = min(deadline, dependencies.deadline(after: plan.timeout))
        var result = await successor.open(by: end)
        if !acceptsWeaker, case .success(let evidence) = result {
            result = await prove(successor, evidence, as: role)
        }
        do throws(ConnectorError) {
            let evidence = try result.get()
            try storage.withLock { storage throws(ConnectorError) in
                guard storage[role] === successor else { throw .gateClosed(path) }
                try successor.reserveSeat()
            }
            return .success(ReadyGeneration(plan: plan, generation: successor, evidence: evidence))
        } catch {
            let ending = abandon(successor, as: role)
            // The next alternative of the secrets may follow a renewal: it is not to be the third instance at a time, unless the
            // plugin blocks the thread that opened this one.
            if case .renewal = role {
                await successor.awaitReturn()
                if !successor.isHeld { await ending.value }
            }
            return .failure(shown(error))
        }
    }

    /// Returns a successor's evidence, which must be at least as strong as what the same plugin last proved.
    ///
    /// A renewal must prove as much as the current instance ever did: if a proxy answers in the vendor's place, proofs
    /// become weaker for a while, and say nothing of new secrets.
    private func prove(
        _ successor: Generation,
        _ evidence: [Evidence],
        as role: Role
    ) async -> Result<[Evidence], ConnectorError> {
        let isRenewal = if case .renewal = role { true } else { false }
        let (least, id) = storage.withLock { storage -> (Evidence.Kind?, String?) in
            let least = isRenewal ? storage.current?.strongestProof : storage.history.evidence.last?.kind
            return (least, storage.current?.pluginID)
        }
        guard let least, id == successor.pluginID, let opened = evidence.last?.kind, opened < least else {
            return .success(evidence)
        }
        if successor.canProbe {
            let probed = await successor.probe()
            guard case .success(let evidence) = probed, let kind = evidence.last?.kind, kind < least else {
                return probed
            }
        }
        return .failure(
            ConnectorError(
                .failed,
                "the successor proves only that it is \(opened.rawValue), and the instance that it would replace is \(least.rawValue)",
                fix: "check the credentials; to accept the weaker proof, close the gate"
                    + (role == .successor ? ", reload," : "") + " and open it again",
                connector: path
            )
        )
    }

    /// Lets the first instance of a moved gate open in another runner than that of the gate that it moves from.
    func opens(beside other: Gate) {
        let replica = other.storage.withLock { $0.replicaBeside }
        storage.withLock { $0.firstReplica = replica }
    }

    /// Directs calls to an open generation.
    func directCalls(to ready: ReadyGeneration, _ storage: inout Storage) {
        storage.opening.take()?.giveUp(superseded)
        ready.generation.receiveCalls()
        storage.install(ready.generation, ready.evidence)
        storage.history.endOutage()
        stopTimer(&storage)
    }

    /// Notes that calls have been directed to another instance, which shares neither the failures nor the defaults of the one before.
    ///
    /// An empty change makes all who watch settings read them again: no plugin knows what its predecessor answered.
    func instanceChanged() {
        breaker.instanceChanged()
        endPause()
        let isFirst = storage.withLock { $0.generationCount == 1 }
        guard !isFirst, let manifest, manifest.capabilities.contains(where: { $0.id.description == "settings/1" })
        else {
            return
        }
        dependencies.services.events.publish(
            ConnectorEvent(
                connector: path,
                name: SettingsChange.event,
                payload: SettingsChange().json,
                time: dependencies.clock.wallTime()
            )
        )
    }

    /// Directs calls to a successor, and lets the calls of its predecessor finish.
    ///
    /// If the gate was closed meanwhile, it stays closed and has the new plan. If it was also opened again, its
    /// instance is replaced in the background.
    ///
    /// - Returns: A value sent when the predecessor has ended; nil if there is none to end.
    @discardableResult
    func switchOver(to succession: ReadyGeneration) -> OneShot<Void>? {
        let successor = succession.generation
        let (hasSwitched, predecessor) = storage.withLock { storage -> (Bool, Generation?) in
            let proof = storage.history.evidence
            let earlierPlan = adopt(succession.plan, &storage)
            guard storage.successor === successor else { return (false, nil) }
            storage.successor = nil
            guard storage.machine.succeeded() else {
                storage.draining.append(successor)
                return (false, successor)
            }
            var predecessor = storage.current
            if succession.plan.trial != nil, let kept = storage.current.take() {
                // The predecessor kept for an earlier trial is no longer needed.
                predecessor = storage.drainPredecessor()
                storage.predecessor = ReadyGeneration(plan: earlierPlan, generation: kept, evidence: proof)
            }
            directCalls(to: succession, &storage)
            return (true, predecessor)
        }
        if hasSwitched {
            instanceChanged()
            checkLoss(of: successor)
            logger.info(
                "gate uses its successor",
                metadata: ["evidence": "\(succession.evidence.last?.kind.rawValue ?? "")"]
            )
            scheduleProbe()
            sendEarlyEvents()
            dependencies.uses.opened(path)
            renewStandby()
        } else {
            replaceOutdated()
        }
        dependencies.onChange()
        return predecessor.map { predecessor in
            let ended = OneShot<Void>()
            Task(executorPreference: dependencies.calls.gateThreads) {
                await self.drain(predecessor)
                ended.send()
            }
            return ended
        }
    }

    /// Ends an unwanted successor. The gate stays as it was.
    func abandon(_ succession: ReadyGeneration) {
        abandon(succession.generation, as: .successor)
    }

    /// Ends a generation that was opened beside the current one. The gate stays as it was.
    ///
    /// - Returns: The task that ends it.
    @discardableResult
    func abandon(_ successor: Generation, as role: Role) -> Task<Void, Never> {
        storage.withLock { storage in
            if storage[role] === successor { storage[role] = nil }
        }
        return Task(executorPreference: dependencies.calls.gateThreads) { await successor.end() }
    }

    /// Adopts another plan without awaiting anything.
    ///
    /// - Parameter needsInstance: Whether the plan needs another instance than the one before. If the gate has opened
    ///   meanwhile, its instance is then replaced in the background; otherwise it stays in use.
    func adopt(_ plan: GatePlan, needsInstance: Bool) {
        let earlier = storage.withLock { storage in
            let earlier = adopt(plan, needsInstance: needsInstance, &storage)
            if plan.probeInterval == nil, storage.machine.isProved { stopTimer(&storage) }
            return earlier
        }
        replaceOutdated()
        if !needsInstance { retry(ifAdmittedSince: earlier) }
        if plan.hasStandby { keepStandby() } else { renewStandby() }
        scheduleProbe()
        dependencies.onChange()
    }

    /// Adopts another plan, under the lock of the storage.
    ///
    /// - Parameter needsInstance: Whether the plan needs another instance than the one before.
    /// - Returns: The plan before.
    @discardableResult
    func adopt(_ plan: GatePlan, needsInstance: Bool = true, _ storage: inout Storage) -> GatePlan {
        let earlier = exchange(plan)
        isRecorded.store(plan.recording != nil, ordering: .relaxed)
        if !earlier.opensLike(plan) {
            storage.planNumber += 1
            if needsInstance { storage.isOutdated = true }
            // The image that was loaded last may be another one than the plan's.
            if needsInstance, storage.current == nil { storage.history.forgetContent() }
            // An attempt under the earlier plan would only be discarded.
            storage.opening?.giveUp(superseded)
        }
        if needsInstance { storage.replacementCount += 1 }
        storage.configuration = plan.configuration
        (storage.secretFault, storage.renewalPace) = (plan.fault, RenewalPace())
        storage.machine.retry = plan.retry
        breaker.use(plan.breaker)
        storage.current?.use(timeout: plan.timeout)
        return earlier
    }

    /// Adopts a plan whose instance would be the same, so that the earlier configuration is released.
    func refresh(_ plan: GatePlan) {
        retry(ifAdmittedSince: exchange(plan))
    }

    /// Replaces the plan, and returns the one before.
    private func exchange(_ plan: GatePlan) -> GatePlan {
        planned.withLock { planned in
            defer { planned = plan }
            return planned
        }
    }

    /// Opens a failed gate if the lock or the trusted keys have changed since an earlier plan: its plugin may be loaded
    /// by now.
    private func retry(ifAdmittedSince earlier: GatePlan) {
        guard state == .failed, plan.admission != earlier.admission else { return }
        detach { await $0.retry() }
    }

    /// Closes the gate, and opens it with another plan: see ``restart(by:)``.
    func restart(_ plan: GatePlan, by deadline: UInt64) async {
        // Before it closes, so that no one who awaits the closing opens it with the earlier plan.
        storage.withLock { _ = adopt(plan, &$0) }
        await restart(by: deadline)
    }

    /// Closes the gate and opens it again, unless it is closed by hand meanwhile. Calls fail until it is open.
    func restart(by deadline: UInt64 = .max) async {
        await close(isRestart: true)
        await open(by: deadline, isAgain: true)
    }

    /// Opens a gate that is not open, after it adopted another plan; not if it was closed by hand meanwhile.
    func reopen(by deadline: UInt64) async {
        await open(by: deadline, isAgain: true)
        if state == .failed { await retry() }
    }

    /// Ends a draining generation once its calls in flight have finished.
    ///
    /// It counts as draining from the moment in which it receives no new calls, so that closing the gate awaits its
    /// end.
    func drain(_ generation: Generation) async {
        let oldest = storage.withLock { $0.draining.dropLast(Self.drainingLimit) }
        for generation in oldest { generation.cut() }
        await generation.end()
        storage.withLock { $0.draining.removeAll { $0 === generation } }
        dependencies.onChange()
    }

    /// The error of an attempt to open under a plan that the gate no longer has.
    var superseded: ConnectorError {
        ConnectorError(.unavailable, "the configuration has changed", connector: path, isRetryable: true)
    }
}

extension Gate.Storage {
    /// The generation that is opening, or has opened, for a role.
    subscript(role: Gate.Role) -> Generation? {
        get {
            switch role {
            case .successor: successor
            case .renewal: opening
            case .standby: standby.opening
            }
        }
        set {
            switch role {
            case .successor: successor = newValue
            case .renewal: opening = newValue
            case .standby: standby.opening = newValue
            }
        }
    }

    /// Whether a generation may begin to open for a role.
    func wants(_ role: Gate.Role) -> Bool {
        guard machine.target == .open, self[role] == nil else { return false }
        guard case .renewal(let number) = role else { return true }
        return machine.isProved && planNumber == number
    }

    /// Where an instance opens that must not share the current one's runner.
    var replicaBeside: RunnerPool.Replica { current?.replica.other ?? firstReplica }

    /// The generation that is to be replaced because it is of an earlier plan, and the number of the plan; nil if there
    /// is none, or while another one opens in its place.
    var outdated: (generation: Generation, number: Int)? {
        guard isOutdated, machine.isProved, opening == nil, let current else { return nil }
        return (current, planNumber)
    }

    /// Removes and returns the generation kept during a trial, which then drains.
    mutating func drainPredecessor() -> Generation? {
        guard let generation = predecessor.take()?.generation else { return nil }
        draining.append(generation)
        return generation
    }

    /// Records the generation that receives calls from now on. The one that received them so far drains.
    mutating func install(_ generation: Generation, _ evidence: [Evidence]) {
        if let current { draining.append(current) }
        current = generation
        isOutdated = false
        generationCount += 1
        history.opened(generation, evidence)
    }
}

extension Generation {
    /// The plugin's id; nil if no plugin was found.
    fileprivate var pluginID: String? { try? plan.plugin.get().manifest.id }
}
