// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Logging
internal import Synchronization

/// How a gate keeps a standby: a second instance of its plugin, open in another runner, that takes over when the
/// current instance's runner ends.
///
/// Until then it receives no calls. It belongs to the current generation: a new configuration, new secrets or a new
/// image bring a new standby. A standby that fails is opened again after the waits of `heal`.
extension Gate {
    /// What a gate knows about its standby.
    struct Standby {
        /// The generation being opened as the standby.
        var opening: Generation?
        /// The open standby, ready to take over.
        var ready: ReadyGeneration?
        /// The gate's ``Gate/Storage/generationCount`` when the standby became ready: it takes over from no other
        /// generation.
        fileprivate var generationCount: UInt64 = 0
        /// The timer of the next attempt.
        fileprivate var timer: HostTimer?
        /// Since when the standby has been missing, in the clock's monotonic time; nil if one is ready.
        fileprivate var missingSince: UInt64?
        /// Why the last standby failed to open or was lost.
        fileprivate var error: ConnectorError?
        /// How often a standby has taken over.
        fileprivate var takeovers: UInt64 = 0
        /// Incremented when the standby is no longer wanted, so that its late failure is ignored.
        fileprivate var round = 0

        /// Removes and returns the generations, which are no longer wanted.
        mutating func removeGenerations(_ clock: any HostClock) -> [Generation] {
            stopTimer(clock)
            round += 1
            (missingSince, error) = (nil, nil)
            return [opening.take(), ready.take()?.generation].compactMap(\.self)
        }

        /// Removes the ready standby, and records why.
        mutating func lose(_ error: ConnectorError) {
            (ready, self.error) = (nil, error)
        }

        fileprivate var isMissing: Bool { opening == nil && ready == nil }

        fileprivate mutating func stopTimer(_ clock: any HostClock) {
            if let timer = timer.take() { clock.cancel(timer) }
        }

        /// The standby's part of the report.
        var report: StandbyReport {
            StandbyReport(
                state: ready != nil ? .ready : opening != nil ? .opening : .missing,
                process: (ready?.generation ?? opening)?.runner.map(Int64.init),
                takeovers: takeovers,
                error: error
            )
        }
    }

    /// Whether the gate keeps a standby: a host that retries nothing does not live long enough to need one.
    var keepsStandby: Bool { dependencies.heals && plan.hasStandby }

    /// Opens a standby, unless the gate has one.
    func keepStandby() {
        if keepsStandby { detach { await $0.openStandby() } }
    }

    /// Ends the standby, which matches an earlier instance, and opens another one if the gate is open.
    func renewStandby() {
        let generations = storage.withLock { storage in
            storage.standby.opening?.giveUp(.gateClosed(path))
            return storage.standby.removeGenerations(dependencies.clock)
        }
        for generation in generations { abandon(generation, as: .standby) }
        keepStandby()
    }

    private func openStandby() async {
        let begun = storage.withLock { storage -> (current: Generation, round: Int)? in
            // The successor of an outdated instance gets a standby of its own.
            guard storage.machine.isProved, !storage.isOutdated, storage.standby.isMissing,
                let current = storage.current
            else { return nil }
            storage.standby.stopTimer(dependencies.clock)
            storage.standby.missingSince = storage.standby.missingSince ?? dependencies.clock.now()
            return (current, storage.standby.round)
        }
        guard let (current, round) = begun else { return }
        let plan = plan.with(current.configuration)
        let result = await openBeside(plan, as: .standby, by: .max)
        let isWanted = storage.withLock { storage in
            guard storage.standby.round == round, storage.current === current, !storage.isOutdated else { return false }
            guard case .success(let standby) = result else { return true }
            (storage.standby.opening, storage.standby.ready) = (nil, standby)
            storage.standby.generationCount = storage.generationCount
            (storage.standby.missingSince, storage.standby.error) = (nil, nil)
            return true
        }
        switch result {
        case _ where !isWanted:
            if case .success(let standby) = result { abandon(standby.generation, as: .standby) }
            // While this one opened, the gate opened no other.
            keepStandby()
        case .failure(let error): missStandby(error, of: round)
        case .success(let standby):
            logger.info("gate has a standby", metadata: ["process": "\(standby.generation.runner ?? 0)"])
            checkLoss(of: standby.generation)
        }
        dependencies.onChange()
    }

    /// Schedules the opening of another standby, because there is none.
    ///
    /// - Parameters:
    ///   - error: Why there is no standby.
    ///   - round: The round of the standby that failed; nil for the current one.
    func missStandby(_ error: ConnectorError, of round: Int? = nil) {
        guard keepsStandby else { return }
        let heal = plan.heal
        let wait = storage.withLock { storage -> UInt64? in
            guard round ?? storage.standby.round == storage.standby.round, storage.machine.isProved,
                storage.standby.isMissing, storage.standby.timer == nil
            else { return nil }
            let now = dependencies.clock.now()
            let since = storage.standby.missingSince ?? now
            (storage.standby.missingSince, storage.standby.error) = (since, shown(error))
            guard let heal else { return nil }
            let wait = healingWait(heal, since: since, after: error, at: now)
            storage.standby.timer = dependencies.clock.schedule(after: wait) { [weak self] in
                self?.detach { await $0.openStandby() }
            }
            return wait
        }
        guard let wait else { return }
        logger.info(
            "gate has no standby",
            metadata: [
                "error": "\(shown(error))",
                "next attempt": "in \(Duration.nanoseconds(Int64(clamping: wait)).brief)",
            ]
        )
    }

    /// Proves the standby, so that it is known to work when it takes over.
    func proveStandby() async {
        guard let standby = storage.withLock({ $0.standby.ready }), standby.generation.canProbe else { return }
        let result = await standby.generation.probe()
        let failure = storage.withLock { storage -> ConnectorError? in
            guard storage.standby.ready?.generation === standby.generation else { return nil }
            switch result {
            case .success(let evidence):
                storage.standby.ready = ReadyGeneration(
                    plan: standby.plan,
                    generation: standby.generation,
                    evidence: evidence
                )
                return nil
            case .failure(let error):
                storage.standby.lose(shown(error))
                return error
            }
        }
        guard let failure else { return }
        abandon(standby.generation, as: .standby)
        missStandby(failure)
        dependencies.onChange()
    }

    /// Directs calls to the standby, if one is ready.
    ///
    /// - Parameter error: Why the current generation is lost.
    /// - Returns: The generation that now receives calls; nil if no standby could take over.
    func takeOver(_ storage: inout Storage, after error: ConnectorError) -> Generation? {
        // Right after a switch, the standby may still be that of the earlier generation.
        guard let standby = storage.standby.ready, storage.standby.generationCount == storage.generationCount,
            storage.machine.succeeded()
        else { return nil }
        storage.standby.lose(shown(error))
        storage.standby.takeovers += 1
        // A standby of an earlier plan is to be replaced like the instance whose place it takes.
        let isOutdated = storage.isOutdated
        directCalls(to: standby, &storage)
        storage.isOutdated = isOutdated
        return standby.generation
    }
}
