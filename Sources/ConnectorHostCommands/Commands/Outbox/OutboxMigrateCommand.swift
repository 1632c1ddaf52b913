// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost

/// `connector-host outbox migrate`: creates the missing streams and consumers of an outbox in NATS.
struct OutboxMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Create the missing streams and consumers of an outbox in NATS.",
        discussion: """
            Run it before the first start, and after adding connectors. It deletes nothing. If it fails or is interrupted, run it \
            again: it makes only what is missing. An outbox in a directory requires no migration.
            """
    )

    @OptionGroup var file: ConfigurationOption

    @OptionGroup var answer: OutputOptions

    @OptionGroup var log: LogOptions

    func run() async throws {
        let session = try await HostSession.start(file, opens: false, answer: answer, logger: log.logger)
        do throws(ConnectorError) {
            answer.output.write(MigrationDocument(done: try await session.host.migrateOutbox()))
        } catch {
            answer.report([error], of: .call)
            try await session.close()
            throw ExitStatus.failed
        }
        try await session.close()
    }
}
