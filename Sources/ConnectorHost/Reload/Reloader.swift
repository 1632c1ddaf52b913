// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorPlatform
internal import Synchronization

/// Takes a host from one configuration to the next, one reload at a time.
///
/// Plain requests that arrive while a reload is in progress are served together by the next one, which applies the
/// configuration requested last. Every other request gets a reload of its own.
final class Reloader: Sendable {
    /// What a reload works on.
    struct Dependencies: Sendable {
        let current: CurrentTree
        let outbox: HostOutbox
        let gates: GateDependencies
        let running: RunningConfiguration
        /// Checks the next configuration against the plugins; nil stands for the file of the one that runs, as the file is now.
        let next:
            @Sendable (Configuration?, ResolvedConfiguration, PluginSubstitute?) throws(ConfigurationErrors) ->
                NextConfiguration
        let metering: Metering
        let limits: ReloadLimits
        let trials: Trials
        /// Called after a change of the tree or of the report.
        let onChange: @Sendable () -> Void
        let fingerprint = Fingerprint()
        let digests = ImageDigests()

        /// The clock.
        var clock: any HostClock { gates.clock }
    }

    /// What a caller asks for.
    struct Request: Sendable {
        /// The configuration; nil for the one in the file.
        var configuration: Configuration?
        /// What the plan that the caller has seen was made from; nil to apply whatever there is.
        var basis: Plan.Basis?
        /// The image to swap in; nil to swap none.
        var swap: ImageSwap?

        /// The gate that has gone back to its earlier instance; nil if none has.
        var rollback: Rollback?

        /// Whether a later request may be served in its place.
        var isPlain: Bool { basis == nil && swap == nil && rollback == nil }
    }

    private struct State {
        /// The requests that wait for a reload, each with a value sent when its reload ends, and the number of callers
        /// that await it.
        var waiting: [(request: Request, ended: OneShot<Reload>, count: Int)] = []
        var isRunning = false
        /// Whether the host is closing.
        var isClosed = false
        /// Whether gates open when they are added.
        var opensGates = false
        /// Sent when the reload in progress has ended and no other request waits.
        var idle = OneShot<Void>()
    }

    let dependencies: Dependencies
    private let state = Mutex(State())
    /// The load in progress, even if its reload has ended: a constructor may never return.
    private let loading = Mutex<LoadStep?>(nil)

    /// Begins with nothing to do.
    init(_ dependencies: Dependencies) {
        self.dependencies = dependencies
        dependencies.gates.rollbacks.connect { [weak self] in self?.didRollBack($0) }
    }

    /// Requests a reload that only records that a gate has gone back.
    private func didRollBack(_ rollback: Rollback) {
        dependencies.running.willRollBack(rollback.gate.path)
        Task(executorPreference: dependencies.gates.calls.gateThreads) {
            _ = await self.reload(Request(rollback: rollback))
        }
    }

    /// Whether the host has opened its gates, so that added ones open, too.
    var opensGates: Bool {
        get { state.withLock(\.opensGates) }
        set { state.withLock { $0.opensGates = newValue } }
    }

    /// Whether the host is closing.
    var isClosed: Bool { state.withLock(\.isClosed) }

    /// The load in progress, even if its reload has ended; nil if there is none.
    var loadStep: LoadStep? {
        get { loading.withLock(\.self) }
        set { loading.withLock { $0 = newValue } }
    }

    /// Whether a reload is in progress.
    var isRunning: Bool { state.withLock(\.isRunning) }

    /// How many callers wait for reloads that have not begun.
    var waitingCount: Int { state.withLock { $0.waiting.reduce(0) { $0 + $1.count } } }

    /// Reloads; plain requests that wait at the same time share one reload.
    func reload(_ request: Request) async -> Reload {
        let (ended, begins) = state.withLock { state -> (OneShot<Reload>?, Bool) in
            guard !state.isClosed else { return (nil, false) }
            if let last = state.waiting.indices.last, state.waiting[last].request.isPlain, request.isPlain {
                state.waiting[last].request = request
                state.waiting[last].count += 1
                return (state.waiting[last].ended, false)
            }
            let ended = OneShot<Reload>()
            state.waiting.append((request, ended, 1))
            defer { state.isRunning = true }
            return (ended, !state.isRunning)
        }
        guard let ended else { return refused() }
        if begins { Task(executorPreference: dependencies.gates.calls.gateThreads) { await self.run() } }
        return await ended.wait()
    }

    private func run() async {
        while true {
            let next = state.withLock { state -> (request: Request, ended: OneShot<Reload>)? in
                guard state.waiting.isEmpty else {
                    let first = state.waiting.removeFirst()
                    return (first.request, first.ended)
                }
                state.isRunning = false
                state.idle.send(())
                state.idle = OneShot()
                return nil
            }
            guard let (request, ended) = next else { return }
            ended.send(isClosed ? refused() : await ReloadRun(self, dependencies).serve(request))
        }
    }

    /// The result of a reload of a host that is closing.
    private func refused() -> Reload {
        var reload = Reload(digest: dependencies.running.digest)
        reload.phase = .read
        reload.errors = [.hostClosed]
        return reload
    }

    // MARK: Closing

    /// Refuses further reloads. The one in progress ends at its next step.
    func close() {
        state.withLock { $0.isClosed = true }
        dependencies.trials.close()
    }

    /// Returns once no reload is in progress.
    func ended() async {
        let idle = state.withLock { $0.isRunning ? $0.idle : nil }
        await idle?.wait()
    }
}
