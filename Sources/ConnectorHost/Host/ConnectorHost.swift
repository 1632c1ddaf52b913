// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorPlatform
public import ConnectorServices
public import Logging
internal import Synchronization

/// An application's connections to the outside world, as configured in `connectors.json`.
///
/// ```swift
/// let host = try ConnectorHost(file: "connectors.json")
/// let report = await host.open()
/// try report.requireReady()
/// ```
///
/// Creating a host reads the file and the plugins' manifests, and runs no plugin code. ``open(timeout:)`` loads the
/// plugins and opens every gate; ``report`` gives the state of each. A failed gate heals automatically until it is
/// closed. Use a host from any thread.
public final class ConnectorHost: Sendable {
    /// The configuration that runs.
    public var configuration: Configuration { running.resolved.configuration }
    /// The configuration that runs, checked against the plugins.
    package var resolved: ResolvedConfiguration { running.resolved }
    /// How many configurations the host ran before this one, including those with the same files and other plugins.
    package var configurationRevision: Int { running.revision }

    /// The configuration that runs, and whether it is that of its file.
    let running: RunningConfiguration
    /// Takes the host from one configuration to the next.
    let reloader: Reloader

    /// Notices changes of the files; nil if they are not watched.
    private let watcher: FileWatcher?

    /// The current tree of connectors.
    let current: CurrentTree
    /// The durable queue of events.
    let outbox: HostOutbox
    /// Services shared by all gates.
    let dependencies: GateDependencies
    private let changes: ReportChanges
    let waitsForRequiredGates: Bool
    private let delivers: Bool
    private let grace: Duration
    /// Publishes metrics; nil if the application has no metrics system.
    private let publisher: MetricsPublisher?
    private let life = Mutex(HostStateMachine())
    /// Sent when the host has closed.
    let closed = OneShot<Void>()

    /// Creates a host from a file and everything it references.
    ///
    /// - Parameters:
    ///   - file: The path of a `connectors.json`.
    ///   - options: The clock, plugin directories, and other settings.
    ///   - logger: The logger of the host and the plugins; a plugin's messages carry the metadata `connector`.
    /// - Throws: Every fault in the file, such as a plugin's id that no directory has, or in the paths of the options. A plugin that is
    ///   found and cannot be loaded, or a path without a plugin, is not one: its gate fails instead.
    public convenience init(
        file: String,
        options: Options = Options(),
        logger: Logger = Logger(label: "connector-host")
    ) throws(ConfigurationErrors) {
        let source = ConfigurationSource(options)
        let (resolved, plugins) = try source.read(file: file)
        self.init(resolved, plugins: plugins, source: source, options: options, logger: logger)
    }

    /// Creates a host from a configuration, checked against the plugins it names.
    ///
    /// - Throws: Every fault in the configuration, or in the paths of the options.
    public convenience init(
        _ configuration: Configuration,
        options: Options = Options(),
        logger: Logger = Logger(label: "connector-host")
    ) throws(ConfigurationErrors) {
        let source = ConfigurationSource(options)
        let (resolved, plugins) = try source.resolve(configuration)
        self.init(resolved, plugins: plugins, source: source, options: options, logger: logger)
    }

    /// Creates a host from a configuration already checked against the plugins.
    ///
    /// - Parameter source: Where the configurations of reloads come from.
    package init(
        _ resolved: ResolvedConfiguration,
        plugins: PluginLookup,
        source: ConfigurationSource,
        options: Options = Options(),
        logger: Logger = Logger(label: "connector-host")
    ) {
        let logger = Logger(label: logger.label) { _ in EscapingLogHandler(logger.handler) }
        let options = options.withLastingPaths
        let (changes, metering) = (ReportChanges(), Metering(clock: options.clock))
        let ticks = options.clock as? SystemHostClock ?? SystemHostClock()
        let dependencies = GateDependencies(of: resolved, options, ticks: ticks, logger: logger) {
            changes.notifyGate()
        }
        let running = RunningConfiguration(resolved, at: options.clock.wallTime())
        let current = CurrentTree(Self.makeTree(of: resolved, plugins, metering, dependencies, changes))
        dependencies.uses.connect(to: current)
        let outbox = Self.makeOutbox(of: resolved, options, ticks: ticks, current, dependencies, changes)
        let reloader = Reloader(
            Reloader.Dependencies(
                current: current,
                outbox: outbox,
                gates: dependencies,
                running: running,
                next: source.next,
                metering: metering,
                limits: options.reload,
                trials: Trials(current, clock: options.clock),
                onChange: { changes.notifyGate() }
            )
        )
        (self.running, self.dependencies, self.changes) = (running, dependencies, changes)
        (self.current, self.outbox, self.reloader) = (current, outbox, reloader)
        waitsForRequiredGates = options.waitsForRequiredGates
        delivers = options.delivers
        grace = options.closingGrace
        publisher = MetricsPublisher(metering, dependencies.calls.workers)
        watcher = options.watchesFiles ? FileWatcher(options, reloader, running) : nil
        // A gate that opens accepts events again; one that fails accepts none.
        changes.watchGates { [weak outbox = outbox.outbox] in outbox?.gatesChanged() }
    }

