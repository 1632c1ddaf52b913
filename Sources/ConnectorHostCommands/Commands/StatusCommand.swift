// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorControl
internal import ConnectorHost
internal import ConnectorPlatform

/// `connector-host status`: opens every gate, shows the state of each, and closes them again.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Open every gate, and show the state of each one.",
        discussion: """
            If a host runs on the same file (connector-host run), shows the state of its gates, and opens none; with --simulate, if \
            one runs that simulates.

            Retries a failing gate as often as its "retry" allows, and does not wait for it to recover after that. If a plugin \
            ended the last command on the same file, reports that once.

            Exit status: 0 if every required gate is open and events can be stored, 1 if not, 2 if the configuration is invalid, \
            64 for wrong usage. Ctrl-C and SIGTERM show the current report, close every gate, and exit with 130 and 143; a second \
            signal exits immediately.

            Examples:
              connector-host status
              connector-host status --config staging.json --timeout 10s
              connector-host status --simulate
              connector-host status --json | jq '.gates[] | select(.state != "open")'
            """
    )

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Point every gate at a simulator in this process; no vendor is contacted.")
    var simulate = false

    @OptionGroup var answers: AnswersOption

    @OptionGroup var learning: LearnOption

    @OptionGroup var attach: AttachOption

    @Option(
        help: ArgumentHelp("The timeout for opening all gates together, such as 5s.", valueName: "duration"),
        transform: Duration.argument
    )
    var timeout: Duration?

    @OptionGroup var answer: OutputOptions

    @OptionGroup var log: LogOptions

    /// Whether the options require the command to run a host of its own.
    private var isOwn: Bool { answers.isGiven || learning.isGiven }

    func validate() throws {
        try attach.validate(isOwn: isOwn)
        try answers.validate(isSimulated: simulate)
    }

    func run() async throws {
        if let report = try await attached() {
            if !report.isReady { throw ExitStatus.failed }
            return
        }
        let session = try await HostSession.start(
            file,
            simulating: answers.request(isSimulated: simulate),
            lessons: learning.lessons(),
            showsLastCrash: true,
            answer: answer,
            logger: log.logger
        )
        let clock = ContinuousClock()
        let start = clock.now
        let report = await session.open(timeout: timeout)
        let duration = clock.now - start
        answer.output.write(
            StatusDocument(
                report: report,
                duration: duration,
                file: session.resolved.configuration.file,
                // The host reserves some of the time for closing gates that have not opened.
                isCutShort: timeout.map { $0 * 9 / 10 <= duration } ?? false,
                lastCrash: session.lastCrash
            )
        )
        // The note stays until it has been shown.
        if StandardStream.outputFailure == nil, let path = CrashFile.path(for: file.file) {
            session.crashNote?.remove(from: path)
        }
        try await session.close()
        if !report.isReady { throw ExitStatus.failed }
    }

    /// Shows the report of the running host; nil if none runs.
    private func attached() async throws -> Report? {
        do throws(ConnectorError) {
            guard let host = try await attach.host(of: file, isSimulated: simulate, isOwn: isOwn) else { return nil }
            let report = try await host.report()
            let path = host.identity.file
            answer.output.write(StatusDocument(report: report, process: host.identity.process, file: path))
            return report
        } catch {
            answer.report([error], of: .call)
            throw ExitStatus.failed
        }
    }
}
