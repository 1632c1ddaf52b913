// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

/// Starting deliveries, and recording their outcomes.
extension Outbox {
    /// The interval, in nanoseconds, of polling for the changes of other processes.
    private static let interval: UInt64 = 1_000_000_000

    /// Takes the right to deliver now, rather than when the first delivery starts.
    ///
    /// - Throws: `conflict` if another host has it; `storage` if the outbox cannot be used.
    package func claim() async throws(ConnectorError) {
        _ = try await engine()
        try takeLock()
    }

    /// Takes the right to deliver, unless this process has it.
    ///
    /// A disk that hangs holds only those who take the lock: they take turns in `locking`, the outer of the two locks, and ``state`` is free
    /// while they wait for the file. So no turn meets the lock file of another one, and only ``close(within:)`` may come in between: if it
    /// began before the lock arrived, the lock is dropped here, otherwise by `close`.
    ///
    /// - Returns: Whether this process did not have it before.
    /// - Throws: `conflict` if another host has it; `storage`; `not-open` once the outbox closes.
    @discardableResult
    private func takeLock() throws(ConnectorError) -> Bool {
        try locking.withLock { _ throws(ConnectorError) in
            let (isClosing, isHeld) = state.withLock { ($0.isClosing, $0.lock != nil) }
            guard !isClosing else { throw .hostClosed }
            guard !isHeld else { return false }
            try put(dependencies.lock())
            return true
        }
    }

    /// Locks the new lock file if that of this process was removed, such as with its directory. Takes its turn as ``takeLock()`` does.
    private func renewLock() {
        locking.withLock { _ in
            guard let lock = state.withLock(\.lock), !lock.isInPlace, let new = try? dependencies.lock() else { return }
            try? put(new)
        }
    }

    private func put(_ lock: DeliveryLock) throws(ConnectorError) {
        try state.withLock { state throws(ConnectorError) in
            guard !state.isClosing else { throw .hostClosed }
            state.lock = lock
        }
    }

    /// Starts to deliver: at once if there are events, otherwise when the first one comes.
    ///
    /// - Parameter isStored: Whether an earlier process may have left events.
    package func start(isStored: Bool) async throws(ConnectorError) {
        state.withLock { $0.isDraining = true }
        guard !isOpen else { return await deliver() }
        guard isStored else { return }
        do throws(ConnectorError) {
            _ = try await engine()
        } catch {
            // The servers may be back later.
            state.withLock { watch(&$0) }
            throw error
        }
    }

    /// Starts the deliveries, unless another process has the right to deliver.
    func deliver() async {
        guard let engine = try? await engine() else { return }
        let isWanted = state.withLock { state in
            guard state.isDraining, !state.isClosing else { return false }
            watch(&state)
            return true
        }
        let isNew = isWanted && (try? takeLock()) == true
        let (started, late) = state.withLock { state in
            // Some connectors may have been moved or removed while this process could not deliver.
            (state.statistics.paths.compactMap { begin($0, engine, &state) }, isNew ? state.gone : [])
        }
        run(started)
        dependencies.onChange()
        await settleLateEvents(of: late)
    }

    /// Makes the delivery of a connector that has events; nil if there is one, or nothing is to be delivered here.
    func begin(_ path: String, _ engine: any OutboxEngine, _ state: inout State) -> Delivery? {
        guard state.isDraining, !state.isClosing, state.lock != nil, state.deliveries[path] == nil else { return nil }
        guard state.receives(path), let target = state.targets[path] else { return nil }
        let delivery = delivery(to: target, engine, after: state.pauses.removeValue(forKey: path))
        state.deliveries[path] = delivery
        return delivery
    }

    func run(_ deliveries: [Delivery]) {
        for delivery in deliveries { delivery.start(on: dependencies.executor) }
    }

    private func delivery(
        to target: DeliveryTarget,
        _ engine: any OutboxEngine,
        after pause: Delivery.Pause?
    ) -> Delivery {
        Delivery(
            to: target,
            Delivery.Dependencies(
                engine: engine,
                clock: dependencies.clock,
                jitter: dependencies.jitter,
                onSettled: { [weak self] in self?.settled($0, $1, $2, $3) },
                onChange: dependencies.onChange,
                onPause: { [dependencies] in dependencies.onPause(target.path, $0) }
            ),
            after: pause
        )
    }

    /// Polls for the changes of other processes from now on, if nothing does so yet.
    func watch(_ state: inout State) {
        guard state.timer == nil, !state.isClosing else { return }
        state.timer = dependencies.clock.schedule(after: Self.interval) { [weak self] in
            guard let self else { return }
            Task(executorPreference: self.dependencies.executor) { [weak self] in await self?.look() }
        }
    }

    /// Polls the engine from now on if deliveries are wanted, even if no event has opened it: this process then notices that events can no
    /// longer be stored, and that they can be again.
    package func watch() {
        state.withLock { if $0.isDraining { watch(&$0) } }
    }