    deinit {
        watcher?.stop()
        changes.finish()
    }

    /// Opens every gate, as concurrently as `after` and the policies allow.
    ///
    /// The target of every gate is then `open` until it is closed: a failed gate is retried automatically, see
    /// <doc:OpeningGates>. If a gate is already opening, this awaits the attempt in progress.
    ///
    /// Cancelling the caller's task returns the current report; the gates continue to open.
    ///
    /// - Parameter timeout: The time limit for all gates together; no attempt of `retry` begins later. Nil leaves the
    ///   limit to each connector.
    /// - Returns: The report after opening. A required gate that is not open does not cause an error: see
    ///   ``Report/requireReady()``.
    @discardableResult
    public func open(timeout: Duration? = nil) async -> Report {
        await open(current.tree, of: nil, timeout: timeout)
    }

    /// Opens one connector, everything below it, and everything it waits for; other connectors are unchanged.
    ///
    /// - Throws: `unknown-connector` if no connector has the path.
    @discardableResult
    public func open(_ path: String, timeout: Duration? = nil) async throws(ConnectorError) -> Report {
        let tree = current.tree
        return await open(tree, of: try tree.node(path), timeout: timeout)
    }

    private func open(_ tree: Tree, of node: Node?, timeout: Duration?) async -> Report {
        guard life.withLock({ $0.open() }) else { return report }
        // A gate that is closed by hand before its turn comes stays closed.
        let gates = tree.gatesToOpen(for: node)
        for gate in gates { gate.request() }
        let requested = Set(gates.map(ObjectIdentifier.init))
        if node == nil {
            reloader.opensGates = true
            watcher?.start()
        }
        reloader.dependencies.trials.follow(current.tree)
        publisher?.start(metricsReader)
        await delivers ? outbox.start() : outbox.inspect()
        outbox.noteLeftEvents(by: running.resolved.configuration)
        let end = timeout.map(dependencies.deadline(after:)) ?? .max
        let opened = OneShot<Void>()
        // Detached from the caller's task: a caller that stops waiting does not stop the gates. Without timers the
        // gates' threads may never start; opening then fails immediately, on any thread.
        let threads = dependencies.calls.gateThreads.prepare() ? dependencies.calls.gateThreads : nil
        Task(executorPreference: threads) { [self] in
            async let proof: Void = outbox.prove(on: threads, within: timeout)
            // A reload may have added gates by now.
            await (node == nil ? current.tree : tree).forEachGate(.opening, of: node) { gate in
                await gate.open(by: end, isAgain: requested.contains(ObjectIdentifier(gate)))
            }
            await proof
            life.withLock { $0.opened() }
            opened.send()
        }
        _ = await opened.waitUnlessCancelled()
        return report
    }

    /// Returns once every required gate is open.
    ///
    /// This opens nothing; another task must run ``open(timeout:)`` or ``run()``. A service that awaits this does not hold up the shutdown
    /// of its group.
    ///
    /// - Throws: `not-open` once the host closes; `cancelled` if the task is cancelled, or its service group shuts down.
    public func ready() async throws(ConnectorError) {
        try await endingAtShutdown { [self] () async -> Result<Void, ConnectorError> in
            for await report in reports {
                if isClosing { return .failure(.hostClosed) }
                if report.isReady { return .success(()) }
            }
            return .failure(ConnectorError(.cancelled, "the task was cancelled while it awaited the required gates"))
        }
    }

    /// Whether the host is closing or closed.
    var isClosing: Bool { life.withLock(\.isClosing) }

    /// Throws `not-open` once the host closes.
    package func requireNotClosing() throws(ConnectorError) {
        if isClosing { throw .hostClosed }
    }

    /// Retries one connector and everything below it immediately: opens each failed gate, and proves each open one. A
    /// closed one stays closed.
    ///
    /// A pending wait for the next attempt ends, even if the vendor asked for it: that of a gate, of its circuit breaker, and of its events
    /// in the outbox. Before the host opens, and after it closes, this does nothing. Cancelling the caller's task returns the current
    /// report; the attempts continue.
    ///
    /// - Returns: The report afterwards.
    /// - Throws: `unknown-connector` if no connector has the path.
    @discardableResult
    public func retry(_ path: String) async throws(ConnectorError) -> Report {
        let node = try current.node(path).node
        guard life.withLock(\.isOpen) else { return report }
        let retried = OneShot<Void>()
        // Detached from the caller's task, as in `open`.
        Task { [self] in
            await forEachGate(of: node) { await $0.retry() }
            let paths = node.leaves.compactMap { $0.gate?.path }
            // The queue of a gate may be that of a composite above it.
            for queue in outbox.outbox.targetPaths where paths.contains(where: { "\($0)/".hasPrefix("\(queue)/") }) {
                await outbox.outbox.wake(queue)
            }
            retried.send()
        }
        _ = await retried.waitUnlessCancelled()
        return report
    }

