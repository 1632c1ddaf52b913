// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorOutbox

/// `connector-host outbox`: looks into the outbox and acts on it, also while a host runs.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "See what waits for the vendors and why, and act on dead letters.",
        discussion: """
            Works beside a running host.

            Exit status: 0; 1 if the outbox cannot be used, or an id is unknown; 2 if the configuration is invalid; 64 for wrong
            usage.
            """,
        subcommands: [
            OutboxListCommand.self, OutboxShowCommand.self, OutboxExplainCommand.self, OutboxDeadCommand.self,
            OutboxReplayCommand.self, OutboxDropCommand.self, OutboxMigrateCommand.self,
        ],
        defaultSubcommand: OutboxListCommand.self
    )
}

/// What every command of the outbox takes.
struct OutboxOptions: ParsableArguments {
    @OptionGroup var file: ConfigurationOption

    @Option(help: ArgumentHelp("Only this connector, and those below it.", valueName: "path"))
    var gate: String?

    @OptionGroup var answer: OutputOptions

    /// Opens the outbox, does something with it, and shows the answer or the error.
    ///
    /// - Parameter body: Takes the engine, nil if there is no outbox yet, and the connectors that `--gate` means, nil for
    ///   all.
    func run(
        _ body: (_ engine: (any OutboxEngine)?, _ targets: Set<String>?) async throws(ConnectorError) -> any Document
    ) async throws {
        let options = ConnectorHost.Options()
        let configuration = try answer.checked { () throws(ConfigurationErrors) in
            try Configuration.read(file: file.file, environment: options.environment)
        }
        do throws(ConnectorError) {
            let inspection = try await OutboxInspection(
                configuration,
                state: options.stateDirectory,
                clock: options.clock
            )
            let targets = try await targets(inspection.engine, configuration)
            let document = try await body(inspection.engine, targets)
            await inspection.engine?.close()
            answer.output.write(document)
        } catch {
            answer.report([error], of: .call)
            throw ExitStatus.failed
        }
    }

    /// The connectors that `--gate` means: known to the outbox, even if the file no longer names them.
    private func targets(
        _ engine: (any OutboxEngine)?,
        _ configuration: Configuration
    ) async throws(ConnectorError) -> Set<String>? {
        guard let gate else { return nil }
        let stored = try await engine?.standings().keys.map(\.self) ?? []
        let known = Set(stored + configuration.allConnectors.map(\.path))
        let meant = known.filter { $0 == gate || $0.hasPrefix(gate + "/") }
        guard meant.isEmpty else { return meant }
        throw ConnectorError(
            .unknownConnector,
            "there is no connector \"\(gate)\"",
            fix: suggestion(for: gate, among: known.sorted())
        )
    }
}

/// `connector-host outbox list`
struct OutboxListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show how much waits for each connector, and since when."
    )

    @OptionGroup var options: OutboxOptions

    func run() async throws {
        try await options.run { engine, targets throws(ConnectorError) in
            let standings = try await engine?.standings() ?? [:]
            return StandingsDocument(standings: standings.filter { targets?.contains($0.key) ?? true })
        }
    }
}

/// `connector-host outbox show`
struct OutboxShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an event as the vendors get it, and how it stands at each connector."
    )

    @Argument(help: "The event's id.")
    var id: String

    @OptionGroup var options: OutboxOptions

    func run() async throws {
        try await options.run { engine, targets throws(ConnectorError) in
            EventRecordDocument(records: try await engine.found(id, targets), showsPayload: true)
        }
    }
}

/// `connector-host outbox explain`
struct OutboxExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Tell every attempt to deliver an event: when, with what result, and why."
    )

    @Argument(help: "The event's id.")
    var id: String

    @OptionGroup var options: OutboxOptions

    func run() async throws {
        try await options.run { engine, targets throws(ConnectorError) in
            EventRecordDocument(records: try await engine.found(id, targets), showsPayload: false)
        }
    }
}

/// `connector-host outbox dead`
struct OutboxDeadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "List the dead letters: what vendors refuse for good, and why."
    )

    @OptionGroup var options: OutboxOptions

    @Option(help: ArgumentHelp("The most to list.", valueName: "number"))
    var limit = 100

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func run() async throws {
        try await options.run { engine, targets throws(ConnectorError) in
            let selection = RecordSelection(targets: targets, states: [.dead], limit: limit)
            return DeadLettersDocument(records: try await engine?.records(selection) ?? [], limit: limit)
        }
    }
}

/// Which dead letters or events a command acts on.
struct OutboxSelection: ParsableArguments {
    @Argument(help: "Their ids.")
    var ids: [String] = []

    @Flag(help: "All of them; with --gate, all of that connector.")
    var all = false

    func validate() throws {
        if ids.isEmpty != all { throw ValidationError("Name the ids, or write --all.") }
    }

    /// What the engine is asked for.
    func selection(_ targets: Set<String>?, _ states: Set<OutboxRecord.State>) -> RecordSelection {
        RecordSelection(targets: targets, ids: all ? nil : Set(ids), states: states)
    }
}

/// `connector-host outbox replay`
struct OutboxReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Put dead letters back in the queue.",
        discussion: """
            Examples:
              connector-host outbox replay 01963a7e-4b5c-7d8e-9f01-23456789abcd
              connector-host outbox replay --all --gate analytics/segment
            """
    )

    @OptionGroup var selection: OutboxSelection

    @OptionGroup var options: OutboxOptions

    func run() async throws {
        try await options.run { engine, targets throws(ConnectorError) in
            let count = try await engine?.replay(selection.selection(targets, [.dead])) ?? 0
            try selection.check(count)
            return CountDocument(verb: "replayed", count: count, noun: "dead letter")
        }
    }
}

/// `connector-host outbox drop`
struct OutboxDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Drop dead letters, or waiting events, for good.",
        discussion: """
            Examples:
              connector-host outbox drop 01963a7e-4b5c-7d8e-9f01-23456789abcd
              connector-host outbox drop --all --gate analytics/segment
              connector-host outbox drop --all --queued --gate analytics/posthog
            """
    )

    @OptionGroup var selection: OutboxSelection

    @Flag(help: "Drop events that still wait, too.")
    var queued = false

    @OptionGroup var options: OutboxOptions

    func run() async throws {
        try await options.run { engine, targets throws(ConnectorError) in
            let states: Set<OutboxRecord.State> = queued ? [.dead, .queued] : [.dead]
            let count = try await engine?.drop(selection.selection(targets, states)) ?? 0
            try selection.check(count)
            return CountDocument(verb: "dropped", count: count, noun: queued ? "event" : "dead letter")
        }
    }
}

extension OutboxSelection {
    /// Ids that mean nothing are an error.
    fileprivate func check(_ count: Int) throws(ConnectorError) {
        guard count == 0, !all else { return }
        throw ConnectorError(
            .missing,
            "none of the ids names a dead letter",
            fix: "list them: connector-host outbox dead"
        )
    }
}

extension (any OutboxEngine)? {
    /// What is known of one event.
    ///
    /// - Throws: `missing` if that is nothing.
    fileprivate func found(_ id: String, _ targets: Set<String>?) async throws(ConnectorError) -> [OutboxRecord] {
        let records = try await self?.records(RecordSelection(targets: targets, ids: [id])) ?? []
        guard records.isEmpty else { return records }
        throw ConnectorError(
            .missing,
            "the outbox does not know the event \(id)",
            fix: "it was never stored here, or it was delivered, and 10,000 others after it"
        )
    }
}