    /// Announces the events that have become dead letters.
    ///
    /// - Parameter now: The monotonic time; nil to announce even what was announced a short time ago.
    func announceDeadLetters(at now: UInt64?) {
        for one in state.withLock({ $0.deadLetters.take(at: now) }) {
            dependencies.onDead(one.path, one.count, one.failure)
        }
    }

    /// Polls the engine, and schedules the next poll. A slow engine is polled less often, never twice at a time.
    private func look() async {
        renewLock()
        announceDeadLetters(at: dependencies.clock.now())
        if !isClosing { await poll() }
        state.withLock { state in
            state.timer = nil
            watch(&state)
        }
    }

    /// Looks for the changes of other processes, and takes the right to deliver once no process has it.
    private func poll() async {
        // An engine that cannot be opened is noted there.
        guard let engine = try? await engine() else { return }
        let version: Int64
        do throws(ConnectorError) {
            version = try await engine.version()
        } catch {
            return noteStore(failure: error)
        }
        do throws(ConnectorError) {
            try await engine.check(targetPaths.sorted())
            noteStore(failure: nil)
        } catch {
            noteStore(failure: error)
        }
        if state.withLock({ $0.version != version }) {
            do throws(ConnectorError) {
                try await takeUp(engine)
                try await notifyReceipts(engine)
                // What fails is tried again with the next poll.
                state.withLock { $0.version = version }
            } catch {}
        }
        // A process with an older tree may have stored them. Hosts that share a queue each deliver what their own tree has.
        await settleLateEvents(
            of: state.withLock { state in state.late.filter { !engine.isShared || state.unsettled.contains($0) } }
        )
        if state.withLock({ $0.isDraining && $0.lock == nil }) { await deliver() }
    }

    /// Rereads the statistics, and delivers what other processes have appended.
    func takeUp(_ engine: any OutboxEngine) async throws(ConnectorError) {
        try await refresh(engine)
        for delivery in state.withLock({ Array($0.deliveries.values) }) { delivery.arrivedElsewhere() }
        await deliver()
    }

    /// Records the outcome of a batch, and wakes the callers that wait for it.
    func settled(
        _ batch: OutboxBatch,
        _ outcomes: [DeliveryOutcome],
        _ failures: [DeliveryFailure?],
        _ step: OutboxStep
    ) {
        let left = batch.entries.indices.filter { step.isApplied[$0] && outcomes[$0].leavesQueue }
        let dead = left.filter { outcomes[$0] == .dead }
        let failure = dead.last.flatMap { failures[$0] }
        let delivered = left.count { outcomes[$0] == .delivered } + step.restored
        let stay = batch.entries.indices.filter { step.isApplied[$0] && !outcomes[$0].leavesQueue }
        let change = StatisticsTracker.Change.settled(
            delivered: delivered,
            dead: dead.count,
            dropped: -step.restored,
            bytes: left.reduce(0) { $0 + batch.entries[$1].bytes },
            // The events after a batch of new ones are at least as young as its last one; those tried before say nothing about them.
            oldest: batch.entries.last.flatMap { $0.attempts == 0 ? $0.createdAt : nil },
            tried: batch.entries.map(\.createdAt),
            stay: stay.map { batch.entries[$0].createdAt },
            at: dependencies.clock.wallTime()
        )
        let now = dependencies.clock.now()
        let waiting = state.withLock { state -> QueueWaiters.TakenSignals in
            state.statistics.note(change, of: batch.path, revision: step.revision)
            if let failure { state.deadLetters.note(dead.count, of: batch.path, failure) }
            state.rates[batch.path, default: DeliveryRate(start: now)].count(delivered, at: now)
            return outcomes.contains { $0 != .waiting } ? state.waiters.take() : .none
        }
        waiting.wake()
        dependencies.onChange()
        guard !receipts.isEmpty else { return }
        let paths = receiptPaths(of: batch.path)
        // There is nothing to report about an event that was not sent.
        for (index, entry) in batch.entries.enumerated() where failures[index] != nil || outcomes[index].leavesQueue {
            let error = failures[index].map { ConnectorError($0.code, $0.reason, connector: batch.path) }
            for path in paths {
                receipts.publish(DeliveryChange(path, outcomes[index].state, error: error), of: entry.id)
            }
        }
    }
}

extension DeliveryOutcome {
    /// The state that the event has now.
    fileprivate var state: DeliveryChange.State {
        switch self {
        case .waiting, .retry: .retrying
        case .delivered: .delivered
        case .dead: .dead
        }
    }

    /// Whether the event has left the queue.
    fileprivate var leavesQueue: Bool {
        switch self {
        case .waiting, .retry: false
        case .delivered, .dead: true
        }
    }
}
