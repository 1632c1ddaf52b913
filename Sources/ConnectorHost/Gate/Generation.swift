// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorOneShot
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging
internal import Synchronization

/// One instance of a gate's plugin and all that belongs to it: services, host context, channel, and its seat at the
/// door.
///
/// The gate owns it, opens it once, and ends it once with ``end()`` in whatever state it is. Every further caller of
/// `end` awaits the same end.
///
/// ```
/// made ──open──► loading ──► created ──► open ──takeCalls──► taking calls
///   └───────────────┴───────────┴─────────┴──────────────────────┴──end──► ended
/// ```
final class Generation: Sendable {
    private let environment: GateEnvironment
    private let plan: GatePlan
    private let door: Door
    private let logger: Logger
    private let services: GateServices
    private let context: HostContext
    private let state = Mutex(State())
    /// Arrives when `create` has returned, if it is called at all.
    private let created = OneShot<Void>()
    private let ended = OneShot<Void>()

    private struct State {
        /// What runs on the thread that creates and opens the instance, as long as the plugin holds it.
        var step: Step?
        /// Whether the plugin still held that thread at the deadline.
        var isOverdue = false
        /// Whether a thread loads the plugin and creates the instance.
        var isCreating = false
        /// The instance's channel; nil before `create` returned, and after it failed.
        var channel: (any Channel)?
        /// The operation that completes when the plugin has opened.
        var opening: UInt64?
        /// Whether the plugin's `open` was called, so that it may complete.
        var hasBegun = false
        var hasOpened = false
        /// The seat at the door, where callers are counted.
        var seat: Int?
        /// Whether the gate has ended the instance.
        var isEnding = false
        /// Whether `create` is no longer awaited: its thread then destroys the instance itself.
        var isAbandoned = false
    }

    /// What the plugin does on the thread that creates and opens its instance.
    private enum Step {
        /// The image's constructors run, or its entry function, or it waits for the dynamic linker.
        case load
        case create
        case open
    }

    /// Prepares the services lent to the plugin, without running any of its code.
    ///
    /// - Parameters:
    ///   - plan: What to open, with the current secrets.
    ///   - door: Where calls enter.
    ///   - onMisbehaviour: Called for every rule of the ABI that the plugin breaks; refers to the gate weakly.
    init(
        _ plan: GatePlan,
        door: Door,
        environment: GateEnvironment,
        logger: Logger,
        onMisbehaviour: @escaping @Sendable (String) -> Void
    ) {
        self.plan = plan
        self.door = door
        self.environment = environment
        self.logger = logger
        let manifest = try? plan.plugin.get().manifest
        services = GateServices(
            host: environment.services,
            context: GateServices.Context(
                path: plan.path,
                services: manifest.map { $0.requiredServices + $0.optionalServices } ?? [],
                egress: plan.material.egress.map(\.description),
                secret: { [secrets = plan.material.secrets] in secrets[$0]?.reveal() },
                screen: environment.screen,
                propagatesTrace: plan.propagatesTrace,
                logger: logger
            )
        )
        context = HostContext.lend(to: services, onMisbehaviour: onMisbehaviour)
    }

    /// The configuration and secrets that the instance was made with.
    var material: GatePlan.Material { plan.material }

    /// HTTP traffic so far.
    var counters: HTTPCounters { services.counters }

    /// Whether the plugin can prove that the outside world still answers.
    var canProbe: Bool { state.withLock(\.channel)?.canProbe ?? false }

    /// The loaded bytes.
    var content: ImageContent? { state.withLock(\.channel)?.instance?.plugin.content }

    // MARK: Opening

    /// Loads the plugin, creates an instance, opens it, and reads its evidence. Call it once.
    ///
    /// Fails as soon as the deadline passes, even while the plugin holds the thread.
    ///
    /// - Parameter deadline: In the clock's monotonic time.
    func open(by deadline: UInt64) async -> Result<[Evidence], ConnectorError> {
        let candidate: PluginCandidate
        switch plan.plugin {
        case .failure(let error): return .failure(error)
        case .success(let found): candidate = found
        }
        let start = environment.clock.now()
        let outcome = await environment.calls.run(
            overdue: { self.overdue(candidate) },
            owner: context.owner,
            by: deadline,
            onDeadline: { _ in }
        ) {
            self.create(candidate, opening: $0, by: deadline)
        }
        let result = outcome.flatMap { environment.evidence(in: $0, startedAt: start) }
        guard case .success = result else { return result }
        let hasBegun = state.withLock { state in
            state.hasOpened = state.hasBegun
            return state.hasOpened
        }
        guard hasBegun else {
            context.misbehaved("completed open inside create, before there was an instance")
            return .failure(ConnectorError(.misbehaved, "the plugin completed open before it was created"))
        }
        return result
    }

