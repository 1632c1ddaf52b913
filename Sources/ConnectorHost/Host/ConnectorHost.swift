// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest
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

    private let tree: Tree
    private let environment: GateEnvironment
    private let changes: ReportChanges
    private let isClosed = Atomic(false)

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
            loader: PluginLoader(),
            operations: OperationTable(),
            workers: workers,
            lifecycle: WorkerThreads(isLean: true, clock: ticks),
            services: HostServices(options: services, threads: workers),
            clock: options.clock,
            redactor: resolved.redactor,
            logger: logger,
            jitter: options.jitter,
            onChange: { changes.notify() }
        )
        self.configuration = resolved.configuration
        self.environment = environment
        self.changes = changes
        self.tree = Tree(resolved.configuration.connectors, onChange: { changes.notify() }) { connector, isRequired in
            let plan = GatePlan(connector, isRequired: isRequired, in: resolved, plugins: plugins)
            return Gate(plan, environment: environment)
        }
    }

    /// Opens every gate, as concurrently as `after` and the policies allow, and tells how it went.
    ///
    /// A gate that opens already, because somebody else asked for it, is waited for: both get the same truth.
    ///
    /// - Parameter timeout: After this nothing is waited for or tried again; nil leaves it to each connector.
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
        let target = try target(path)
        return await open(of: target.index, timeout: timeout)
    }

    private func open(of index: Int?, timeout: Duration?) async -> Report {
        guard !isClosed.load(ordering: .acquiring) else { return report }
        let end = timeout.map(environment.deadline(after:)) ?? .max
        await withTaskExecutorPreference(environment.lifecycle) {
            await tree.forEachGate(.opening, of: index) { await $0.open(by: end) }
        }
        return report
    }

    /// Closes every gate, those that waited for others first, and ends what the host had started.
    ///
    /// Calls that are still pending end with `not-open`. A closed host stays closed; another one can be made of the same file.
    public func close() async {
        isClosed.store(true, ordering: .releasing)
        await withTaskExecutorPreference(environment.lifecycle) {
            await tree.forEachGate(.closing) { await $0.close() }
        }
        await environment.services.shutdown()
        changes.notify()
    }

    /// What a client calls.
    func target(_ path: String, capability: String? = nil) throws(ConnectorError) -> ClientTarget {
        try ClientTarget(path, capability: capability, in: tree)
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
    public var report: Report { tree.report }

    /// The report now, and again after every change; changes that come faster than they are read become one.
    ///
    /// Ends when its consumer is cancelled.
    public var reports: some AsyncSequence<Report, Never> & Sendable {
        changes.stream { [tree] in tree.report }
    }
}

extension ConnectorHost: Service {
    /// Opens, runs until the service group shuts down gracefully or the task is cancelled, and closes.
    ///
    /// - Throws: The first error of a required gate that did not open, after everything was closed again.
    public func run() async throws {
        await open()
        do {
            try report.requireReady()
        } catch {
            await close()
            throw error
        }
        try? await gracefulShutdown()
        await close()
    }
}
