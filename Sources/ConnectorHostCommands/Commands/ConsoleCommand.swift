// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorConsole
internal import ConnectorConsoleTerminal
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorManifest
internal import Logging

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// `connector-host console`: opens every gate, and shows it all in the terminal until somebody quits.
struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Open every gate, and show it all on a full screen: what is down, since when and why; and act on it.",
        discussion: """
            Opens the gates as run does, in this process: gates that fail are tried again, and the outbox is delivered unless
            another host does. Press ? for the keys, and q to quit.

            Exit status: 0; 2 if the configuration is invalid; 64 for wrong usage, and without a terminal.

            Examples:
              connector-host console --simulate
              connector-host console --route /gates/analytics/segment
            """
    )

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Point every gate at a simulator in this process; no vendor is contacted, and the outbox is in memory.")
    var simulate = false

    @Option(
        help: ArgumentHelp("Where to begin, such as /outbox. (default: /gates)", valueName: "path"),
        transform: Route.argument
    )
    var route: Route?

    @OptionGroup var log: LogOptions

    func validate() throws {
        guard isatty(STDIN_FILENO) == 1, StandardStream.output.isTerminal else {
            throw ValidationError("the console needs a terminal; for a pipe or a file there is connector-host status")
        }
    }

    func run() async throws {
        var (log, answer) = (log, OutputOptions())
        log.logLevel = log.logLevel ?? .info
        answer.isJSON = false
        let session = try await HostSession.start(
            file,
            simulating: simulate,
            heals: true,
            delivers: true,
            // A terminal that goes away, and Ctrl-\ from another one.
            signals: [SIGHUP, SIGQUIT],
            answer: answer,
            logger: log.logger
        )
        let configuration = session.resolved.configuration
        let model = HostConsoleModel(
            session.host,
            commands: CommandLines(file: file.isExplicit ? file.file : nil, isSimulated: simulate)
        ) {
            PluginLookup(configuration: configuration, options: ConnectorHost.Options()).everything.entries.map {
                entry in
                PluginSummary(path: entry.path, manifest: entry.manifest, problem: entry.error?.message)
            }
        }
        let options = TerminalConsole.Options(route: route ?? .gates)
        let opening = Task { [host = session.host] in await host.open() }
        do throws(ConnectorError) {
            try await session.interruption.cancelling { () async throws(ConnectorError) in
                try await TerminalConsole.run(model, options)
            }
        } catch {
            opening.cancel()
            try? await session.close()
            answer.report([error])
            throw ExitCode.validationFailure
        }
        opening.cancel()
        // A signal is a usual end.
        try? await session.close()
    }
}

extension Route {
    /// Reads an argument such as `/outbox`.
    ///
    /// - Throws: A `ValidationError`, which ends the process with status 64.
    fileprivate static func argument(_ text: String) throws -> Route {
        guard let route = Route(text) else {
            throw ValidationError("'\(text)' is not a route: write a path such as /gates, /outbox or /gates/analytics.")
        }
        return route
    }
}