    /// Closes one connector and everything below it; other connectors are unchanged.
    ///
    /// Each gate closes as ``close()`` describes, and stays closed until ``open(_:timeout:)`` opens it again.
    ///
    /// - Throws: `unknown-connector` if no connector has the path.
    public func close(_ path: String) async throws(ConnectorError) {
        await forEachGate(of: try current.node(path).node) { await $0.close() }
    }

    private func forEachGate(of node: Node, _ body: @escaping @Sendable (Gate) async -> Void) async {
        await withTaskExecutorPreference(dependencies.calls.gateThreads) {
            await withTaskGroup { group in
                for gate in node.leaves.compactMap(\.gate) { group.addTask { await body(gate) } }
            }
        }
    }

    /// Closes every gate, dependents first, and stops everything the host started.
    ///
    /// Deliveries stop after the batches in flight, concurrently, within ``Options/closingGrace``: see
    /// ``close(within:)``. Gates that are opening or healing stop trying. Calls in flight, also those inside instances
    /// that a reload has replaced or removed, may finish within their gate's timeout; those still pending then end with
    /// `not-open`. Further callers await the same closing. A closed host stays closed; create a new one from the same
    /// file.
    public func close() async { await close(within: grace) }

    /// Closes every gate as ``close()`` does, with a different grace period for deliveries in flight.
    ///
    /// - Parameter grace: How long to wait for vendors to answer batches in flight. A batch without an answer by then
    ///   stays in the outbox, and the next host delivers it, possibly for a second time.
    public func close(within grace: Duration) async {
        guard life.withLock({ $0.close() }) else { return await closed.wait() }
        watcher?.stop()
        publisher?.stop()
        reloader.close()
        changes.notify()
        await outbox.outbox.close(within: grace)
        // A reload in progress has gates that are not published yet, and ends once they are closed.
        for gate in current.tree.gates + (current.pending?.gates ?? []) { gate.retire() }
        await withTaskExecutorPreference(dependencies.calls.gateThreads) {
            if let pending = current.pending { await pending.forEachGate(.closing) { await $0.close() } }
            await current.tree.forEachGate(.closing) { await $0.close() }
            await reloader.ended()
            for gate in current.tree.gates { gate.retire() }
            await current.tree.forEachGate(.closing) { await $0.close() }
            // Calls may still be inside instances that reloads have replaced or removed.
            await dependencies.generations.end()
        }
        await dependencies.services.stop()
        publisher?.finish()
        life.withLock { $0.closed() }
        closed.send()
        changes.finish()
    }

    /// Finds the connector of a path, for a client.
    func target(_ path: String, capability: String? = nil) throws(ConnectorError) -> ClientTarget {
        try ClientTarget(
            path,
            capability: capability,
            in: current,
            outbox.outbox,
            dependencies.clock,
            dependencies.redactor
        )
    }

    /// New events that plugins send through `events/1`.
    ///
    /// - Parameters:
    ///   - path: A leaf, or a composite for every leaf below it; nil for all.
    ///   - capacity: How many unread events to buffer. When more arrive, the oldest are dropped; the next event says
    ///     how many.
    /// - Returns: A sequence for one consumer, which ends when the host closes, or when it and its clients are released. If no connector has
    ///   the path, it ends at once, and the log has the error `unknown-connector`.
    public func events(of path: String? = nil, capacity: Int = 256) -> ConnectorEvents {
        let bus = dependencies.services.events
        guard let path else { return bus.events(capacity: capacity) }
        do throws(ConnectorError) {
            _ = try current.node(path)
        } catch {
            dependencies.logger.error("there are no events to await", metadata: ["error": "\(error)"])
            return .ended
        }
        return bus.events(among: current.paths(below: path), capacity: capacity)
    }

    /// Sends an event as if the plugin of a gate had sent it: see ``Gate/emit(_:_:)``.
    ///
    /// - Parameter path: The gate's own path.
    package func emit(_ name: String, _ payload: JSONValue, from path: String) {
        current.tree[path]?.gate?.emit(name, payload)
    }

    /// Counts and logs an event that could not happen in the simulation of a gate.
    ///
    /// - Parameter path: The gate's own path.
    package func lost(_ what: String, from path: String) { current.tree[path]?.gate?.misbehaved(what) }

    /// The value without the secrets of the gates, for display.
    package func redacted(_ value: JSONValue) -> JSONValue { dependencies.redactor.redact(value) }

    /// The ends of the live runners: each is sent once everything that the runner printed has been logged.
    package var runnerEnds: [OneShot<Void>] { dependencies.runners.runners.map(\.ended) }

    /// The current state of every gate.
    public var report: Report { running.report(outbox.report(on: current.tree), dependencies.runners) }

    /// The report now, and again after every change. A slow reader gets only the latest report.
    ///
    /// The sequence is for one consumer: read this property once for each. It ends when the host has closed or is released, after a last
    /// report, or when its consumer is cancelled.
    public var reports: some AsyncSequence<Report, Never> & Sendable {
        changes.stream { [current, outbox, running, runners = dependencies.runners] in
            running.report(outbox.report(on: current.tree), runners)
        }
    }
}
