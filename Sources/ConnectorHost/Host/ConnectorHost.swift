// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import ConnectorLoading
internal import ConnectorPlatform
public import ConnectorServices
public import Logging
internal import Synchronization

/// The connections of an application to the outside world, as `connectors.json` names them.
///
/// ```swift
/// let host = try ConnectorHost(file: "connectors.json")
/// let report = await host.open()
/// try report.requireReady()
/// ```
///
/// Making a host reads the file and the plugins' manifests, and runs no plugin code. ``open(timeout:)`` loads the
/// plugins and opens every gate; ``report`` tells how each one stands. A gate that fails heals by itself until it is
/// closed. Use a host from any thread.
public final class ConnectorHost: Sendable {
    /// The file that the host was made from.
    public let configuration: Configuration
    /// The same, checked against the plugins.
    package let resolved: ResolvedConfiguration

    /// The tree that calls go to.
    let current: CurrentTree
    /// The durable queue before the vendors.
    let outbox: HostOutbox
    /// What all gates share.
    let environment: GateEnvironment
    private let changes: ReportChanges
    let waitsForRequiredGates: Bool
    private let delivers: Bool
    private let grace: Duration
    /// The shortest time between two reports of what the outboxes do, in nanoseconds: a burst of events makes few.
    private static let outboxInterval: UInt64 = 100_000_000
    /// Passes the metrics on; nil unless the application has a metrics system.
    private let publisher: MetricsPublisher?
    private let life = Mutex(HostStateMachine())
    /// Arrives when the host has closed.
    private let closed = OneShot<Void>()

    /// Reads a file and everything it names.
    ///
    /// - Parameters:
    ///   - file: The path of a `connectors.json`.
    ///   - options: The clock, plugin directories, and other settings.
    ///   - logger: Where the host and the plugins write; each line of a plugin carries `connector`.
    /// - Throws: Every fault of the file. A plugin that cannot be loaded is none: its gate fails instead.
    public convenience init(
        file: String,
        options: Options = Options(),
        logger: Logger = Logger(label: "connector-host")
    ) throws(ConfigurationErrors) {
        let plugins = Mutex<PluginLookup?>(nil)
        let resolved = try Configuration.load(file: file, environment: options.environment) { configuration in
            let lookup = PluginLookup(configuration: configuration, options: options)
            plugins.withLock { $0 = lookup }
            return lookup.manifest
        }
        let lookup = plugins.withLock(\.self) ?? PluginLookup(configuration: resolved.configuration, options: options)
        self.init(resolved, plugins: lookup, options: options, logger: logger)
    }

    /// Checks a configuration against the plugins it names.
    ///
    /// - Throws: Every fault of the configuration.
    public convenience init(
        _ configuration: Configuration,
        options: Options = Options(),
        logger: Logger = Logger(label: "connector-host")
    ) throws(ConfigurationErrors) {
        let plugins = PluginLookup(configuration: configuration, options: options)
        let resolved = try configuration.resolved(environment: options.environment, manifest: plugins.manifest)
        self.init(resolved, plugins: plugins, options: options, logger: logger)
    }

