// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorConsoleTerminal
internal import ConnectorConsoleWeb
internal import ConnectorControl
internal import ConnectorHost
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// `connector-host console`: opens every gate and shows the console until the operator quits.
struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Open every gate, and show the state of each, in the terminal or in a browser.",
        discussion: """
            Opens the gates in this process, as run does: gates that fail are retried, and the outbox is delivered unless another \
            host delivers it. Press ? for the keys, and q to quit. If a host runs on the same file (connector-host run), the command \
            fails without opening a gate; to see that host, start it with run --console.

            With --web it prints a link that admits one browser, and serves until Ctrl-C. An address that other machines can reach \
            requires a certificate, its key and a token.

            Exit status: 0; 1 if a host runs on the file, or the address is in use; 2 if the configuration is invalid; 64 for \
            wrong usage, and without a terminal.

            Examples:
              connector-host console --simulate
              connector-host console --route /gates/analytics/segment
              connector-host console --web --simulate
            """
    )

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Point every gate at a simulator in this process; no vendor is contacted, and the outbox is in memory.")
    var simulate = false

    @OptionGroup var answers: AnswersOption

    @Flag(name: .customLong("no-attach"), help: "Open the gates a second time, even if a host runs on the file.")
    var opensBesideHost = false

    @Option(
        help: ArgumentHelp("The first route, such as /outbox. (default: /gates)", valueName: "path"),
        transform: Route.argument
    )
    var route: Route?

    @Option(
        name: .customLong("web"),
        defaultAsFlag: WebArgument.standard,
        help: ArgumentHelp(
            "Serve the console to browsers on this address. (default: 127.0.0.1:8901)",
            valueName: "address"
        )
    )
    var webArgument: WebArgument?

    @OptionGroup var speed: SpeedOption

    @OptionGroup var console: WebConsoleOptions

    @OptionGroup var log: LogOptions

    private var web: WebConsole.Address? { webArgument?.address }

    func validate() throws {
        try speed.validate(isSimulated: simulate)
        try answers.validate(isSimulated: simulate)
        try console.validate(isServed: web != nil, by: "--web")
        guard web == nil else { return }
        guard isatty(STDIN_FILENO) == 1, StandardStream.output.isTerminal else {
            throw ValidationError("the console needs a terminal; for a pipe or a file, use connector-host status")
        }
        // The console checks this, too, but only after the gates have begun to open.
        let kind = Configuration.Environment.process["TERM"] ?? ""
        guard !kind.isEmpty, kind != "dumb" else {
            throw ValidationError(
                "the terminal cannot move its cursor: TERM is \"\(kind)\"; use connector-host status, or console --web"
            )
        }
    }

    func run() async throws {
        DescriptorLimit.raise()
        var log = log
        log.logInfoByDefault()
        // A terminal that stalls stalls its console, too.
        if self.web != nil { StandardStream.queueErrors() }
        let answer = OutputOptions(isJSON: false)
        let web = try answer.checked(web) { address throws(ConnectorError) in
            try console.options(at: address, route: route ?? .gates)
        }
        // As for run: from here on no signal ends the process at once. SIGHUP: the terminal was closed. SIGQUIT: Ctrl-\.
        let interruption = Interruption(others: [SIGHUP, SIGQUIT])
        interruption.explain { ["the configuration to be read"] }
        try await refuseBesideHost(answer)
        let session: HostSession
        do {
            session = try await HostSession.start(
                file,
                simulating: answers.request(isSimulated: simulate),
                speed: speed.factor,
                heals: true,
                delivers: true,
                interruption: interruption,
                answer: answer,
                logger: log.logger
            )
        } catch let status as ExitCode where status == interruption.exitStatus {
            return
        }
        if let web {
            let console = WebSession(session: session, options: web, file: file, stream: .output)
            try await show(session, answer, orEnd: ExitStatus.failed) { () async throws(ConnectorError) in
                try await console.run()
            }
        } else {
            let model = session.consoleModel(file)
            let options = TerminalConsole.Options(route: route ?? .gates)
            try await show(session, answer, orEnd: ExitCode.validationFailure) { () async throws(ConnectorError) in
                try await TerminalConsole.run(model, options: options)
            }
        }
    }

    /// Refuses to open the gates a second time unless asked to: the console would not show the state of the running host.
    ///
    /// - Throws: `ExitStatus.failed` if a host runs on the file, even if it does not respond.
    private func refuseBesideHost(_ answer: OutputOptions) async throws {
        guard !simulate, !opensBesideHost else { return }
        do throws(ConnectorError) {
            guard let host = try await AttachedHost.find(file) else { return }
            throw ConnectorError(
                .conflict,
                "a host runs on \(file.file): process \(host.identity.process)",
                fix:
                    "to see its state: connector-host status, watch or outbox; to get a console, start it with run --console; "
                    + "console --no-attach opens the gates a second time"
            )
        } catch {
            answer.report([error])
            throw ExitStatus.failed
        }
    }

    /// Opens the gates and shows the console until the operator quits or a signal arrives; both end the command normally.
    ///
    /// - Parameter failure: The error to throw if the console cannot be shown.
    private func show(
        _ session: HostSession,
        _ answer: OutputOptions,
        orEnd failure: any Error,
        _ console: @escaping @Sendable () async throws(ConnectorError) -> Void
    ) async throws {
        let error = await session.serve(until: console)
        try? await session.close()
        guard let error else { return }
        answer.report([error])
        throw failure
    }
}

/// The optional address of `--web`.
struct WebArgument: ExpressibleByArgument, CustomStringConvertible {
    /// The address to listen on.
    let address: WebConsole.Address

    /// The default address of the console.
    static let standard = WebArgument(address: WebConsole.Address(host: "127.0.0.1", port: 8901))

    private init(address: WebConsole.Address) {
        self.address = address
    }

    init?(argument: String) {
        guard let address = WebConsole.Address(argument) else { return nil }
        self.address = address
    }

    var description: String { "\(address.host):\(address.port)" }
}

extension Route {
    /// Parses an argument such as `/outbox`.
    ///
    /// - Throws: A `ValidationError`, which ends the process with status 64.
    fileprivate static func argument(_ text: String) throws -> Route {
        guard let route = Route(text) else {
            throw ValidationError("'\(text)' is not a route: write a path such as /gates, /outbox or /gates/analytics.")
        }
        return route
    }
}
