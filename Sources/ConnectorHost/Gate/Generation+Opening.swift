// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorLoading
internal import ConnectorPlatform
internal import ConnectorServices
internal import Synchronization

/// Creates and opens an instance, on a thread the plugin may block.
extension Generation {
    /// Loads the plugin, creates an instance, opens it, and reads its evidence. Call it once.
    ///
    /// Fails as soon as the deadline passes, even while the plugin blocks the thread.
    ///
    /// - Parameter deadline: In the clock's monotonic time.
    func open(by deadline: UInt64) async -> Result<[Evidence], ConnectorError> {
        let candidate: PluginCandidate
        switch plan.plugin {
        case .failure(let error): return .failure(error)
        case .success(let found): candidate = found
        }
        let start = dependencies.clock.now()
        services.proofBegins()
        defer { services.proofEnds() }
        let outcome = await dependencies.calls.run(
            overdue: { self.overdue(candidate, $0, during: min(start, deadline)...deadline) },
            owner: context.owner,
            by: deadline,
            onDeadline: { _ in }
        ) {
            self.create(candidate, opening: $0, by: deadline)
        }
        if case .success = outcome { clearMark() } else { clearMarkOnceReturned() }
        let isForeign = state.withLock(\.channel)?.isForeign ?? false
        let result = outcome.flatMap {
            dependencies.evidence(in: $0, of: .open, isForeign: isForeign, startedAt: start)
        }
        guard case .success(let evidence) = result else { return result }
        let hasBegun = state.withLock { state in
            state.hasOpened = state.hasBegun
            return state.hasOpened
        }
        guard hasBegun else {
            context.misbehaved("completed open inside create, before there was an instance")
            return .failure(ConnectorError(.misbehaved, "the plugin completed open before it was created"))
        }
        note(evidence)
        return result
    }

    /// Whether the plugin still blocks the thread that opens it, which ending must then await.
    var isHeld: Bool { state.withLock { $0.step != nil } }

    /// Waits briefly until a plugin that has completed its opening also returns from the function.
    func awaitReturn() async {
        guard state.withLock({ $0.step != nil && !$0.isOverdue }) else { return }
        _ = await returned.wait(by: dependencies.clock.deadline(after: Self.shortPatience), on: dependencies.clock)
    }

    /// Describes what did not finish before the deadline of opening.
    ///
    /// - Parameter span: From the beginning to the deadline, in the clock's monotonic time.
    private func overdue(
        _ candidate: PluginCandidate,
        _ operation: UInt64,
        during span: ClosedRange<UInt64>
    ) -> MissedDeadline {
        let wait = span.upperBound - span.lowerBound
        let (current, owner, channel) = state.withLock { state -> (Step?, MissedDeadline.ThreadOwner, (any Channel)?) in
            state.isOverdue = state.step != nil
            return (state.step, state.isRemote ? .runner : .host, state.channel)
        }
        // A runner that something has stopped is no fault of the plugin.
        if let channel, !channel.hasTaken(operation) { return .arriving(of: "open") }
        let isMaking = state.withLock(\.remoteChannel)?.hasTakenCreation ?? false
        // In a runner, `open` holds no thread of the host.
        let isInside = channel?.functionsInside.contains { $0.name == Step.open.rawValue } ?? false
        let step = current ?? (isInside ? Step.open : nil)
        let isForeign = channel?.isForeign ?? false
        let overdue: MissedDeadline
        switch step {
        case nil:
            let work =
                channel?.pendingWork(for: operation, during: span)
                ?? services.pendingWork(for: operation, during: span)
            return .completion(of: "open", awaiting: work)
        case .create where owner == .runner && !isMaking:
            // The plugin does not run yet.
            return .starting("\(candidate.manifest.id) \(candidate.manifest.version)")
        case .create where owner == .runner:
            overdue = .making("\(candidate.manifest.id) \(candidate.manifest.version)")
        case .create: overdue = .returning(from: "create of \(candidate.path)", on: owner)
        case .open: overdue = .returning(from: "open of \(candidate.path)", on: owner, isForeign: isForeign)
        case .load:
            overdue = .loading(candidate.path)
            if let loaded = PluginImages.shared.pathBeingLoaded, loaded != candidate.path { return overdue }
        }
        guard wait >= MissedDeadline.leastWait else { return overdue }
        guard dependencies.clock.systemTime(of: wait) == wait else { return overdue.onFastClock }
        guard !isForeign else { return overdue }
        dependencies.calls.cancelThreads.run {
            self.context.overran("holds a thread of \(owner.rawValue): \(overdue.description)")
        }
        return overdue
    }

    /// Makes the channel to a new instance, and tells the services that `create` has returned before `open` asks them
    /// for more.
    private func createdChannel(_ candidate: PluginCandidate, by deadline: UInt64) throws(ConnectorError) -> any Channel
    {
        defer { services.instanceWasCreated() }
        return try makeChannel(candidate, by: deadline)
    }

