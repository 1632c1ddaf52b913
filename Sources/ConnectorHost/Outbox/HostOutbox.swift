// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorOutbox
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging
internal import Synchronization

/// The outbox of one host: where it lies, and who gets events from it.
struct HostOutbox: Sendable {
    /// Stores and delivers events.
    let outbox: Outbox
    /// Where the events lie.
    let place: Place
    /// The connectors that get events from it.
    let paths: [String]
    private let damages = Damages()

    /// Where events lie.
    enum Place: Sendable {
        /// In memory.
        case memory
        /// In a directory.
        case directory(String)
        /// On servers, which any number of hosts share.
        case servers(NATSReference)
        /// Nowhere.
        case none(ConnectorError)
    }

    private let logger: Logger

    /// Files that were damaged and set aside, one sentence for each.
    private final class Damages: Sendable {
        private let found = Mutex<[String]>([])

        var texts: [String] { found.withLock(\.self) }

        func add(_ text: String) {
            found.withLock { $0.append(text) }
        }
    }

    /// Prepares the outbox of a tree; touches no file.
    ///
    /// - Parameters:
    ///   - place: Where the events lie.
    ///   - onChange: Called when the outbox of a connector has changed.
    init(
        _ tree: CurrentTree,
        place: Place,
        environment: GateEnvironment,
        onChange: @escaping @Sendable () -> Void
    ) {
        self.place = place
        logger = environment.logger
        let (clock, logger, damages) = (environment.clock, environment.logger, damages)
        let targets = tree.tree.roots.flatMap(\.allRecipients).compactMap { node -> Outbox.Target? in
            guard let policy = node.delivery else { return nil }
            let path = node.path
            return Outbox.Target(
                path: path,
                policy: policy,
                limits: node.batchLimits,
                isUsable: { (try? tree.node(path).node.isUsable) ?? false },
                send: { events in await Self.send(events, to: path, in: tree) }
            )
        }
        let paths = targets.map(\.path)
        self.paths = paths
        outbox = Outbox(
            targets,
            Outbox.Environment(
                open: { () throws(ConnectorError) in
                    let directory: String
                    switch place {
                    case .memory: return try await SQLiteEngine(now: { clock.wallTime() })
                    case .directory(let path): directory = path
                    case .servers(let servers):
                        return try await NATSEngine(
                            servers.resolved(),
                            targets: paths,
                            now: { clock.wallTime() },
                            renewed: { () throws(ConnectorError) in try servers.resolved() }
                        )
                    case .none(let error): throw error
                    }
                    return try await SQLiteEngine(directory: directory, now: { clock.wallTime() }) { aside, reason in
                        damages.add("the outbox was damaged or replaced (\(reason)); it is kept as \(aside)")
                        logger.error(
                            "the outbox was damaged or replaced; what was in it is kept aside",
                            metadata: ["set aside": "\(aside)", "reason": "\(reason)"]
                        )
                        onChange()
                    }
                },
                lock: { () throws(ConnectorError) in
                    guard case .directory(let directory) = place else { return DeliveryLock() }
                    return try DeliveryLock(directory)
                },
                clock: clock,
                jitter: environment.jitter,
                executor: environment.calls.gateThreads,
                onChange: onChange
            )
        )
    }

    /// Hands events to a connector, inside a span of their own.
    private static func send(
        _ events: [OutboxEvent],
        to path: String,
        in tree: CurrentTree
    ) async -> Result<[DeliveryAnswer], ConnectorError> {
        do throws(ConnectorError) {
            let node = try tree.node(path).node
            guard let span = CallSpan(deliveryTo: path, count: events.count) else { return await node.deliver(events) }
            return .success(try await span.run { () throws(ConnectorError) in try await node.deliver(events).get() })
        } catch {
            return .failure(error)
        }
    }

    /// Whether an earlier process may have left events.
    private var isStored: Bool {
        if case .servers = place { return true }
        guard case .directory(let directory) = place else { return false }
        return SQLiteEngine.isStored(in: directory)
    }

    /// Looks what an earlier process has left; delivers nothing.
    func inspect() async {
        if isStored { try? await outbox.inspect() }
    }

    /// Starts to deliver: at once if an earlier process left events, and otherwise when the first one comes.
    func start() async {
        do throws(ConnectorError) {
            try await outbox.start(isStored: isStored)
        } catch {
            logger.error("the outbox does not open", metadata: ["error": "\(error)"])
        }
    }

    /// Where the events of a configuration lie.
    ///
    /// The servers or what the file names as `state`; otherwise the application's folder below the user's own, where `storage/1` keeps
    /// its values, too.
    ///
    /// - Parameter state: The directory for the state of this user's hosts; nil for the usual one.
    static func place(of configuration: Configuration, state: String?) -> Place {
        if let servers = configuration.servers { return .servers(servers) }
        guard let directory = configuration.hostDirectory(state: state) else {
            return .none(
                ConnectorError(
                    .storage,
                    "the outbox has no directory: neither XDG_STATE_HOME nor HOME is set",
                    fix: "name one as \"state\" in connectors.json"
                )
            )
        }
        return .directory(directory)
    }
}

extension HostOutbox {
    /// How the outbox of a connector stands; nil if it never had an event, or nothing was opened yet.
    func report(of path: String) -> OutboxReport? {
        guard let standing = outbox.standing(of: path) else { return nil }
        var report = OutboxReport(
            queued: standing.queued,
            bytes: standing.bytes,
            oldest: standing.oldest,
            dead: standing.dead,
            delivered: standing.delivered,
            dropped: standing.dropped,
            lastDelivered: standing.lastDelivered,
            perSecond: outbox.rate(of: path),
            stability: outbox.stability
        )
        if case .paused(let failure, let next) = outbox.condition(of: path) {
            report.failure = failure.reason
            report.code = failure.code
            report.nextAttemptAt = next
        }
        return report
    }

    /// The report of a tree, with how the outbox of each connector stands.
    func report(on tree: Tree) -> Report { tree.report { add(to: &$0) } }

    /// Adds to the report of a connector what its outbox knows: deliveries as evidence, and a vendor that takes no events
    /// as a reason to call it degraded. It stays ready: the events are safe.
    func add(to report: inout GateReport) {
        if paths.contains(report.path) { report.warnings += damages.texts }
        guard let outbox = self.report(of: report.path) else { return }
        report.outbox = outbox
        if let last = outbox.lastDelivered {
            let events = outbox.delivered == 1 ? "event" : "events"
            report.evidence.append(
                Evidence(kind: .delivered, detail: "took \(outbox.delivered) \(events)", at: last, duration: .zero)
            )
        }
        if let code = outbox.code, let failure = outbox.failure, report.state == .open {
            report.state = .degraded
            report.error = ConnectorError(code, failure, connector: report.path)
        }
    }
}
