// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorOutbox
internal import ConnectorOutboxSQLite
internal import ConnectorPlatform
internal import ConnectorServices

/// Where the events of a host lie, and with it the engine that stores them.
enum OutboxLocation: Sendable {
    /// In memory.
    case memory
    /// In a directory.
    case directory(String)
    /// On servers, which any number of hosts share.
    case servers(NATSReference)
    /// Nowhere.
    case none(ConnectorError)

    /// The location that a configuration names.
    ///
    /// The servers or what the file names as `state`; otherwise the application's folder below the user's own, where `storage/1` keeps
    /// its values, too.
    ///
    /// - Parameter state: The directory for the state of this user's hosts; nil for the usual one.
    init(of configuration: Configuration, state: String?) {
        if let servers = configuration.servers {
            self = NATSReference.unsupported.map { .none($0) } ?? .servers(servers)
        } else if let directory = configuration.hostDirectory(state: state) {
            self = .directory(directory)
        } else {
            self = .none(
                ConnectorError(
                    .storage,
                    "the outbox has no directory: neither XDG_STATE_HOME nor HOME is set",
                    fix: "name one as \"state\" in connectors.json"
                )
            )
        }
    }

    /// Whether an earlier process may have left events.
    var isStored: Bool {
        switch self {
        case .servers: true
        case .directory(let directory): SQLiteEngine.isStored(in: directory)
        case .memory, .none: false
        }
    }

    /// Opens the engine, and makes the file in a directory if there is none.
    ///
    /// - Parameters:
    ///   - targets: The connectors that get events.
    ///   - clock: Tells the time of day.
    ///   - redactor: Takes secrets out of the servers' texts.
    ///   - onDamage: Called with the new path of a file that was set aside because it is damaged, and with the reason.
    /// - Throws: `storage` if the outbox cannot be used; `missing` or `conflict` if the servers are not prepared for it.
    func open(
        targets: [String],
        clock: any HostClock,
        redactor: Redactor,
        onDamage: @escaping @Sendable (_ setAside: String, _ reason: String) -> Void = { _, _ in }
    ) async throws(ConnectorError) -> any OutboxEngine {
        switch self {
        case .memory: try await SQLiteEngine(now: { clock.wallTime() })
        case .directory(let directory):
            try await SQLiteEngine(directory: directory, now: { clock.wallTime() }, onDamage: onDamage)
        case .servers(let servers): try await servers.open(targets: targets, clock: clock, redactor: redactor)
        case .none(let error): throw error
        }
    }

    /// Makes what the servers lack; everything else needs nothing.
    ///
    /// - Returns: What was done, one sentence for each.
    func migrate(targets: [String], redactor: Redactor) async throws(ConnectorError) -> [String] {
        guard case .servers(let servers) = self else { return [] }
        return try await servers.migrate(targets: targets, redactor: redactor)
    }
}
