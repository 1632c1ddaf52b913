// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost
internal import ConnectorManifest
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// `connector-host run`: opens every gate, and delivers what is in the outboxes until it is told to stop.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Open every gate, and deliver what is in the outbox, until it is stopped.",
        discussion: """
            Gates that fail are tried again. On SIGTERM or Ctrl-C the host delivers for as long as --grace allows, closes every
            gate, and exits with 0; what is left stays in the outbox for the next run.

            One host at a time delivers the events of a state directory. send and outbox work beside it.

            Exit status: 0; 1 if another host delivers, or the outbox cannot be used; 2 if the configuration is invalid; 64 for
            wrong usage.

            Examples:
              connector-host run
              connector-host run --grace 30s --log-level debug
            """
    )

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Point every gate at a simulator in this process; no vendor is contacted, and the outbox is in memory.")
    var simulate = false

    @Option(
        help: ArgumentHelp("How long to go on delivering when told to stop. (default: 10s)", valueName: "duration"),
        transform: Duration.argument
    )
    var grace: Duration?

    @OptionGroup var answer: OutputOptions

    @OptionGroup var log: LogOptions

    func run() async throws {
        var log = log
        log.logLevel = log.logLevel ?? .info
        let session = try await HostSession.start(
            file,
            simulating: simulate,
            heals: true,
            delivers: true,
            answer: answer,
            logger: log.logger
        )
        do throws(ConnectorError) {
            try await session.host.claimOutbox()
        } catch {
            answer.report([error])
            await session.close()
            throw ExitStatus.failed
        }
        let running = Running(host: session.host, grace: grace ?? .seconds(10), logger: log.logger)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: running)],
                gracefulShutdownSignals: [.sigint, .sigterm],
                logger: Logger(label: "run") { _ in SwiftLogNoOpLogHandler() }
            )
        )
        try await group.run()
        let left = session.host.report.gates.compactMap(\.outbox?.queued).reduce(0, +)
        await session.close()
        answer.output.write(RunDocument(left: left))
    }
}

/// Keeps the gates open until it is told to stop, and then delivers for a while.
private struct Running: Service {
    let host: ConnectorHost
    let grace: Duration
    let logger: Logger

    func run() async throws {
        // The host opens in a task of its own, so that a signal is heard at once.
        let opening = Task { await host.open() }
        try? await gracefulShutdown()
        opening.cancel()
        logger.info("stopping; delivering what waits", metadata: ["for at most": "\(grace)"])
        _ = try await host.flush(within: grace)
    }
}
