// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorConsoleWeb
internal import ConnectorControl
internal import ConnectorHost
internal import ConnectorPlatform
internal import Logging

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// `connector-host run`: opens every gate and delivers the outbox until it is stopped.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Open every gate, and deliver the outbox, until it is stopped.",
        discussion: """
            Gates that fail are retried. On SIGTERM or Ctrl-C the host takes no more calls through its API, lets those in progress \
            end and delivers for as long as --grace allows, closes every gate, and exits with 0; undelivered events stay in the \
            outbox for the next run. On SIGHUP it takes up the file again, as connector-host reload does, or ends if the terminal \
            that it was started in was closed; with --watch, it takes it up after each change of the file, of what it includes, of \
            connectors.lock.json, of a plugin or of a secret's file.

            Only one host at a time delivers the events of a state directory. send works beside it; status, call, watch, operations \
            and outbox query it. It serves HTTP on the socket "control" in that directory, whose path it logs: /livez, /readyz, \
            /metrics, and the API described by /api/v1/openapi.json. A simulated host serves the same on "control-simulated": \
            status, call, watch and outbox query it with --simulate, and operations, plugins, plan, apply, reload and swap reach it \
            where no other host runs.

            Exit status: 0; 1 if another host delivers, the outbox cannot be used, the address of --console is in use, or nothing could be \
            learned with --learn; 2 if the configuration is invalid; 64 for wrong usage.

            Examples:
              connector-host run
              connector-host run --watch
              connector-host run --grace 30s --log-level debug
              connector-host run --console 127.0.0.1:8901 --simulate
              curl --unix-socket ~/.local/state/connector-host/shop.name/control \\
                http://localhost/metrics
            """
    )

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Point every gate at a simulator in this process; no vendor is contacted, and the outbox is in memory.")
    var simulate = false

    @OptionGroup var answers: AnswersOption

    @OptionGroup var learning: LearnOption

    @Flag(
        help:
            "Take up changes of the file, its includes, plugins and secrets as they happen. Waits for a file that is missing."
    )
    var watch = false

    @Option(
        help: ArgumentHelp(
            "How long to keep delivering, and to let calls end, after a signal. (default: 10s)",
            valueName: "duration"
        ),
        transform: Duration.argument
    )
    var grace: Duration?

    @Option(
        help: ArgumentHelp(
            "Serve the console to browsers on this address, such as 127.0.0.1:8901.",
            valueName: "address"
        ),
        transform: WebConsole.Address.argument
    )
    var console: WebConsole.Address?

    @OptionGroup var speed: SpeedOption

    @OptionGroup var web: WebConsoleOptions

    @OptionGroup var answer: OutputOptions

    @OptionGroup var log: LogOptions

    func validate() throws {
        try speed.validate(isSimulated: simulate)
        try answers.validate(isSimulated: simulate)
        try web.validate(isServed: console != nil, by: "--console")
    }

    func run() async throws {
        DescriptorLimit.raise()
        var log = log
        log.logInfoByDefault()
        StandardStream.queueErrors()
        let options = try answer.checked(console) { address throws(ConnectorError) in
            try web.options(at: address, route: .gates)
        }
        // From here on no signal ends the process: it ends the programs that print secrets, and then the command like a host that runs.
        let interruption = Interruption()
        interruption.explain { ["the configuration to be read"] }
        let (hangUps, logger) = (Self.hangUps(interruption), log.logger)
        guard await awaitFile(interruption, logger), let session = try await start(interruption, logger) else {
            return answer.output.write(RunDocument(queued: 0))
        }
        await warn(of: session, logger)
        try await claimOutbox(of: session)
        // A simulated host does not report the state of the file's real gates, so it listens on a socket of its own, which only
        // commands that accept such a host try.
        let (acts, name) = (ControlActs(), simulate ? ControlSocket.Name.simulated : .control)
        let control = ControlSession.start(for: session.host, on: name, acts: acts, logger: logger)
        let page = options.map { options in
            WebSession(session: session, options: options, file: file, stream: webStream, acts: acts).start()
        }
        let manager = ServiceManager({ Configuration.Environment.process[$0] })
        // A report takes the locks of all gates and of the outbox.
        let watching = Task { [host = session.host] in await manager?.watch { _ = host.report } }
        defer { watching.cancel() }
        let failure = await serve(session, page, hangUps, manager)
        manager?.stopping()
        if let failure {
            answer.report([failure])
            await control?.stop()
            try? await session.close()
            throw ExitStatus.failed
        }
        let (queued, hasLearned) = await finish(session, acts, logger) {
            await page?.stop()
            await control?.stop()
        }
        answer.output.write(RunDocument(queued: queued))
        if !hasLearned { throw ExitStatus.failed }
    }

    /// The stream for the links of the console.
    private var webStream: StandardStream { answer.isJSON ? .error : .output }

    /// The arrivals of SIGHUP. One that comes before the host exists, or during a reload, counts for one after that.
    private static func hangUps(_ interruption: Interruption) -> AsyncStream<Void> {
        let (hangUps, hangUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let terminals = StandardStream.terminals
        Interruption.handle([SIGHUP]) { number in
            // The window was closed: no one would see the host again.
            if terminals.contains(where: StandardStream.isHungUp) {
                interruption.interrupt(by: number)
            } else {
                hangUp.yield()
            }
        }
        return hangUps
    }

    /// Awaits a file that is missing, with `--watch`.
    ///
    /// - Returns: False after a signal.
    private func awaitFile(_ interruption: Interruption, _ logger: Logger) async -> Bool {
        guard watch else { return true }
        await interruption.cancelling { [file] in
            await ConnectorHost.awaitFile(file.file, logger: logger)
        }
        return interruption.exitStatus == nil
    }

    /// Reads the configuration, and makes the host.
    ///
    /// - Returns: Nil after a signal that came before everything was read.
    private func start(_ interruption: Interruption, _ logger: Logger) async throws -> HostSession? {
        do {
            return try await HostSession.start(
                file,
                simulating: answers.request(isSimulated: simulate),
                speed: speed.factor,
                heals: true,
                delivers: true,
                watches: watch,
                lessons: learning.lessons(),
                interruption: interruption,
                answer: answer,
                logger: logger
            )
        } catch let status as ExitCode where status == interruption.exitStatus {
            return nil
        }
    }

    /// Warns of another host on the file, of a place that does not suit it, and of directories without plugins.
    private func warn(of session: HostSession, _ logger: Logger) async {
        let configuration = session.resolved.configuration
        if !simulate {
            let other = try? await AttachedHost.findElsewhere(file, than: configuration.hostDirectory())
            if let other {
                logger.warning(
                    "another host runs on the same file, with its earlier \"name\" or \"state\": stop one of them",
                    metadata: ["process": "\(other.identity.process)"]
                )
            }
            if let warning = configuration.placeWarning { logger.warning("\(warning)") }
        }
        for warning in session.pluginWarnings { logger.warning("\(warning)") }
    }

    /// Acquires the right to deliver the outbox.
    ///
    /// - Throws: `ExitStatus.failed`, after printing why it is unavailable.
    private func claimOutbox(of session: HostSession) async throws {
        do throws(ConnectorError) {
            try await session.host.claimOutbox()
        } catch {
            answer.report([error])
            try await session.close()
            throw ExitStatus.failed
        }
    }

    /// Opens the gates, and serves until a signal. Reloads at each SIGHUP, and reports the host's progress to the service manager.
    ///
    /// - Returns: Why the console cannot be served; nil after a signal.
    private func serve(
        _ session: HostSession,
        _ page: WebSession.Serving?,
        _ hangUps: AsyncStream<Void>,
        _ manager: ServiceManager?
    ) async -> ConnectorError? {
        let (host, opened) = (session.host, OneShot<Void>())
        Task {
            for await _ in hangUps {
                // A service that is still starting is not ready for having reloaded.
                let isOpen = opened.value != nil
                if isOpen { manager?.reloading() }
                await host.reload()
                if isOpen { manager?.ready() }
            }
        }
        if page == nil, let faults = session.faultLine { StandardStream.error.writeLine(faults) }
        return await session.serve {
            opened.send()
            manager?.ready()
        } until: { () async throws(ConnectorError) in
            if let page { return try await page.waitUnlessCancelled() }
            for await _ in host.reports {}
        }
    }

    /// Delivers, and lets the calls in progress end, for as long as `--grace` allows; then stops the servers, and closes every gate.
    ///
    /// The servers answer until no call is in progress, so that callers have their answers, and others learn that the host stops.
    ///
    /// - Returns: How many events are left, and whether what `--learn` was to learn was learned.
    private func finish(
        _ session: HostSession,
        _ acts: ControlActs,
        _ logger: Logger,
        stoppingServers: @Sendable () async -> Void
    ) async -> (queued: Int, hasLearned: Bool) {
        let grace = grace ?? .seconds(10)
        logger.info("stopping; delivering waiting events", metadata: ["for at most": "\(grace)"])
        let start = ContinuousClock.now
        async let calls: Void = acts.end(within: grace)
        // The report already names an outbox that cannot be used.
        _ = try? await session.host.flush(within: grace)
        await calls
        // Vendors may still acknowledge batches in flight; the next run delivers the rest.
        let rest = max(.seconds(1), grace - (ContinuousClock.now - start))
        let queued = session.host.report.gates.compactMap(\.outbox?.queued).reduce(0, +)
        await stoppingServers()
        return (queued, await session.end(within: rest))
    }
}