    /// Takes a configuration that was already checked against the plugins.
    package init(
        _ resolved: ResolvedConfiguration,
        plugins: PluginLookup,
        options: Options = Options(),
        logger: Logger = Logger(label: "connector-host")
    ) {
        let changes = ReportChanges()
        let ticks = options.clock as? SystemHostClock ?? SystemHostClock()
        let workers = WorkerThreads(clock: ticks)
        let services = HostServices.Options(
            clock: options.clock,
            http: options.http.identifyingHost(),
            stateDirectory: options.stateDirectory,
            application: StateDirectory.folder(name: resolved.configuration.name, file: resolved.configuration.file)
        )
        let environment = GateEnvironment(
            calls: CallEnvironment(
                operations: .shared,
                workers: workers,
                gateThreads: WorkerThreads(isLean: true, clock: ticks),
                cancelThreads: WorkerThreads(isLean: true, clock: ticks),
                clock: options.clock
            ),
            loader: PluginLoader(),
            services: HostServices(options: services, threads: workers),
            redactor: resolved.redactor,
            logger: logger,
            heals: options.heals,
            jitter: options.jitter,
            onChange: { changes.notifyGate() }
        )
        self.waitsForRequiredGates = options.waitsForRequiredGates
        self.configuration = resolved.configuration
        self.resolved = resolved
        self.environment = environment
        self.changes = changes
        let connectors = resolved.configuration.connectors
        let metering = Metering(clock: options.clock)
        let tree = Tree(connectors, metering: metering, logger: logger, onChange: { changes.notify() }) { connector in
            Gate(GatePlan(connector, in: resolved, plugins: plugins), environment: environment)
        }
        self.current = CurrentTree(tree)
        delivers = options.delivers
        grace = options.closingGrace
        // A test that moves the host's clock still sees every report.
        let throttle = ChangeThrottle(every: Self.outboxInterval, on: ticks) { changes.notify() }
        outbox = HostOutbox(
            current,
            location: options.outbox == .memory
                ? .memory : OutboxLocation(of: resolved.configuration, state: options.stateDirectory),
            environment: environment,
            onChange: { throttle.note() }
        )
        publisher = MetricsPublisher(metering, workers)
        // A gate that has opened takes events again, and one that has failed takes none.
        changes.watchGates { [weak outbox = outbox.outbox] in outbox?.gatesChanged() }
    }

    /// Opens every gate, as concurrently as `after` and the policies allow.
    ///
    /// Every gate then stays meant to be open until it is closed: one that fails is tried again by itself, see
    /// <doc:OpeningGates>. If a gate is already opening, this awaits the same attempt.
    ///
    /// Cancelling the caller's task returns the report of the moment; the gates go on opening.
    ///
    /// - Parameter timeout: How long to wait for all gates together. No attempt of `retry` begins later. Nil leaves the
    ///   wait to each connector.
    /// - Returns: The report right after. A required gate that is not open does not throw: see
    ///   ``Report/requireReady()``.
    @discardableResult
    public func open(timeout: Duration? = nil) async -> Report {
        await open(of: nil, timeout: timeout)
    }

    /// Opens one connector, everything below it, and everything it waits for; the others stay as they are.
    ///
    /// - Throws: `unknown-connector` if no connector has the path.
    @discardableResult
    public func open(_ path: String, timeout: Duration? = nil) async throws(ConnectorError) -> Report {
        await open(of: try current.node(path).node, timeout: timeout)
    }

    private func open(of node: Node?, timeout: Duration?) async -> Report {
        guard life.withLock({ $0.open() }) else { return report }
        publisher?.start(metricsReader)
        await delivers ? outbox.start() : outbox.inspect()
        let end = timeout.map(environment.deadline(after:)) ?? .max
        let opened = OneShot<Void>()
        // Detached from the caller's task: a caller that stops waiting does not stop the gates.
        // Without timers, the gates' threads may never start. Their opening fails at once, on any thread.
        let threads = environment.calls.gateThreads.prepare() ? environment.calls.gateThreads : nil
        Task(executorPreference: threads) { [self] in
            async let proof: Void = outbox.prove()
            await current.tree.forEachGate(.opening, of: node) { await $0.open(by: end) }
            await proof
            life.withLock { $0.opened() }
            opened.send()
        }
        _ = await opened.waitUnlessCancelled()
        return report
    }

    /// Returns once every required gate is open.
    ///
    /// This opens nothing: another task runs ``open(timeout:)`` or ``run()``.
    ///
    /// - Throws: `not-open` once the host closes; `cancelled` if the task is cancelled.
    public func ready() async throws(ConnectorError) {
        for await report in reports {
            if life.withLock(\.isClosing) {
                throw ConnectorError(.notOpen, "the host has closed", fix: "make a new host from the same file")
            }
            if report.isReady { return }
        }
        throw ConnectorError(.cancelled, "the task was cancelled while it awaited the required gates")
    }

