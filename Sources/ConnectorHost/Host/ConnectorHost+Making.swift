// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorLoading
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging

/// The parts that a host is made of.
extension ConnectorHost {
    /// The minimum interval between reports of outbox changes, in nanoseconds, so that a burst of events causes few
    /// reports.
    private static let outboxInterval: UInt64 = 100_000_000

    /// The first tree, with a gate for each leaf. Blocks while plugins' files are read.
    static func makeTree(
        of resolved: ResolvedConfiguration,
        _ plugins: PluginLookup,
        _ metering: Metering,
        _ dependencies: GateDependencies,
        _ changes: ReportChanges
    ) -> Tree {
        let plans = NextConfiguration(resolved, plugins: plugins).plans
        return Tree(
            resolved.configuration.connectors,
            metering: metering,
            logger: dependencies.logger,
            onChange: { changes.notify() }
        ) { connector in
            Gate(plans[connector.path] ?? .missing(connector), dependencies: dependencies)
        }
    }

    /// The outbox of a tree, which touches no file yet.
    ///
    /// - Parameter ticks: The system's clock, so that tests that control the host's clock still see every report.
    static func makeOutbox(
        of resolved: ResolvedConfiguration,
        _ options: Options,
        ticks: any HostClock,
        _ current: CurrentTree,
        _ dependencies: GateDependencies,
        _ changes: ReportChanges
    ) -> HostOutbox {
        let (configuration, state) = (resolved.configuration, options.stateDirectory)
        let isInMemory = options.outbox == .memory
        let throttle = ChangeThrottle(every: outboxInterval, on: ticks) { changes.notify() }
        return HostOutbox(
            current,
            location: isInMemory ? .memory : OutboxLocation(of: configuration, state: state),
            stranded: { await isInMemory ? [] : StrandedEvents.find(configuration, state: state) },
            ticks: ticks,
            delivers: options.delivers,
            dependencies: dependencies,
            onChange: { throttle.note() }
        )
    }
}

extension GateDependencies {
    /// What the gates of a host share.
    ///
    /// - Parameters:
    ///   - ticks: The clock of the threads.
    ///   - onChange: Called after every change of a gate.
    init(
        of resolved: ResolvedConfiguration,
        _ options: ConnectorHost.Options,
        ticks: SystemHostClock,
        logger: Logger,
        onChange: @escaping @Sendable () -> Void
    ) {
        let configuration = resolved.configuration
        let requiresTrust = configuration.requiresTrust
        let workers = WorkerThreads(clock: ticks)
        let services = HostServices.Options(
            clock: options.clock,
            http: options.http.identifyingHost(),
            state: StateDirectory(options.stateDirectory, name: configuration.name, file: configuration.path)
        )
        let runnerLog = RunnerLog(logger, resolved.redactor, onLesson: options.onSandboxLesson)
        self.init(
            calls: CallDependencies(
                operations: .shared,
                workers: workers,
                gateThreads: WorkerThreads(isLean: true, clock: ticks),
                cancelThreads: WorkerThreads(isLean: true, clock: ticks),
                clock: options.clock
            ),
            loader: PluginLoader(),
            runners: RunnerPool(
                groups: ControlGroupSource(options.namedControlGroup),
                find: { () throws(ConnectorError) in try options.runnerProgram(requiresTrust: requiresTrust) },
                onLine: { runnerLog.take($0, $1) },
                onRefusal: { runnerLog.take($0, $1) }
            ),
            promotions: Promotions(
                state: configuration.hostDirectory(state: options.stateDirectory),
                crash: options.lastCrash,
                logger: logger
            ),
            services: HostServices(options: services, threads: workers),
            redactor: resolved.redactor,
            logger: logger,
            heals: options.heals,
            learnsSandbox: options.onSandboxLesson != nil,
            jitter: options.jitter,
            onChange: onChange
        )
    }
}

extension UsedConnectors {
    /// Directs calls to a tree, for as long as the host has it.
    func connect(to current: CurrentTree) {
        connect(
            opened: { [weak current] path in
                for gate in current?.tree.users(of: path) ?? [] { gate.healWithUsed() }
            }
        ) { [weak current] use, operation, arguments, options throws(ConnectorError) in
            guard let current else { throw .hostClosed }
            return try await current.usedNode(use.connector)
                .call(operation, of: use.use.capability, arguments, options, in: current)
        }
    }
}
