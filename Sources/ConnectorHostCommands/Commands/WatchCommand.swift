// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHost
internal import ConnectorServices
internal import Synchronization

/// `connector-host watch`: opens gates and shows the events of their plugins until it is interrupted.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Open gates, and show the events of their plugins, one per line.",
        discussion: """
            If a host runs on the same file (connector-host run), shows its events from now on, and opens no gate.

            Runs until interrupted, or until --count events have been shown. Exit status: 0, also after Ctrl-C or SIGTERM; 130 and \
            143 if these arrive while gates are opening, before the first event; 1 if the connector does not exist; 2 if the \
            configuration is invalid; 64 for wrong usage.

            Examples:
              connector-host watch
              connector-host watch sensors/kitchen --count 10 --json
            """
    )

    @Argument(
        help: "A leaf, or a composite for every leaf below it; every connector by default.",
        completion: ConnectorCompletion.paths
    )
    var path: String?

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Point every gate at a simulator in this process; no vendor is contacted.")
    var simulate = false

    @OptionGroup var answers: AnswersOption

    @Option(help: ArgumentHelp("Exit after this many events.", valueName: "number"))
    var count: Int?

    @OptionGroup var speed: SpeedOption

    @OptionGroup var attach: AttachOption

    @OptionGroup var answer: OutputOptions

    @OptionGroup var log: LogOptions

    /// Whether the options require the command to run a host of its own.
    private var isOwn: Bool { answers.isGiven || speed.isGiven }

    mutating func validate() throws {
        answer.isLinewise = true
        if let count, count < 1 { throw ValidationError("--count must be at least 1") }
        try attach.validate(isOwn: isOwn)
        try speed.validate(isSimulated: simulate)
        try answers.validate(isSimulated: simulate)
    }

    func run() async throws {
        if try await runAttached() { return }
        let session = try await HostSession.start(
            file,
            simulating: answers.request(isSimulated: simulate),
            speed: speed.factor,
            heals: true,
            answer: answer,
            logger: log.logger
        )
        do throws(ConnectorError) {
            if let path { _ = try session.host.gate(path) }
        } catch {
            answer.report([error])
            try await session.close()
            throw ExitStatus.failed
        }
        // Listen before the gates open, so that no early event is lost.
        let events = session.host.events(of: path)
        let hasBegun = await session.interruption.cancelling {
            [path, count, output = answer.output, host = session.host] () async -> Bool in
            let progress = OpeningProgress.show(of: host)
            // One gate may take any time to open, and the others send events meanwhile.
            let opening = Task { await Self.open(path, of: host, progress) }
            let shown = await withTaskCancellationHandler {
                var shown = 0
                for await event in events where !Task.isCancelled {
                    await progress?.end()
                    output.writeLine(EventDocument(event: event))
                    shown += 1
                    // A failed write means that the reader has closed the pipe.
                    if shown == count || StandardStream.outputFailure != nil { break }
                }
                return shown
            } onCancel: {
                opening.cancel()
            }
            opening.cancel()
            return await opening.value || shown > 0
        }
        if !hasBegun, session.interruption.exitStatus != nil { return try await session.close() }
        // From here on a signal ends the command normally.
        try? await session.close()
    }

    /// Opens the gates, and warns of those that fail.
    ///
    /// - Returns: False if the task was cancelled before all of them had opened or failed.
    private static func open(_ path: String?, of host: ConnectorHost, _ progress: OpeningProgress?) async -> Bool {
        let report: Report
        if let path {
            // The connector existed a moment ago; one that a reload has removed since sends no events.
            report = (try? await host.open(path)) ?? host.report
        } else {
            report = await host.open()
        }
        let hasOpened = !Task.isCancelled
        await progress?.end()
        warn(report, below: path)
        return hasOpened
    }

    /// Shows the events of the running host.
    ///
    /// - Returns: False if no host runs.
    private func runAttached() async throws -> Bool {
        var signals: Interruption?
        do throws(ConnectorError) {
            guard let host = try await attach.host(of: file, isSimulated: simulate, isOwn: isOwn) else { return false }
            let interruption = Interruption()
            signals = interruption
            Self.warn(try await host.report(), below: path)
            let shown = Mutex(0)
            let isEnough = { @Sendable [output = answer.output, count] (event: ConnectorEvent) in
                output.writeLine(EventDocument(event: event))
                // A failed write means that the reader has closed the pipe.
                return shown.withLock { shown in
                    shown += 1
                    return shown == count || StandardStream.outputFailure != nil
                }
            }
            try await interruption.cancelling { [path] () async throws(ConnectorError) in
                try await host.watch(path, onUnreadable: { Self.warn($0) }) { !isEnough($0) }
            }
            let isDone = shown.withLock { $0 == count } || StandardStream.outputFailure != nil
            guard isDone || interruption.exitStatus != nil else { throw host.ended }
        } catch {
            // A signal ends the command normally.
            guard error.code != .cancelled || signals?.exitStatus == nil else { return true }
            answer.report([error])
            throw ExitStatus.failed
        }
        return true
    }

    /// Warns on standard error about an event that cannot be shown.
    private static func warn(_ error: ConnectorError) {
        var error = error
        error.message = "skipped an event: \(error.message)"
        for line in ErrorLines(error: error).lines(TextStyle.detected(for: .error)) {
            StandardStream.error.writeLine(line)
        }
    }

    /// Warns on standard error about gates that are not open and therefore send no events.
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
