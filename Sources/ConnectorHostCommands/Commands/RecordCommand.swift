// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost
internal import ConnectorPlatform

/// `connector-host record`: runs a command and records what one gate and its vendor exchange meanwhile.
struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Run a command, and keep what a gate and its vendor say in a file that replays it.",
        discussion: """
            COMMAND is connector-host call, send or run, a script with several of them, or an application built on the library. Every host \
            in it records the connector, and opens its own gates even if another host runs on the same file. With --simulate in COMMAND, \
            the simulator is recorded in place of the vendor.

            The file is a file of answers: name it in the connector's "simulate", in --answers of a command with --simulate, or in \
            connector-host test --answers. It has no secret, nor anything that differs each time. While it is recorded, as in its \
            replay, the plugin's clock stands still.

            Exit status: that of COMMAND; 1 if nothing was recorded, or the file cannot be written; 2 if the configuration is invalid; \
            64 for wrong usage.

            Examples:
              connector-host record geocoder -- \\
                connector-host call geocoder geocode query=Berlin limit=1
              connector-host record database/kinto --into kinto.json -- ./session.sh
              connector-host call geocoder geocode query=Berlin limit=1 --simulate \\
                --answers geocoder=geocoder.recording.json
            """
    )

    @Argument(help: "The connector, a leaf such as analytics/segment.", completion: ConnectorCompletion.paths)
    var path: String

    @Option(
        help: ArgumentHelp("The file. (default: NAME.recording.json, in the working directory)", valueName: "file"),
        completion: .file(extensions: ["json"])
    )
    var into: String?

    @Flag(help: "Replace the file if it exists, once something is recorded.")
    var replace = false

    @Option(
        help: ArgumentHelp(
            "The time on the plugin's clock, such as 2026-01-31T09:30:00Z. (default: now, in full seconds)",
            valueName: "time"
        ),
        transform: Self.time
    )
    var time: Timestamp?

    @Argument(parsing: .postTerminator, help: ArgumentHelp("What to run, and its arguments.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
        guard command.isEmpty else { return }
        throw ValidationError(
            "COMMAND is missing: what runs while \(path.excerpt) is recorded, such as: connector-host record \(path.excerpt) "
                + "-- connector-host call \(path.excerpt) OPERATION"
        )
    }

    /// The path of the file to write.
    private var file: String { into ?? "\(path.lastPathComponent).recording.json" }

    func run() async throws {
        let answer = OutputOptions(isJSON: false)
        let (configuration, found, omitted) = Configuration.examine(file: configurationFile, environment: .process)
        // Commands that need no file run without one.
        let isAbsent = configuration == nil && found.allSatisfy { $0.code == .notFound }
        let faults = isAbsent ? [] : found
        if isOwnCommand, !faults.isEmpty {
            answer.report(faults, omitted: omitted)
            throw ExitStatus.invalidConfiguration
        }
        let status: Int32
        do throws(ConnectorError) {
            status = try await record(problem(with: configuration, faults))
        } catch {
            answer.report([error])
            throw ExitStatus.failed
        }
        if status != 0 { throw ExitCode(status) }
    }

    /// Runs the command and writes the file.
    ///
    /// - Parameter problem: Why nothing would be recorded. What another program opens is unknown until it has run.
    /// - Returns: The exit status of the command.
    private func record(_ problem: ConnectorError?) async throws(ConnectorError) -> Int32 {
        try RecordingSession.check(file, replaces: replace)
        if let problem, isOwnCommand { throw problem }
        let session = try RecordingSession(of: path, time: time)
        defer { session.remove() }
        let status = try await session.run(command)
        let answers = try session.answers()
        guard answers.count > 0 else {
            let end = status.map { "ended with status \($0)" } ?? "ended"
            throw ConnectorError(
                .failed,
                "nothing was recorded: \(command[0].excerpt) \(end), and \(path.excerpt) made no request that ended",
                fix: problem?.fix
                    ?? "let COMMAND use \(path.excerpt); a plugin that makes no requests has nothing to record",
                cause: problem?.position == nil ? problem?.message : problem?.asCause
            )
        }
        try RecordingSession.write(answers, to: file, replaces: replace)
        let count = "\(answers.count) \(answers.count == 1 ? "answer" : "answers")"
        StandardStream.error.writeLine("recorded \(count) to \(path) in \(file)")
        if answers.leftOut > 0 {
            StandardStream.error.writeLine(
                "the file is full, at \(SimulatorReference.sizeLimit >> 20) MiB: \(answers.leftOut) answers and calls "
                    + "after these are left out; record a shorter session"
            )
        }
        guard let status else {
            throw ConnectorError(
                .failed,
                "\(command[0].excerpt) ended, but its status is not known",
                fix: ChildProcess.unknownEndRemedy
            )
        }
        return status
    }

    /// Whether COMMAND is this program.
    private var isOwnCommand: Bool { command[0].lastPathComponent == "connector-host" }

    /// The file that COMMAND reads if it is this program.
    private var configurationFile: String { ConnectorCompletion.file(command) }

    /// Why a host on COMMAND's file records nothing; nil if it would, or if there is no such file.
    private func problem(with configuration: Configuration?, _ faults: [ConnectorError]) -> ConnectorError? {
        // What cannot be read may be the connector.
        guard faults.isEmpty, let configuration else { return faults.first }
        let file = configurationFile
        let leaves = configuration.enabledLeaves.map(\.connector.path)
        guard !leaves.contains(path) else { return nil }
        let meant = leaves.filter { $0.hasPrefix(path + "/") } + configuration.leaves(placedAt: path).sorted()
        guard meant.isEmpty else {
            return ConnectorError(
                .unknownConnector,
                "\(path.excerpt) stands for other connectors in \(file.excerpt), and only a leaf is recorded",
                fix: "record one of \(meant.map(\.excerpt).joined(separator: ", "))"
            )
        }
        let isKnown = configuration.allConnectors.contains { $0.path == path }
        return ConnectorError(
            .unknownConnector,
            isKnown
                ? "\(path.excerpt) is disabled in \(file.excerpt)"
                : "there is no connector \"\(path.excerpt)\" in \(file.excerpt)",
            fix: isKnown ? "enable it" : suggestion(for: path, among: leaves)
        )
    }

    /// Parses an argument such as `2026-01-31T09:30:00Z`.
    private static func time(_ text: String) throws -> Timestamp {
        guard let time = Timestamp(parsing: text) else {
            throw ValidationError("'\(text)' is not a time: write it as 2026-01-31T09:30:00Z.")
        }
        return time
    }
}
