// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities
internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import ConnectorOutbox
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging
internal import Synchronization

/// The outbox of one host: its location, and the connectors that receive its events.
final class HostOutbox: Sendable {
    /// Stores and delivers events.
    let outbox: Outbox
    /// The location of the events.
    let location: OutboxLocation
    /// The tree whose connectors receive events.
    private let current: CurrentTree
    /// Finds events that wait where this host does not look.
    private let stranded: @Sendable () async -> [StrandedEvents]
    private let warnings: OutboxWarnings
    /// The paths that connectors had before, as the file said at the start, by their present ones.
    private let former = Mutex<[String: String]>([:])

    private let logger: Logger
    private let redactor: Redactor
    /// Measures how long to wait for the search.
    private let ticks: any HostClock
    /// Opens the engine.
    private let open: @Sendable () async throws(ConnectorError) -> any OutboxEngine

    /// Prepares the outbox of a tree without touching any file.
    ///
    /// - Parameters:
    ///   - location: The location of the events.
    ///   - stranded: Finds events that wait where this host does not look.
    ///   - ticks: The clock by which to wait for that.
    ///   - delivers: Whether the host delivers the events once it opens.
    ///   - onChange: Called when a connector's outbox has changed.
    init(
        _ tree: CurrentTree,
        location: OutboxLocation,
        stranded: @escaping @Sendable () async -> [StrandedEvents],
        ticks: any HostClock,
        delivers: Bool = true,
        dependencies: GateDependencies,
        onChange: @escaping @Sendable () -> Void
    ) {
        let (clock, logger, redactor) = (dependencies.clock, dependencies.logger, dependencies.redactor)
        let warnings = OutboxWarnings(logger, onChange: onChange)
        (self.location, self.stranded, self.ticks) = (location, stranded, ticks)
        (self.warnings, self.logger, self.redactor) = (warnings, logger, redactor)
        current = tree
        let open: @Sendable () async throws(ConnectorError) -> any OutboxEngine = { () throws(ConnectorError) in
            try await location.open(
                paths: tree.tree.queues.map(\.path),
                clock: clock,
                redactor: redactor,
                onTrim: { warnings.noteTrim($0) },
                onLoss: { path, count in warnings.noteLoss(of: count, at: path) },
                onSalvage: { rows in
                    logger.warning("the damaged outbox file is being salvaged", metadata: ["rows": "\(rows)"])
                },
                onDamage: { warnings.note($0) }
            )
        }
        self.open = open
        outbox = Outbox(
            Self.targets(of: tree.tree, in: tree),
            Outbox.Dependencies(
                open: open,
                lock: { () throws(ConnectorError) in
                    guard case .directory(let directory) = location else { return DeliveryLock() }
                    return try DeliveryLock(directory)
                },
                clock: clock,
                jitter: dependencies.jitter,
                executor: dependencies.calls.gateThreads,
                delivers: delivers,
                isInMemory: location.isInMemory,
                onChange: onChange,
                onOutage: { error in
                    guard let error else { return logger.info("the outbox can be used again") }
                    var metadata: Logger.Metadata = ["error": "\(error)"]
                    if let cause = error.cause { metadata["cause"] = "\(cause)" }
                    logger.error("the outbox cannot be used", metadata: metadata)
                },
                onPause: { path, failure in
                    guard let failure else {
                        return logger.info("events are delivered again", metadata: ["connector": "\(path)"])
                    }
                    let reason = ConnectorError(failure.code, redactor.redact(failure.reason))
                    logger.warning(
                        "events wait in the outbox",
                        metadata: ["connector": "\(path)", "error": "\(reason)"]
                    )
                },
                onDead: { path, count, failure in
                    let reason = ConnectorError(failure.code, redactor.redact(failure.reason))
                    logger.warning(
                        "events have become dead letters",
                        metadata: ["connector": "\(path)", "events": "\(count)", "error": "\(reason)"]
                    )
                }
            )
        )
    }

    /// The connectors of a tree, each of which may receive events from the outbox: one whose calls now reach the vendor directly keeps
    /// its queue until that is empty, and gets the letters that are replayed later, and the events of processes with an older tree.
    private static func targets(of tree: Tree, in current: CurrentTree) -> [DeliveryTarget] {
        let queues = Set(tree.queues.map(\.path))
        return tree.nodes.compactMap { node in
            guard let reference = try? NodeReference(node.path, in: current) else { return nil }
            return target(node, queues.contains(node.path) ? node.delivery : nil, reference)
        }
    }

