// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorServices

/// `connector-host watch`: opens gates, and shows the events of their plugins until it is interrupted.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Open gates, and show the events of their plugins, one a line.",
        discussion: """
            Runs until interrupted, or until --count events were shown. Exit status: 0, also when Ctrl-C or SIGTERM ends it;
            130 and 143 if they come while the gates still open; 1 if the connector does not exist; 2 if the configuration is
            invalid; 64 for wrong usage.

            Examples:
              connector-host watch
              connector-host watch sensors/kitchen --count 10 --json
            """
    )

    @Argument(help: "A leaf, or a composite for every leaf below it; every connector by default.")
    var path: String?

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Point every gate at a simulator in this process; no vendor is contacted.")
    var simulate = false

    @Option(help: ArgumentHelp("Exit after this many events.", valueName: "number"))
    var count: Int?

    @OptionGroup var answer: OutputOptions

    @OptionGroup var log: LogOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1") }
    }

    func run() async throws {
        let session = try await HostSession.start(
            file,
            simulating: simulate,
            heals: true,
            answer: answer,
            logger: log.logger
        )
        // Listen before the gates open, so that no early event is lost.
        let events = session.host.events(of: path)
        do {
            let report = if let path { try await session.open(path) } else { await session.open(timeout: nil) }
            Self.warn(report, below: path)
        } catch {
            answer.report([error])
            try await session.close()
            throw ExitStatus.failed
        }
        if session.interruption.exitStatus != nil { return try await session.close() }
        let output = answer.output
        await session.interruption.cancelling { [count] in
            var shown = 0
            for await event in events where !Task.isCancelled {
                output.writeLine(EventDocument(event: event))
                shown += 1
                // Nobody reads on once the reader of the pipe has gone.
                if shown == count || StandardStream.outputFailure != nil { return }
            }
        }
        // From here on a signal is the usual end.
        try? await session.close()
    }

    /// Warns on standard error of gates that are not open and will send no events.
    private static func warn(_ report: Report, below path: String?) {
        let style = TextStyle.detected(for: .error)
        for gate in report.gates where gate.policy == nil && !gate.state.isUsable {
            guard var error = gate.error, path.map({ gate.path == $0 || gate.path.hasPrefix($0 + "/") }) ?? true else {
                continue
            }
            error.connector = error.connector ?? gate.path
            for line in ErrorLines(error: error).lines(style) { StandardStream.error.writeLine(line) }
        }
    }
}
