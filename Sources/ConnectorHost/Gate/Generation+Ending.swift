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

/// How an instance is ended, once.
extension Generation {
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
    func release() async {
        await services.stop()?.wait()
        services.invalidate()
        context.giveBack()
    }

    var closed: ConnectorError {
        ConnectorError(.notOpen, "the gate closed", connector: plan.path, isRetryable: true)
    }
}