    /// A connector that the outbox sends events to, each batch in a span of its own.
    ///
    /// - Parameter policy: Nil for a connector without a queue.
    private static func target(_ node: Node, _ policy: DeliveryPolicy?, _ reference: NodeReference) -> DeliveryTarget {
        DeliveryTarget(
            path: node.path,
            policy: policy ?? DeliveryPolicy(),
            hasQueue: policy != nil,
            limits: node.batchLimits,
            isUsable: { (try? reference.node.isUsable) ?? false },
            send: { batch in
                do throws(ConnectorError) {
                    let node = try reference.node
                    guard let span = CallSpan(deliveryTo: node.path, count: batch.entries.count) else {
                        return await node.deliver(batch)
                    }
                    return .success(
                        try await span.run { () throws(ConnectorError) in try await node.deliver(batch).get() }
                    )
                } catch {
                    return .failure(error)
                }
            }
        )
    }

    /// Prepares servers, before a tree is published, for those of its connectors that did not receive events until now.
    ///
    /// - Parameter origins: The earlier paths of the connectors that move, by their new ones.
    func prepare(_ tree: Tree, moving origins: [String: String]) async throws(ConnectorError) {
        let known = outbox.targetPaths
        let moved = origins.filter { known.contains($0.value) }.map(\.key)
        let new = Set(tree.queues.map(\.path)).union(moved).subtracting(known)
        guard !new.isEmpty else { return }
        // The streams are those of all hosts, and of other files.
        let done = try await location.migrate(paths: new.sorted(), changesStreams: false, redactor: redactor)
        for change in done { logger.info("the outbox is prepared", metadata: ["change": "\(change)"]) }
    }

    /// Moves the events of connectors to their new paths, before a tree with those paths is published.
    ///
    /// - Parameter deadline: When a batch in flight is abandoned; it stays stored.
    func move(_ paths: [String: String], by deadline: UInt64) async {
        for (path, other) in paths.sorted(by: { $0.key < $1.key }) { await outbox.move(path, to: other, by: deadline) }
    }

    /// Keeps the events of a tree's connectors from when it is published until the outbox follows it.
    func expect(_ tree: Tree) { outbox.expect(Set(tree.nodes.map(\.path))) }

    /// Delivers to the connectors of the published tree, and turns the events of removed connectors into dead letters.
    func follow(by deadline: UInt64) async {
        await outbox.retarget(Self.targets(of: current.tree, in: current), by: deadline)
    }

    /// How long ``prove(on:within:)`` waits for the search at most.
    private static let patience = Duration.seconds(5)

    /// Checks that events can be stored, and records the fault if not; from then on, the outbox looks by itself. Also searches for stranded
    /// events, to warn of them.
    ///
    /// The warning is only advice, and the other directories may be damaged or on a disk that hangs. A search that takes too long
    /// continues in the background, and its warning is in a later report.
    ///
    /// - Parameters:
    ///   - threads: Where to search; nil for any thread.
    ///   - limit: How long the search may delay the caller; nil for five seconds, which is also the most.
    func prove(on threads: (any TaskExecutor)?, within limit: Duration?) async {
        guard current.tree.queues.contains(where: \.takesEvents) else { return }
        let searched = OneShot<Void>()
        // Without the outbox: a search that never ends must not keep a dropped host's deliveries running.
        Task(executorPreference: threads) { [stranded, warnings] in
            warnings.replace(await stranded())
            searched.send()
        }
        await proveStorage()
        if case .directory = location { outbox.watch() }
        _ = await searched.wait(for: min(limit ?? Self.patience, Self.patience), on: ticks)
    }

    /// Checks that events can be stored, and records the fault if not. Opening servers checks this, and records it, already.
    private func proveStorage() async {
        do throws(ConnectorError) {
            switch location {
            case .memory, .servers: return
            case .none(let error): throw error
            case .directory:
                if let engine = outbox.openEngine {
                    try await engine.prove()
                } else {
                    // Opened for the check only: nothing is delivered before the first event.
                    let engine = try await open()
                    do throws(ConnectorError) {
                        try await engine.prove()
                    } catch {
                        await engine.close()
                        throw error
                    }
                    await engine.close()
                }
            }
            outbox.noteStore(failure: nil)
            if outbox.fault != nil { outbox.setFault(nil) }
        } catch {
            outbox.noteStore(failure: error)
        }
    }

    /// Reads what an earlier process left; delivers nothing.
    func inspect() async {
        if location.isStored { _ = try? await outbox.engine() }
    }

    /// Opens an existing outbox for reading.
    ///
    /// - Returns: False if nothing was ever stored.
    func isReadable() async throws(ConnectorError) -> Bool {
        if !outbox.isOpen, location.isStored || outbox.isClosing { _ = try await outbox.engine() }
        return outbox.isOpen
    }

