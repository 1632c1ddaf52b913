// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorSimulator
internal import Logging

/// The host of one command, with simulators if requested.
struct HostSession: Sendable {
    /// The host, which the session does not open.
    let host: ConnectorHost
    /// The configuration that the host opens.
    let resolved: ResolvedConfiguration
    /// Handles Ctrl-C and SIGTERM.
    let interruption: Interruption
    /// How an earlier command on the file ended, if that is still to be shown; nil otherwise.
    let lastCrash: CrashNote?
    /// The crash note that was in the file at the start, without symbols; nil if there was none.
    let crashNote: CrashNote?
    /// The directories in which no plugin can be found, with the reason.
    let pluginWarnings: [String]
    private let simulation: Simulation?
    private let lessons: SandboxLessons?

    /// The port of the simulators; nil without them.
    var simulatorPort: Int? { simulation?.port }

    /// A line with the command that injects a fault into one of the simulators; nil without simulated vendors.
    var faultLine: String? {
        guard let simulation, let vendor = simulation.vendors.first else { return nil }
        return "faults:  connector-host simulate --into \(simulation.port) --fault \(vendor):status=503"
    }

    /// Reads the configuration and starts the simulators if requested.
    ///
    /// - Parameters:
    ///   - request: What to simulate; nil for nothing.
    ///   - opens: Whether the command opens gates. One that only stores events, or prepares where they wait, needs neither the secrets
    ///     of connectors nor the variables in their settings.
    ///   - speed: How many seconds pass for a simulated host in one second.
    ///   - heals: Whether failed gates are retried.
    ///   - delivers: Whether the command delivers the outbox.
    ///   - watches: Whether the host adopts changes of its files as they happen.
    ///   - lessons: Collects which sandboxes the plugins in runners need; nil to confine the plugins to their sandboxes.
    ///   - showsLastCrash: Whether the command itself shows ``lastCrash``.
    ///   - earlier: Handles the signals already; nil to begin now.
    /// - Throws: `ExitStatus.invalidConfiguration`, after showing the errors; `ExitStatus.failed` if the simulators do
    ///   not start; the exit status for a signal that came before the configuration was read.
    static func start(
        _ file: ConfigurationOption,
        simulating request: SimulationRequest? = nil,
        opens: Bool = true,
        speed: Int = 1,
        heals: Bool = false,
        delivers: Bool = false,
        watches: Bool = false,
        lessons: SandboxLessons? = nil,
        showsLastCrash: Bool = false,
        interruption earlier: Interruption? = nil,
        answer: OutputOptions,
        logger: Logger
    ) async throws -> HostSession {
        var options = ConnectorHost.Options()
        options.heals = heals
        options.delivers = delivers
        options.watchesFiles = watches
        if let lessons { options.onSandboxLesson = lessons.take }
        // Events for simulators must not reach the vendors.
        if request != nil { options.outbox = .memory }
        if request != nil, speed > 1 { options.clock = FastClock(speed: speed) }
        let interruption = earlier ?? Interruption()
        var source = ConfigurationSource(options, simulating: opens ? request : SimulationRequest(opensNothing: true))
        let read = try await file.resolve(source, until: interruption)
        let (resolved, plugins) = try answer.checked { () throws(ConfigurationErrors) in try read.get() }
        let crashFile = CrashFile.path(for: file.file)
        let crashNote = crashFile.flatMap(CrashNote.note)
        options.lastCrash = crashNote
        let silence = WorkMark.takeAbandoned(besides: crashFile)
        if showsLastCrash {
            options.lastCrash = crashNote?.withSymbols() ?? silence
        } else if let silence {
            StandardStream.error.writeLine("connector-host: previously, \(silence) (\(silence.time))")
        }
        CrashNote.install(file: crashFile)
        WorkMark.begin(besides: crashFile, listeningIn: resolved.configuration.hostDirectory()?.absolutePath)
        let simulation: Simulation?
        do {
            simulation =
                request == nil ? nil : try await Simulation(clock: options.clock)
        } catch {
            let reason = error as? ConnectorError
            answer.report([
                ConnectorError(
                    .unavailable,
                    "the simulators cannot listen on this machine's loopback interface, so no gate was opened",
                    fix: reason?.fix ?? "allow the process to listen on a port of 127.0.0.1",
                    cause: reason?.message ?? String(describing: error)
                )
            ])
            throw ExitStatus.failed
        }
        source.simulation = simulation
        let opened = simulation?.pointing(resolved, plugins) ?? resolved
        let host = ConnectorHost(opened, plugins: plugins, source: source, options: options, logger: logger)
        interruption.explain { [weak host] in host?.unfinished ?? [] }
        simulation?.begin(on: host)
        return HostSession(
            host: host,
            resolved: opened,
            interruption: interruption,
            lastCrash: options.lastCrash,
            crashNote: crashNote,
            pluginWarnings: plugins.warnings,
            simulation: simulation,
            lessons: lessons
        )
    }

    /// Opens every gate and shows the progress on a terminal. On a signal, stops waiting and returns the current report.
    func open(timeout: Duration?) async -> Report {
        let progress = OpeningProgress.show(of: host)
        let report = await interruption.cancelling { [host] in await host.open(timeout: timeout) }
        await progress?.end()
        return report
    }

    /// Opens one connector and those it depends on. On a signal, stops waiting.
    func open(_ path: String) async throws(ConnectorError) -> Report {
        let progress = OpeningProgress.show(of: host)
        do throws(ConnectorError) {
            let report = try await interruption.cancelling { [host] () async throws(ConnectorError) in
                try await host.open(path)
            }
            await progress?.end()
            return report
        } catch {
            await progress?.end()
            throw error
        }
    }

    /// Opens every gate in a task of its own, so that a signal takes effect immediately, and meanwhile serves until the body ends or a
    /// signal comes.
    ///
    /// - Parameters:
    ///   - onOpen: Called once the gates have opened, unless serving has ended by then.
    ///   - body: Serves until its task is cancelled.
    /// - Returns: Why the body failed; nil if it did not.
    func serve(
        onOpen: @escaping @Sendable () -> Void = {},
        until body: @escaping @Sendable () async throws(ConnectorError) -> Void
    ) async -> ConnectorError? {
        let opening = Task { [host] in
            _ = await host.open()
            if !Task.isCancelled { onOpen() }
        }
        defer { opening.cancel() }
        do throws(ConnectorError) {
            try await interruption.cancelling(body)
            return nil
        } catch {
            return error
        }
    }

    /// Closes every gate, then stops the simulators.
    ///
    /// - Throws: The exit status for the signal that ended the command, if there was one; that of a failure if the command was to learn
    ///   what sandboxes the plugins need, and could not.
    func close() async throws(ExitCode) {
        let hasLearned = await end()
        if let status = interruption.exitStatus { throw status }
        if !hasLearned { throw ExitStatus.failed }
    }

    /// Closes every gate, then stops the simulators, for a command that a signal ends normally.
    ///
    /// - Parameter grace: How long to wait for vendors to acknowledge batches in flight; nil for the host's default.
    /// - Returns: False if the command was to learn what sandboxes the plugins need, and could not.
    func end(within grace: Duration? = nil) async -> Bool {
        await simulation?.endTimelines()
        let runners = lessons == nil ? [] : host.report.runners
        let ends = lessons == nil ? [] : host.runnerEnds
        if let grace { await host.close(within: grace) } else { await host.close() }
        await simulation?.stop()
        // Wait until everything that the runners have printed is read.
        for end in ends { await end.wait() }
        return lessons?.write(of: runners, in: host.configuration) ?? true
    }
}