    /// Retries one connector and everything below it at once: opens each gate that has failed, and proves each open
    /// one.
    ///
    /// A gate that waits for its next attempt waits no longer. Before the host opens, and once it closes, this does
    /// nothing.
    ///
    /// - Returns: The report after that.
    /// - Throws: `unknown-connector` if no connector has the path.
    @discardableResult
    public func retry(_ path: String) async throws(ConnectorError) -> Report {
        let node = try current.node(path).node
        guard life.withLock(\.isOpen) else { return report }
        await forEachGate(of: node) { await $0.retry() }
        return report
    }

    /// Closes one connector and everything below it; the others stay as they are.
    ///
    /// Each gate closes as ``close()`` describes, and stays closed until ``open(_:timeout:)`` opens it again.
    ///
    /// - Throws: `unknown-connector` if no connector has the path.
    public func close(_ path: String) async throws(ConnectorError) {
        await forEachGate(of: try current.node(path).node) { await $0.close() }
    }

    private func forEachGate(of node: Node, _ body: @escaping @Sendable (Gate) async -> Void) async {
        await withTaskExecutorPreference(environment.calls.gateThreads) {
            await withTaskGroup { group in
                for gate in node.leaves.compactMap(\.gate) { group.addTask { await body(gate) } }
            }
        }
    }

    /// Closes every gate, dependents first, and stops everything the host started.
    ///
    /// Deliveries end after the batch under way, all at once, within ``Options/closingGrace``: see ``close(within:)``.
    /// Gates that are opening or healing stop trying. Calls inside may finish within their gate's timeout; those still
    /// pending then end with `not-open`. Every further caller awaits the same end. A closed host stays closed; make a
    /// new one from the same file.
    public func close() async { await close(within: grace) }

    /// Closes every gate, as ``close()`` does, with another time for the deliveries under way.
    ///
    /// - Parameter grace: How long vendors may still answer for the batches that they are being sent. A batch without an answer by
    ///   then is abandoned: it stays in the outbox, and the next host delivers it, perhaps a second time.
    public func close(within grace: Duration) async {
        guard life.withLock({ $0.close() }) else { return await closed.wait() }
        changes.notify()
        await outbox.outbox.close(within: grace)
        for gate in current.tree.gates { gate.retire() }
        await withTaskExecutorPreference(environment.calls.gateThreads) {
            await current.tree.forEachGate(.closing) { await $0.close() }
        }
        await environment.services.stop()
        publisher?.stop()
        life.withLock { $0.closed() }
        closed.send()
        changes.notify()
    }

    /// The connector of a path, ready to be called.
    func target(_ path: String, capability: String? = nil) throws(ConnectorError) -> ClientTarget {
        try ClientTarget(
            path,
            capability: capability,
            in: current,
            outbox.outbox,
            environment.clock,
            environment.redactor
        )
    }

    /// The events that plugins send through `events/1`, from now on.
    ///
    /// - Parameters:
    ///   - path: A leaf, or a composite for every leaf below it; nil for all.
    ///   - capacity: How many unread events to keep. When more arrive the oldest are dropped, and the next event counts
    ///     them.
    /// - Returns: A sequence for one consumer, which ends when the host closes.
    public func events(of path: String? = nil, capacity: Int = 256) -> ConnectorEvents {
        environment.services.events.events(of: path, capacity: capacity)
    }

    /// The current state of every gate.
    public var report: Report { outbox.report(on: current.tree) }

    /// The report now, and again after every change. Changes that arrive faster than they are read become one.
    ///
    /// The sequence ends when its consumer is cancelled.
    public var reports: some AsyncSequence<Report, Never> & Sendable {
        changes.stream { [current, outbox] in outbox.report(on: current.tree) }
    }
}
