// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import ConnectorLoading
public import ConnectorManifest
internal import ConnectorOneShot
internal import ConnectorPlatform
public import ConnectorServices
public import Logging
public import ServiceLifecycle
internal import Synchronization

/// The connections of an application to the outside world, as `connectors.json` names them.
///
/// ```swift
/// let host = try ConnectorHost(file: "connectors.json")
/// let report = await host.open()
/// try report.requireReady()
/// ```
///
/// Making a host reads the file and the plugins' manifests, and runs nothing of any plugin. ``open(timeout:)`` loads the plugins and
/// opens every gate; ``report`` tells how each one stands. All of it is safe from any thread.
public final class ConnectorHost: Sendable {
    /// The file that the host was made from.
    public let configuration: Configuration

    /// What calls go to.
    let current: CurrentTree
    private let environment: GateEnvironment
    private let changes: ReportChanges
    private let waitsForRequiredGates: Bool
    private let life = Mutex(HostStateMachine())
    /// Arrives when the host has closed.
    private let closed = OneShot<Void>()

    /// Reads a file and everything it names.
    ///
    /// - Parameters:
    ///   - file: The path of a `connectors.json`.
    ///   - options: Where plugins are, what time it is, and so on.
    ///   - logger: Where the host and the plugins write; a plugin's lines carry `connector`.
    /// - Throws: Everything that is wrong with the file. A plugin that cannot be loaded is not: its gate fails.
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

    /// Checks a configuration against the plugins that it names.
    ///
    /// - Throws: Everything that is wrong with it.
    public convenience init(
        _ configuration: Configuration,
        options: Options = Options(),
        logger: Logger = Logger(label: "connector-host")
    ) throws(ConfigurationErrors) {
        let plugins = PluginLookup(configuration: configuration, options: options)
        let resolved = try configuration.resolved(environment: options.environment, manifest: plugins.manifest)
        self.init(resolved, plugins: plugins, options: options, logger: logger)
    }

