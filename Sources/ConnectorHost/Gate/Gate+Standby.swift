// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorIsolation
internal import ConnectorPlatform
internal import Logging
internal import Synchronization

/// How a gate keeps a standby: a second instance of its plugin, open and in another runner, that takes over when the runner of the
/// current one ends.
///
/// It receives no calls until then. It belongs to the current generation: with another configuration, other secrets or another image
/// comes another standby. One that fails is opened again after the waits of `heal`.
extension Gate {
    /// What a gate knows of its standby.
    struct Standby {
        /// The generation that opens, in order to wait.
        var opening: Generation?
        /// The generation that waits.
        var ready: Seated?
        /// The timer of the next attempt.
        fileprivate var timer: HostTimer?
        /// Since when there is none, in the clock's monotonic time; nil if one waits.
        fileprivate var missingSince: UInt64?
        /// Why the last one did not open, or was lost.
        fileprivate var error: ConnectorError?
        /// How often one has taken over.
        fileprivate var takeovers: UInt64 = 0
        /// Numbers the standbys, so that the failure of one that is no longer wanted has no consequence.
        fileprivate var round = 0

        /// Forgets the generations, which are no longer wanted, and returns them.
        mutating func takeGenerations(_ clock: any HostClock) -> [Generation] {
            stopTimer(clock)
            round += 1
            (missingSince, error) = (nil, nil)
            return [opening.take(), ready.take()?.generation].compactMap(\.self)
        }

        /// Forgets the generation that waits, which is lost.
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

    /// Whether the gate keeps one: hosts that retry nothing do not live long enough to need it.
    var keepsStandby: Bool { environment.heals && plan.hasStandby }

    /// Opens a standby, unless there is one.
    func keepStandby() {
        if keepsStandby { detach { await $0.openStandby() } }
    }

    /// Ends the standby, which is like an earlier instance, and opens another one if the gate is open.
    func renewStandby() {
        let generations = storage.withLock { storage in
            storage.standby.opening?.giveUp(closed)
            return storage.standby.takeGenerations(environment.clock)
        }
        for generation in generations { abandon(generation, as: .standby) }
        keepStandby()
    }

    private func openStandby() async {
        let begun = storage.withLock { storage -> (current: Generation, round: Int)? in
            guard storage.machine.isProved, storage.standby.isMissing, let current = storage.current else { return nil }
            storage.standby.stopTimer(environment.clock)
            storage.standby.missingSince = storage.standby.missingSince ?? environment.clock.now()
            return (current, storage.standby.round)
        }
        guard let (current, round) = begun else { return }
        let plan = plan.with(current.configuration)
        switch await openBeside(plan, as: .standby, in: current.berth.other, by: .max) {
        case .failure(let error): missStandby(error, of: round)
        case .success(let standby):
            let isWanted = storage.withLock { storage in
                guard storage.standby.round == round, storage.current === current else { return false }
                (storage.standby.opening, storage.standby.ready) = (nil, standby)
                (storage.standby.missingSince, storage.standby.error) = (nil, nil)
                return true
            }
            guard isWanted else { return abandon(standby.generation, as: .standby) }
            logger.info("gate has a standby", metadata: ["process": "\(standby.generation.runner ?? 0)"])
            checkLoss(of: standby.generation)
        }
        environment.onChange()
    }

    /// Opens another standby after a while, since there is none.
    ///
    /// - Parameters:
    ///   - error: Why there is none.
    ///   - round: The number of the one that failed; nil for the last one.
    func missStandby(_ error: ConnectorError, of round: Int? = nil) {
        guard keepsStandby else { return }
        let heal = plan.heal
        let wait = storage.withLock { storage -> UInt64? in
            guard round ?? storage.standby.round == storage.standby.round, storage.machine.isProved,
                storage.standby.isMissing, storage.standby.timer == nil
            else { return nil }
            let now = environment.clock.now()
            let since = storage.standby.missingSince ?? now
            (storage.standby.missingSince, storage.standby.error) = (since, shown(error))
            guard let heal else { return nil }
            let wait = healingWait(heal, since: since, after: error, at: now)
            storage.standby.timer = environment.clock.schedule(after: wait) { [weak self] in
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

    /// Proves the standby, so that what takes over is known to work.
    func proveStandby() async {
        guard let standby = storage.withLock({ $0.standby.ready }), standby.generation.canProbe else { return }
        let result = await standby.generation.probe()
        let failure = storage.withLock { storage -> ConnectorError? in
            guard storage.standby.ready?.generation === standby.generation else { return nil }
            switch result {
            case .success(let evidence):
                storage.standby.ready = Seated(
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
        environment.onChange()
    }

    /// Directs calls to the standby, if one waits.
    ///
    /// - Parameter error: Why the current generation is lost.
    /// - Returns: What receives calls from now on; nil if nothing does.
    func takeOver(_ storage: inout Storage, after error: ConnectorError) -> Generation? {
        guard let standby = storage.standby.ready, storage.machine.succeeded() else { return nil }
        storage.standby.lose(shown(error))
        storage.standby.takeovers += 1
        direct(to: standby, &storage)
        return standby.generation
    }
}
