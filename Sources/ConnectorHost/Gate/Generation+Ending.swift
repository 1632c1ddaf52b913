// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorLoading
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging
internal import Synchronization

/// Ends an instance, once.
extension Generation {
    /// Drains, closes and destroys the instance, to which no further calls are directed.
    ///
    /// Calls in flight may finish within the gate's timeout; those still pending then end with `not-open`. Closing and
    /// destroying may each take as long again. A plugin that blocks a thread for longer stays in memory, or in a runner that other
    /// connectors use, and the host logs it.
    func end() async {
        let (isFirst, seat) = state.withLock { state in
            defer { state.isEnding = true }
            return (!state.isEnding, state.seat)
        }
        guard isFirst else { return await ended.wait() }
        let empty = seat.map(rundown.emptied)
        let isEmpty = await isDrained(seat, empty)
        cancelGivenUp(dependencies.calls.operations.giveUpAll(owner: context.owner, .gateClosed(plan.path)))
        await finish(after: isEmpty ? nil : empty)
        ended.send()
    }

    /// Ends the calls in flight of an instance that is ending, instead of letting them finish.
    func cut() {
        state.withLock { $0.isCut = true }
        cancelGivenUp(dependencies.calls.operations.giveUpAll(owner: context.owner, .gateClosed(plan.path)))
    }

    /// Waits until the last caller has left, but only briefly for functions that have exceeded their callers'
    /// deadlines.
    private func isDrained(_ seat: Int?, _ empty: OneShot<Void>?) async -> Bool {
        guard let seat, let empty else { return true }
        let end = dependencies.deadline(after: timeout)
        var isFirst = true
        while empty.value == nil {
            let overdue = functionsInside.count(where: \.isOverdue)
            let now = dependencies.clock.now()
            // A caller's deadline may pass meanwhile, so check again soon.
            guard now < end, !state.withLock(\.isCut),
                isFirst || overdue == 0 || rundown.callerCount(inside: seat) > overdue
            else {
                return false
            }
            isFirst = false
            _ = await empty.wait(by: min(end, now.saturatingAdding(Self.shortPatience)), on: dependencies.clock)
        }
        return true
    }

    /// Waits for an event, up to the gate's timeout.
    private func isOver(_ event: OneShot<Void>?) async -> Bool {
        guard let event else { return true }
        return await event.wait(by: dependencies.deadline(after: timeout), on: dependencies.clock) != nil
    }

    /// The shorter timeout for a plugin that already blocks a thread past its deadline, in nanoseconds.
    static let shortPatience: UInt64 = 250_000_000

    /// The deadline of `close` and `destroy`: shorter if the plugin already blocks a thread past its deadline.
    private func deadline() -> UInt64 {
        let timeout = timeout.nanoseconds
        let isHeld = functionsInside.contains(where: \.isOverdue)
        return dependencies.clock.deadline(after: isHeld ? min(timeout, Self.shortPatience) : timeout)
    }

    /// The functions that must have returned before the instance is destroyed.
    private static let mustHaveReturned: Set<String> = ["open", "probe", "close", "cancel", PluginFunction.callback]

    /// Waits until the instance is destroyed, but only briefly for functions that should have returned by now.
    private func isDestroyed(_ event: OneShot<Void>) async -> Bool {
        let (clock, end) = (dependencies.clock, deadline())
        while clock.now() < end {
            let soon = min(end, clock.now().saturatingAdding(Self.shortPatience))
            if await event.wait(by: soon, on: clock) != nil { return true }
            // A busy runner may enter a function only now, so check again soon.
            let isBlocked = functionsInside.contains { $0.isOverdue || Self.mustHaveReturned.contains($0.name) }
            guard !isBlocked else { return false }
        }
        return event.value != nil
    }

    /// Cancels the calls that are no longer awaited.
    private func cancelGivenUp(_ operations: [UInt64]) {
        guard !operations.isEmpty, let channel = state.withLock(\.channel) else { return }
        for operation in operations { channel.cancel(operation) }
    }

    /// Closes and destroys the instance.
    ///
    /// - Parameter empty: Sent when the last caller has left; nil if there are none.
    private func finish(after empty: OneShot<Void>?) async {
        // A plugin that missed its deadline to open gets no further wait.
        if state.withLock({ $0.isCreating && !$0.isOverdue }) { _ = await isOver(created) }
        let (channel, opening, hasOpened, isLost) = state.withLock { state in
            state.isAbandoned = state.isCreating
            return (state.channel, state.hasBegun ? state.opening : nil, state.hasOpened, state.loss != nil)
        }
        guard let channel else {
            guard state.withLock(\.isAbandoned) else { return await release() }
            // An instance in a runner holds no thread of the host beyond its deadline.
            return state.withLock(\.isRemote) ? () : warn(Self.staysInMemory)
        }
        // A foreign library's `close` must not run concurrently with its other functions.
        if hasOpened, !isLost, channel.canClose, empty == nil || !channel.isForeign {
            if case .failure(let error) = await run(.close, on: channel, by: deadline()) {
                logger.warning("close failed", metadata: ["error": "\(dependencies.redactor.redact(error))"])
            }
        }
        // A plugin that has completed its opening, with an error, has nothing to stop.
        let pending = opening.flatMap { dependencies.calls.operations.wasGivenUp($0, owner: context.owner) ? $0 : nil }
        guard await isDestroyed(destruction(of: channel, after: empty, cancelling: pending)) else {
            let functions = functionsInside
            let isStopped = functions.isEmpty && !channel.hasTaken(nil)
            channel.abandon()
            guard !isStopped else { return logger.warning(Self.runnerIsStopped, metadata: ["plugin": "\(plugin)"]) }
            return warn(channel.instance == nil ? Self.isLeftToRunner : Self.staysInMemory, functions)
        }
    }

    /// Destroys an instance once its last caller has left.
    ///
    /// - Parameter opening: An opening that the host gave up. It is cancelled before the plugin's requests end, so that
    ///   the plugin does not complete a call that is no longer awaited.
    /// - Returns: A value sent when the instance is destroyed.
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
        Task(executorPreference: dependencies.calls.gateThreads) { [self] in
            await empty?.wait()
            vacate()
            let end = OneShot<OneShot<Void>>()
            let dispose: @Sendable () -> Void = { [dependencies] in
                dependencies.calls.gateThreads.run { end.send(channel.dispose()) }
            }
            if let opening { channel.cancel(opening, then: dispose) } else { dispose() }
            await end.wait().wait()
            destroyed.send()
        }
        return destroyed
    }

    private func vacate() {
        if let seat = state.withLock({ $0.seat.take() }) { rundown.vacate(seat) }
    }

    private static let staysInMemory: Logger.Message =
        "plugin blocks a thread of the host; its instance stays in memory"
    private static let isLeftToRunner: Logger.Message =
        "plugin blocks a thread of its runner, which is ended unless other connectors use it"

    private static let runnerIsStopped: Logger.Message =
        "runner takes no messages: something has stopped it, or the machine is too busy; it is ended unless other connectors use it"

    private func warn(_ message: Logger.Message, _ functions: [PluginFunction]? = nil) {
        let inside = Set((functions ?? functionsInside).map(\.description)).sorted()
        logger.warning(
            message,
            metadata: [
                "function": "\(inside.isEmpty ? "a typed call" : inside.joined(separator: ", "))",
                "plugin": "\(plugin)", "file": "\((try? plan.plugin.get().path) ?? "")",
            ]
        )
    }

    /// Returns the services lent to a plugin that has no instance.
    func release() async {
        await services.stop()?.wait()
        services.invalidate()
        context.giveBack()
    }
}