    /// Takes a configuration that was checked against the plugins already.
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
            stateDirectory: options.stateDirectory
        )
        let environment = GateEnvironment(
            calls: CallEnvironment(
                operations: .shared,
                workers: workers,
                lifecycle: WorkerThreads(isLean: true, clock: ticks),
                clock: options.clock
            ),
            loader: PluginLoader(),
            services: HostServices(options: services, threads: workers),
            redactor: resolved.redactor,
            logger: logger,
            jitter: options.jitter,
            onChange: { changes.notify() }
        )
        self.waitsForRequiredGates = options.waitsForRequiredGates
        self.configuration = resolved.configuration
        self.environment = environment
        self.changes = changes
        let connectors = resolved.configuration.connectors
        let tree = Tree(connectors, logger: logger, onChange: { changes.notify() }) { connector in
            Gate(GatePlan(connector, in: resolved, plugins: plugins), environment: environment)
        }
        self.current = CurrentTree(tree)
    }

    /// Opens every gate, as concurrently as `after` and the policies allow, and tells how it went.
    ///
    /// From then on every gate is meant to be open until ``close()``: one that has failed is tried again by itself, see
    /// <doc:OpeningGates>. A gate that opens already, because somebody else asked for it, is awaited: both get the same truth.
    ///
    /// If the caller's task is cancelled this returns at once, with the report of the moment; the gates go on opening.
    ///
    /// - Parameter timeout: After this nothing is awaited any longer, and no attempt of `retry` begins; nil leaves it to each connector.
    /// - Returns: The report right after; a required gate that is not open does not throw: see ``Report/requireReady()``.
    @discardableResult
    public func open(timeout: Duration? = nil) async -> Report {
        await open(of: nil, timeout: timeout)
    }

    /// Opens one connector, with everything below it and everything it waits for; the others stay as they are.
    ///
    /// - Throws: `unknown-connector` if there is none of that path.
    @discardableResult
    public func open(_ path: String, timeout: Duration? = nil) async throws(ConnectorError) -> Report {
        await open(of: try current.node(path).node, timeout: timeout)
    }

    private func open(of node: Node?, timeout: Duration?) async -> Report {
        guard life.withLock({ $0.open() }) else { return report }
        let end = timeout.map(environment.deadline(after:)) ?? .max
        let opened = OneShot<Void>()
        // Not a part of the caller's task: who stops waiting does not stop the gates.
        Task(executorPreference: environment.calls.lifecycle) { [self] in
            await current.tree.forEachGate(.opening, of: node) { await $0.open(by: end) }
            life.withLock { $0.opened() }
            opened.send()
        }
        _ = await opened.waitUnlessCancelled()
        return report
    }

    /// Waits until every required gate is open.
    ///
    /// Opens nothing by itself: some other task runs ``open(timeout:)`` or ``run()``.
    ///
    /// - Throws: `not-open` once the host closes; `cancelled` if the task is cancelled.
    public func ready() async throws(ConnectorError) {
        for await report in reports {
            if life.withLock(\.isClosing) {
                throw ConnectorError(.notOpen, "the host has closed", fix: "make another one of the same file")
            }
            if report.isReady { return }
        }
        throw ConnectorError(.cancelled, "waiting for the required gates was cancelled")
    }

    /// Tries one connector, with everything below it, now: opens what has failed, whenever its next attempt was to be, and proves
    /// what is open.
    ///
    /// - Returns: The report after that.
    /// - Throws: `unknown-connector` if there is none of that path.
    @discardableResult
    public func retry(_ path: String) async throws(ConnectorError) -> Report {
        let node = try current.node(path).node
        guard life.withLock(\.isOpen) else { return report }
        await forEachGate(of: node) { await $0.retry() }
        return report
    }

    /// Closes one connector, with everything below it; the others stay as they are.
    ///
    /// As ``close()`` does with each gate, but ``open(_:timeout:)`` opens it again.
    ///
    /// - Throws: `unknown-connector` if there is none of that path.
    public func close(_ path: String) async throws(ConnectorError) {
        await forEachGate(of: try current.node(path).node) { await $0.close() }
    }

    private func forEachGate(of node: Node, _ body: @escaping @Sendable (Gate) async -> Void) async {
        await withTaskExecutorPreference(environment.calls.lifecycle) {
            await withTaskGroup { group in
                for gate in node.leaves.compactMap(\.gate) { group.addTask { await body(gate) } }
            }
        }
    }

    /// Closes every gate, those that waited for others first, and ends what the host had started.
    ///
    /// Gates that are opening are given up, and no further one begins to. Calls that are inside may finish within their gate's
    /// timeout; those that are still pending then end with `not-open`. Everybody who closes awaits the same end. A closed host stays
    /// closed; another one can be made of the same file.
    public func close() async {
        guard life.withLock({ $0.close() }) else { return await closed.wait() }
        changes.notify()
        for gate in current.tree.gates { gate.retire() }
        await withTaskExecutorPreference(environment.calls.lifecycle) {
            await current.tree.forEachGate(.closing) { await $0.close() }
        }
        await environment.services.shutdown()
        life.withLock { $0.closed() }
        closed.send()
        changes.notify()
    }

    /// What a client calls.
    func target(_ path: String, capability: String? = nil) throws(ConnectorError) -> ClientTarget {
        try ClientTarget(path, capability: capability, in: current, environment.clock)
    }

    /// What plugins tell through `events/1`, from now on.
    ///
    /// - Parameters:
    ///   - path: A connector, or a composite for all below it; nil for all.
    ///   - capacity: How many events wait to be read before the oldest are dropped; the next one says how many were.
    /// - Returns: A sequence for one consumer, which ends when the host closes.
    public func events(of path: String? = nil, capacity: Int = 256) -> ConnectorEvents {
        environment.services.events.events(of: path, capacity: capacity)
    }

    /// How every gate stands now.
    public var report: Report { current.tree.report }

    /// The report now, and again after every change; changes that come faster than they are read become one.
    ///
    /// Ends when its consumer is cancelled.
    public var reports: some AsyncSequence<Report, Never> & Sendable {
        changes.stream { [current] in current.tree.report }
    }
}

extension ConnectorHost: Service {
    /// Opens, runs until the service group shuts down gracefully or the task is cancelled, and closes.
    ///
    /// A shutdown or a cancellation while the gates open is noticed at once.
    ///
    /// - Throws: The first error of a required gate that did not open, after everything was closed again; not if
    ///   ``Options/waitsForRequiredGates`` is false.
    public func run() async throws {
        if waitsForRequiredGates {
            _ = await cancelWhenGracefulShutdown { await self.open() }
        } else {
            Task { await open() }
        }
        do {
            if waitsForRequiredGates, !Task.isCancelled, !Task.isShuttingDownGracefully { try report.requireReady() }
        } catch {
            await close()
            throw error
        }
        try? await gracefulShutdown()
        await close()
    }
}
