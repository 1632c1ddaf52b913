// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorOutbox
internal import ConnectorOutboxSQLite
internal import ConnectorPlatform
internal import ConnectorServices

/// The location of a host's events, which determines the engine that stores them.
enum OutboxLocation: Sendable {
    /// In memory.
    case memory
    /// In a directory.
    case directory(String)
    /// On servers, which any number of hosts share.
    case servers(NATSReference)
    /// Unavailable, with the reason.
    case none(ConnectorError)

    /// The location that a configuration names.
    ///
    /// The servers or the `state` directory the file names; otherwise the application's folder in the user's state
    /// directory, which `storage/1` also uses.
    ///
    /// - Parameter state: The state directory of this user's hosts; nil for the default.
    init(of configuration: Configuration, state: String?) {
        if let servers = configuration.servers {
            self = NATSReference.unsupported.map { .none($0) } ?? .servers(servers)
        } else if let directory = configuration.hostDirectory(state: state) {
            self = .directory(directory)
        } else {
            self = .none(
                ConnectorError(
                    .storage,
                    "the outbox has no directory: \(StateDirectory.absence)",
                    fix: "name one as \"state\" in connectors.json"
                )
            )
        }
    }

    /// A damaged or replaced file.
    struct Damage: Sendable, CustomStringConvertible {
        /// Its new path; nil if it is lost.
        var aside: String?
        /// What was wrong with it, and what could be read.
        var reason: String

        /// What became of it, for people.
        var outcome: String { aside.map { "the old file is kept as \($0.withGivenPaths)" } ?? "the old file is lost" }

        /// A sentence for people.
        var description: String { "the outbox file was damaged or replaced (\(reason)); \(outcome)" }
    }

    /// Whether the events are in the memory of this process.
    var isInMemory: Bool { if case .memory = self { true } else { false } }

    /// Whether an earlier process may have left events.
    var isStored: Bool {
        switch self {
        case .servers: true
        case .directory(let directory): SQLiteEngine.isStored(in: directory)
        case .memory, .none: false
        }
    }

    /// Opens the engine; creates a missing file in a directory.
    ///
    /// - Parameters:
    ///   - paths: The connectors that receive events.
    ///   - clock: The source of wall-clock time.
    ///   - redactor: Removes secrets from text of the servers.
    ///   - onTrim: Called when servers no longer delete settled events, with the reason, and with nil once they do again.
    ///   - onLoss: Called when waiting events of a connector are gone from the servers, with their number.
    ///   - onSalvage: Called every few seconds while a damaged file is salvaged, with the number of rows that were read.
    ///   - onDamage: Called when a damaged file was set aside or is lost.
    /// - Throws: `storage` if the outbox cannot be used; `missing` or `conflict` if the servers lack its streams or
    ///   have them configured differently.
    func open(
        paths: [String],
        clock: any HostClock,
        redactor: Redactor,
        onTrim: @escaping @Sendable (ConnectorError?) -> Void,
        onLoss: @escaping @Sendable (_ path: String, _ count: Int) -> Void = { _, _ in },
        onSalvage: @escaping @Sendable (_ rows: Int) -> Void,
        onDamage: @escaping @Sendable (Damage) -> Void
    ) async throws(ConnectorError) -> any OutboxEngine {
        switch self {
        case .memory: try await SQLiteEngine(now: { clock.wallTime() })
        case .directory(let directory):
            try await SQLiteEngine(directory: directory, onSalvage: onSalvage, now: { clock.wallTime() }) {
                aside,
                reason in
                onDamage(Damage(aside: aside, reason: reason))
            }
        case .servers(let servers):
            try await servers.open(
                paths: paths,
                clock: clock,
                redactor: redactor,
                onTrim: onTrim,
                onLoss: onLoss
            )
        case .none(let error): throw error
        }
    }

    /// Creates missing streams and consumers on servers; does nothing for other locations.
    ///
    /// - Parameter changesStreams: Whether to create missing streams and to change the number of replicas, and not only to add
    ///   consumers.
    /// - Returns: One sentence per change made.
    func migrate(
        paths: [String],
        changesStreams: Bool = true,
        redactor: Redactor
    ) async throws(ConnectorError) -> [String] {
        guard case .servers(let servers) = self else { return [] }
        return try await servers.migrate(paths: paths, changesStreams: changesStreams, redactor: redactor)
    }
}