    /// Whether the plugin holds the thread it opens on, so that the end has to wait for it.
    var isHeld: Bool { state.withLock { $0.step != nil } }

    /// What did not happen before the deadline of opening.
    private func overdue(_ candidate: PluginCandidate) -> Overdue {
        let step = state.withLock { state in
            state.isOverdue = state.step != nil
            return state.step
        }
        let overdue: Overdue
        switch step {
        case nil: return .completion(of: "open")
        case .create: overdue = .returning(from: "create of \(candidate.path)")
        case .open: overdue = .returning(from: "open of \(candidate.path)")
        case .load:
            let loaded = PluginImages.shared.pathBeingLoaded
            if let loaded, loaded != candidate.path {
                return .returning(from: "a constructor of \(loaded), for which every other plugin has to wait,")
            }
            overdue = .returning(
                from: loaded == nil ? "loading of \(candidate.path)" : "a constructor of \(candidate.path)"
            )
        }
        environment.calls.workers.run { self.context.misbehaved("holds a thread of the host: \(overdue.what)") }
        return overdue
    }

    /// Creates the instance, on a thread that the plugin may hold.
    private func create(_ candidate: PluginCandidate, opening operation: UInt64, by deadline: UInt64) {
        let begins = state.withLock { state in
            // The deadline may have passed, or the gate may have closed, before a thread was free.
            guard !state.isEnding else { return false }
            state.isCreating = true
            state.step = .load
            return true
        }
        guard begins else { return }
        defer { state.withLock { $0.step = nil } }
        do throws(ConnectorError) {
            let isWanted = environment.calls.operations.isPending(operation)
            let channel = isWanted ? try makeChannel(candidate) : nil
            let next = settle(channel, opening: operation)
            if next.isAbandoned { discard(channel) }
            if next.hasBegun { state.withLock { $0.step = .open } }
            if next.hasBegun { channel?.begin(.open, operation: operation, deadline: deadline) }
        } catch {
            let next = settle(nil, opening: operation)
            environment.calls.operations.complete(operation, owner: context.owner, .failure(error))
            if next.isAbandoned { discard(nil) }
        }
    }

    /// Records the instance, and decides who destroys it.
    private func settle(
        _ channel: (any Channel)?,
        opening operation: UInt64
    ) -> (hasBegun: Bool, isAbandoned: Bool) {
        defer { created.send() }
        // What is not pending any more was given up, or the plugin has guessed the operation.
        let isPending = environment.calls.operations.isPending(operation)
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
        Task(executorPreference: environment.calls.gateThreads) { [self] in await release() }
    }

    private func makeChannel(_ candidate: PluginCandidate) throws(ConnectorError) -> any Channel {
        let plugin = try environment.loader.load(candidate)
        plugin.name(gate: plan.path)
        state.withLock { $0.step = .create }
        return try PluginInstance(
            of: plugin,
            configuration: plan.material.configuration,
            environment: environment.calls,
            context: context,
            services: services
        )
    }

    /// Ends the opening in progress with an error.
    func giveUp(_ error: ConnectorError) {
        _ = environment.calls.operations.giveUpAll(owner: context.owner, error)
    }

    /// Takes calls from now on, in place of the generation before.
    ///
    /// - Throws: `unavailable` if every seat belongs to an instance whose callers never return.
    func takeCalls() throws(ConnectorError) {
        guard let channel = state.withLock(\.channel), let seat = door.lead(to: channel) else {
            throw ConnectorError(
                .unavailable,
                "calls that never return hold \(Door.seatCount) earlier instances of the plugin",
                fix: "restart the application, and mend the plugin"
            )
        }
        state.withLock { $0.seat = seat }
    }

    // MARK: Proofs

    /// Proves once that the outside world still answers.
    func probe() async -> Result<[Evidence], ConnectorError> {
        guard let channel = state.withLock(\.channel) else { return .failure(closed) }
        let start = environment.clock.now()
        return await run(.probe, on: channel).flatMap { environment.evidence(in: $0, startedAt: start) }
    }

    private func run(_ phase: InstancePhase, on channel: any Channel) async -> OperationTable.Outcome {
        let deadline = environment.deadline(after: plan.timeout)
        return await environment.calls.run(
            overdue: {
                let name = phase.rawValue
                return channel.functionsInside.contains(name) ? .returning(from: name) : .completion(of: name)
            },
            owner: context.owner,
            by: deadline,
            onDeadline: { channel.cancel($0) },
            { channel.begin(phase, operation: $0, deadline: deadline) }
        )
    }