    /// Creates the instance, on a thread the plugin may block.
    private func create(_ candidate: PluginCandidate, opening operation: UInt64, by deadline: UInt64) {
        let begins = state.withLock { state in
            // The deadline may have passed, or the gate closed, before a thread was available.
            guard !state.isEnding else { return false }
            state.isCreating = true
            state.step = .load
            return true
        }
        guard begins else {
            // The end may have come before the operation, and has then not given it up.
            let error = ConnectorError.gateClosed(plan.path)
            dependencies.calls.operations.complete(operation, owner: context.owner, .failure(error))
            return
        }
        HostThread.run {
            createAndBegin(candidate, opening: operation, by: deadline)
        } finally: { [self] hasReturned in
            // A plugin in this process has ended the thread before there was an instance.
            let isUnsettled = !hasReturned && state.withLock(\.isCreating)
            if isUnsettled { fail(operation, PluginFunction("create of \(candidate.path)").endedThreadError) }
            let keptMark = state.withLock { state in
                state.step = nil
                return state.keepsMark
            }
            if keptMark { clearMark() }
            returned.send()
        }
    }

    /// Creates the instance and begins to open it, unless the opening has been given up.
    private func createAndBegin(_ candidate: PluginCandidate, opening operation: UInt64, by deadline: UInt64) {
        do throws(ConnectorError) {
            let isWanted = dependencies.calls.operations.isPending(operation)
            let channel = isWanted ? try createdChannel(candidate, by: deadline) : nil
            let next = settle(channel, opening: operation)
            // The opening may have been given up before the mark was made, and has then not cleared it.
            if !next.hasBegun { clearMark() }
            if next.isAbandoned { discard(channel) }
            if next.hasBegun { state.withLock { $0.step = .open } }
            if next.hasBegun { channel?.begin(.open, operation: operation, deadline: deadline) }
        } catch {
            fail(operation, error)
        }
    }

    /// Ends an opening that has led to no instance.
    private func fail(_ operation: UInt64, _ error: ConnectorError) {
        let next = settle(nil, opening: operation)
        clearMark()
        dependencies.calls.operations.complete(operation, owner: context.owner, .failure(error))
        if next.isAbandoned { discard(nil) }
    }

    /// Records the instance, and decides who destroys it.
    private func settle(
        _ channel: (any Channel)?,
        opening operation: UInt64
    ) -> (hasBegun: Bool, isAbandoned: Bool) {
        defer { created.send() }
        // An operation no longer pending was given up, or completed by a plugin that guessed its id.
        let isPending = dependencies.calls.operations.isPending(operation)
        return state.withLock { state in
            state.isCreating = false
            state.channel = channel
            state.opening = operation
            state.hasBegun = isPending && channel != nil && !state.isEnding
            return (state.hasBegun, state.isAbandoned)
        }
    }

    /// Destroys an instance that is no longer awaited.
    private func discard(_ channel: (any Channel)?) {
        if let channel {
            _ = channel.dispose()
            return
        }
        Task(executorPreference: dependencies.calls.gateThreads) { [self] in await release() }
    }

    private func makeChannel(
        _ candidate: PluginCandidate,
        by deadline: UInt64
    ) throws(ConnectorError) -> any Channel {
        if isRemote(candidate) { return try makeRemoteChannel(candidate, by: deadline) }
        let plugin = try dependencies.loader.admitting(plan.admission).load(candidate)
        plugin.name(gate: plan.path)
        state.withLock { $0.step = .create }
        return try PluginInstance(
            of: plugin,
            configuration: plan.configuration.json,
            dependencies: dependencies.calls,
            context: context,
            services: services
        )
    }

    /// Ends the opening in progress with an error.
    func giveUp(_ error: ConnectorError) {
        _ = dependencies.calls.operations.giveUpAll(owner: context.owner, error)
    }

    /// Reserves the seat at which callers will be counted, without receiving calls yet.
    ///
    /// - Throws: `unavailable` if every seat belongs to an instance whose callers never return; the loss of an instance
    ///   whose runner has ended.
    func reserveSeat() throws(ConnectorError) {
        let (channel, loss) = state.withLock { ($0.channel, $0.loss) }
        if let loss { throw loss }
        guard let channel, let seat = rundown.reserve(for: channel) else {
            throw ConnectorError(
                .unavailable,
                "calls that never return hold \(RundownGuard.seatCount) earlier instances of the plugin",
                fix: "restart the application, and fix the plugin"
            )
        }
        state.withLock { $0.seat = seat }
    }

    /// Starts receiving calls at the reserved seat, in place of the previous generation.
    func receiveCalls() {
        if let seat = state.withLock(\.seat) { rundown.directCalls(toSeat: seat) }
    }
}