    /// Notes the former paths of connectors, and logs the events that nothing delivers: those there, since a move that was interrupted
    /// leaves some and only a host that knows the earlier connector moves them, and those of connectors that are gone from the file.
    func noteLeftEvents(by configuration: Configuration) {
        let pairs = configuration.enabledConnectors.compactMap { connector in
            connector.was.map { (connector.path, $0) }
        }
        former.withLock { $0 = Dictionary(pairs) { first, _ in first } }
        for (path, was) in pairs {
            guard let count = countLeft(at: was) else { continue }
            logger.warning(
                "events wait at the former path of a connector",
                metadata: ["connector": "\(path)", "was": "\(was)", "events": "\(count)"]
            )
        }
        for (path, count) in orphans {
            logger.warning(
                "events wait for a connector that is not in the configuration",
                metadata: ["connector": "\(path)", "events": "\(count)"]
            )
        }
    }

    /// A sentence for each connector that is gone from the file, and for which events wait.
    private var orphanWarnings: [String] {
        orphans.map { path, count in
            let (events, them) = count == 1 ? ("event waits", "it") : ("events wait", "them")
            return "\(count) \(events) for \(path), which is not in the configuration: nothing delivers \(them); "
                + "add the connector again, or drop \(them) with connector-host outbox drop --all --queued --gate \(path)"
        }
    }

    /// How many events wait for each connector that the tree neither has nor had, nor names as a former path.
    private var orphans: [(path: String, count: Int)] {
        let named = former.withLock { Set($0.values) }
        let unnamed = outbox.orphans.filter { !named.contains($0.key) }.sorted { $0.key < $1.key }
        return unnamed.map { (path: $0.key, count: $0.value) }
    }

    /// The path that a connector had before; nil if the file named none at the start.
    private func formerPath(of path: String) -> String? { former.withLock { $0[path] } }

    /// How many events wait at a former path that no connector has now; nil if none do.
    private func countLeft(at was: String) -> Int? {
        guard current.tree[was] == nil, let count = outbox.statistics(of: was)?.queued, count > 0 else { return nil }
        return count
    }

    /// Starts delivery: immediately if an earlier process left events, otherwise with the first event.
    func start() async {
        // The fault of an outbox that cannot be opened is in the log and in the report.
        try? await outbox.start(isStored: location.isStored)
    }
}

extension HostOutbox {
    /// The state of a connector's outbox; nil if it never had an event, or the outbox is not open yet.
    func report(of path: String) -> OutboxReport? { state(of: path)?.report }

    /// The state of a connector's outbox, and the failure that the report names.
    private func state(of path: String) -> (report: OutboxReport, failure: DeliveryFailure?)? {
        guard let queue = outbox.statistics(of: path) else { return nil }
        var report = OutboxReport(
            queued: queue.queued,
            bytes: queue.bytes,
            oldest: queue.oldest,
            dead: queue.dead,
            delivered: queue.delivered,
            dropped: queue.dropped,
            lastDelivered: queue.lastDelivered,
            perSecond: outbox.rate(of: path),
            stability: outbox.stability
        )
        let condition = outbox.condition(of: path)
        if let failure = condition?.failure { (report.failure, report.code) = (failure.reason, failure.code) }
        if case .paused(_, let next)? = condition { report.nextAttemptAt = next }
        return (report, condition?.failure)
    }

    /// The report of a tree, with the state of each connector's outbox.
    func report(on tree: Tree) -> Report {
        let (common, own) = self.warnings.texts(where: outbox.isTarget)
        let warnings = common + orphanWarnings
        var report = tree.report { add(to: &$0, warnings + (own[$0.path] ?? [])) }
        // A tree that sends no events needs no outbox.
        if let fault = outbox.fault, tree.queues.contains(where: \.takesEvents) { report.outboxError = fault }
        return report
    }

    /// Adds the state of a connector's outbox to its report: deliveries count as evidence, and a vendor that accepts no
    /// events makes the connector degraded. It stays ready, since its events are stored.
    ///
    /// - Parameter warnings: Those about the place where the connector's events wait.
    private func add(to report: inout GateReport, _ warnings: [String]) {
        if !warnings.isEmpty, outbox.isTarget(report.path) { report.warnings += warnings }
        if let was = formerPath(of: report.path), let count = countLeft(at: was) {
            report.warnings.append(
                "\(count) \(count == 1 ? "event waits" : "events wait") at \(was), which \"was\" names; run the earlier file, and "
                    + "reload with this one, or drop what waits there"
            )
        }
        guard let (outbox, failure) = state(of: report.path) else { return }
        report.outbox = outbox
        if let last = outbox.lastDelivered {
            let events = outbox.delivered == 1 ? "event" : "events"
            report.evidence.append(
                Evidence(kind: .delivered, detail: "took \(outbox.delivered) \(events)", at: last, duration: .zero)
            )
        }
        if let failure, report.state == .open {
            report.state = .degraded
            report.error = ConnectorError(failure.code, failure.reason, fix: failure.fix, connector: report.path)
        }
    }
}