    // MARK: The end

    /// Drains, closes and destroys the instance, which calls no longer reach.
    ///
    /// Calls inside may finish within the gate's timeout; those still pending then end with `not-open`. Closing may
    /// take as long again, and so may destroying. A plugin that holds a thread for longer stays in memory, and the log
    /// says so.
    func end() async {
        let (isFirst, seat) = state.withLock { state in
            defer { state.isEnding = true }
            return (!state.isEnding, state.seat)
        }
        guard isFirst else { return await ended.wait() }
        let empty = seat.map(door.emptied)
        let isEmpty = await isOver(empty)
        tellGivenUp(environment.calls.operations.giveUpAll(owner: context.owner, closed))
        await finish(after: isEmpty ? nil : empty)
        ended.send()
    }

    private func isOver(_ event: OneShot<Void>?) async -> Bool {
        guard let event else { return true }
        return await event.wait(by: environment.deadline(after: plan.timeout), on: environment.clock) != nil
    }

    /// Tells the plugin which calls are no longer awaited.
    private func tellGivenUp(_ operations: [UInt64]) {
        guard !operations.isEmpty, let channel = state.withLock(\.channel) else { return }
        environment.calls.workers.run { for operation in operations { channel.cancel(operation) } }
    }

    /// Closes and destroys.
    ///
    /// - Parameter empty: Arrives when the last caller has left; nil if none is inside.
    private func finish(after empty: OneShot<Void>?) async {
        // A plugin that did not return in time to open is not given as much time again.
        if state.withLock({ $0.isCreating && !$0.isOverdue }) { _ = await isOver(created) }
        let (channel, opening, hasOpened) = state.withLock { state in
            state.isAbandoned = state.isCreating
            return (state.channel, state.opening, state.hasOpened)
        }
        guard let channel else {
            guard state.withLock(\.isAbandoned) else { return await release() }
            return warnOfHeldThread()
        }
        // A foreign library's `close` must not run while another of its functions still does.
        if hasOpened, channel.canClose, empty == nil || !channel.isForeign {
            if case .failure(let error) = await run(.close, on: channel) {
                logger.warning("close failed", metadata: ["error": "\(environment.screen.redact(error))"])
            }
        }
        guard await isOver(destruction(of: channel, after: empty, cancelling: hasOpened ? nil : opening)) else {
            return warnOfHeldThread()
        }
    }

    /// Destroys an instance once no caller is inside it.
    ///
    /// - Parameter opening: An opening that never completed. The plugin is told to stop before its requests end, so
    ///   that it does not complete a call that is no longer awaited.
    /// - Returns: Arrives when the instance is destroyed.
    private func destruction(
        of channel: any Channel,
        after empty: OneShot<Void>?,
        cancelling opening: UInt64?
    ) -> OneShot<Void> {
        guard empty != nil || opening != nil else {
            vacate()
            return channel.dispose()
        }
        let destroyed = OneShot<Void>()
        Task(executorPreference: environment.calls.gateThreads) { [self] in
            await empty?.wait()
            vacate()
            let end = OneShot<OneShot<Void>>()
            environment.calls.gateThreads.run {
                if let opening { channel.cancel(opening) }
                end.send(channel.dispose())
            }
            await end.wait().wait()
            destroyed.send()
        }
        return destroyed
    }

    private func vacate() {
        if let seat = state.withLock({ $0.seat.take() }) { door.vacate(seat) }
    }

    private func warnOfHeldThread() {
        let (step, channel) = state.withLock { ($0.step, $0.channel) }
        var functions = channel?.functionsInside ?? []
        switch step {
        case nil: break
        case .load: functions.append("a constructor, or the entry function")
        case .create: functions.append("create")
        case .open: if !functions.contains("open") { functions.append("open") }
        }
        if functions.isEmpty { functions = ["a typed call, or a callback"] }
        logger.warning(
            "plugin holds a thread of the host, its instance stays in memory",
            metadata: [
                "function": "\(Set(functions).sorted().joined(separator: ", "))",
                "plugin": "\((try? plan.plugin.get().path) ?? "")",
            ]
        )
    }

    /// Returns the services lent to a plugin that has no instance.
    private func release() async {
        await services.stop()?.wait()
        services.invalidate()
        context.giveBack()
    }

    private var closed: ConnectorError {
        ConnectorError(.notOpen, "the gate closed", connector: plan.path, isRetryable: true)
    }
}
