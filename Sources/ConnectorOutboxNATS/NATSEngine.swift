// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorOutbox
internal import ConnectorPlatform
internal import Synchronization

/// The outbox engine on NATS JetStream, a replicated log on other machines, for any number of hosts that share the deliveries.
///
/// ``NATSLayout`` describes the streams. A batch is leased: no other host receives its events until they are settled, or until the
/// lease expires without renewal.
package final class NATSEngine: OutboxEngine {
    let jetStream: JetStream
    let layout: NATSLayout
    let schema: NATSSchema
    let now: @Sendable () -> Timestamp
    let state: Mutex<State>
    private let replicas: Int
    /// Called when settled events can no longer be deleted, with the reason, and with nil once they can again.
    let onTrim: @Sendable (ConnectorError?) -> Void
    /// Called when waiting events of a connector have gone from the servers, with their number.
    private let onLoss: @Sendable (_ path: String, _ count: Int) -> Void

    package let stability: String
    package var isShared: Bool { true }

    /// The default lease: how long a host may hold an event without renewal.
    package static let lease = Duration.seconds(30)

    /// The reason that the client library cannot be loaded; nil if it can.
    package static var libraryFailure: String? { NATSConnection.libraryFailure }

    /// The deliveries of this host to one connector, which JetStream does not count.
    struct Count {
        var delivered = 0
        var dropped = 0
        var lastDelivered: Timestamp?
    }

    struct State {
        var slots: [String: Int]
        /// When each consumer was created.
        var created: [String: Timestamp]
        var leases: [String: NATSLeases]
        var counts: [String: Count] = [:]
        /// The mean size of the events of each connector that this host has seen.
        var sizes: [String: MeanSize] = [:]
        /// The events that this host has settled at each connector.
        var settled: [String: SettledEvents] = [:]
        /// What this host does at each consumer.
        var tallies: [String: NATSBacklog.Tally] = [:]
        /// Why nothing is leased from a consumer: its settings lose what it hands out.
        var faults: [String: ConnectorError] = [:]
        /// The last events that this host has dropped, oldest first.
        var dropped: [DroppedEvent] = []
        /// When the oldest waiting event of each connector was sent, as last read.
        var oldest: [String: OldestEvent] = [:]
        /// What waited at each consumer, as last read.
        var backlogs: [String: NATSBacklog] = [:]
        /// How often the consumers were read.
        var readings = 0
        /// The state of the stream the last two times.
        var streams: [StreamState] = []
        /// The servers' time of day, as last reported; nil before the first event.
        var serverTime: ServerTime?
        /// The number of the last step or reading.
        var revision: UInt64 = 0
        /// The number of events settled since the stream was last trimmed.
        var untrimmed = 0
        /// The task that trims the stream; nil between trims.
        var trimming: Task<Void, Never>?
        /// The task that deletes everything settled, because there is no room; nil while there is.
        var clearing: Task<Void, Never>?
        /// How many events a trim was to keep that failed; nil if none has since one succeeded.
        var failedTrim: Int?
        /// How many more looks until the settings of the streams are checked again.
        var looksLeft = NATSEngine.looks
        /// Fires when leases must be renewed; nil if none is held.
        var timer: HostTimer?
        var isClosing = false

        /// Whether enough events are settled to trim the stream.
        var isTrimDue: Bool { untrimmed >= NATSEngine.remembered && !isClosing }
    }

    /// Connects, and checks that the streams and consumers exist.
    ///
    /// - Parameters:
    ///   - paths: The connectors that receive events.
    ///   - now: Returns the wall-clock time.
    ///   - renewed: Reads the settings again after the servers refused the credentials; nil if they never change.
    ///   - redact: Removes secrets from texts of the servers.
    ///   - onTrim: Called when settled events can no longer be deleted, with the reason, and with nil once they can again.
    ///   - onLoss: Called when waiting events of a connector have gone, alone or with its consumer or the stream, with their number. Those
    ///     that another program drops with the tools of NATS or `outbox drop` are among them.
    /// - Throws: `storage` if the servers cannot be used; `missing` if a stream or consumer does not exist; `conflict` if its settings
    ///   are wrong.
    package init(
        _ settings: NATSSettings,
        paths: [String],
        now: @escaping @Sendable () -> Timestamp,
        renewed: (@Sendable () throws(ConnectorError) -> NATSSettings)? = nil,
        redact: @escaping @Sendable (String) -> String = { $0 },
        onTrim: @escaping @Sendable (ConnectorError?) -> Void = { _ in },
        onLoss: @escaping @Sendable (_ path: String, _ count: Int) -> Void = { _, _ in }
    ) async throws(ConnectorError) {
        let connection = try await NATSConnection.connect(settings, renewed: renewed ?? { settings }, redact: redact)
        jetStream = JetStream(connection: connection, waits: settings.waits)
        layout = NATSLayout(stream: settings.stream)
        schema = NATSSchema(jetStream: jetStream, layout: layout, application: settings.application)
        (self.now, self.onTrim, self.onLoss, replicas) = (now, onTrim, onLoss, settings.replicas)
        stability =
            settings.replicas > 1
            ? "NATS JetStream, on a majority of \(settings.replicas) servers; survives the loss of a server, or a power failure on one"
            : "NATS JetStream on one server; survives a crash of the server; a power failure may lose two minutes"
        let (consumers, messages): ([String: NATSSchema.Consumer], Int)
        do throws(ConnectorError) {
            consumers = try await schema.check(paths, replicas: settings.replicas)
            messages = try await schema.info(layout.stream)?["state"]?.count("messages") ?? 0
        } catch {
            await connection.close()
            throw error
        }
        state = Mutex(
            State(
                slots: consumers.mapValues(\.slot),
                created: consumers.compactMapValues(\.created),
                leases: consumers.mapValues { NATSLeases(lease: $0.lease) },
                // Events that earlier hosts may have settled but not trimmed.
                untrimmed: max(0, messages - Self.remembered)
            )
        )
    }

    /// Creates the missing streams and consumers.
    ///
    /// - Parameters:
    ///   - lease: How long a host may hold an event without renewing its lease.
    ///   - changesStreams: Whether to create missing streams and to change the number of replicas, and not only to add consumers.
    /// - Returns: A sentence for each change.
    package static func migrate(
        _ settings: NATSSettings,
        paths: [String],
        lease: Duration = lease,
        changesStreams: Bool = true,
        redact: @escaping @Sendable (String) -> String = { $0 }
    ) async throws(ConnectorError) -> [String] {
        let connection = try await NATSConnection.connect(settings, renewed: { settings }, redact: redact)
        let schema = NATSSchema(
            jetStream: JetStream(connection: connection, waits: settings.waits),
            layout: NATSLayout(stream: settings.stream),
            application: settings.application
        )
        var done: [String] = []
        let result: Result<[String], ConnectorError>
        do throws(ConnectorError) {
            if changesStreams {
                try await schema.migrateStreams(replicas: settings.replicas, &done)
            } else {
                try await schema.checkStreams(replicas: settings.replicas)
            }
            try await schema.addConsumers(paths, lease: lease.nanoseconds, &done)
            result = .success(done)
        } catch {
            result = .failure(unfinished(error, after: done))
        }
        await connection.close()
        return try result.get()
    }

    /// The error that ended a migration, with what it had done, and how to go on.
    private static func unfinished(_ error: ConnectorError, after done: [String]) -> ConnectorError {
        guard !done.isEmpty else { return error }
        var error = error
        error.message += "; before that, this \(done.joined(separator: ", "))"
        error.fix = (error.fix.map { "\($0); then " } ?? "") + "repeat it: it makes only what is missing"
        return error
    }

    /// Reads the consumers again if one of the connectors has no known consumer: it may have got one since the engine
    /// was opened.
    func learn(_ paths: [String]) async throws(ConnectorError) {
        guard state.withLock({ state in paths.contains { state.slots[$0] == nil } }) else { return }
        _ = try await consumers()
    }

    /// Lists the consumers of the stream, and adopts their settings: an operator may have deleted, recreated or changed one.
    ///
    /// - Throws: `conflict` if the settings of one are wrong.
    func consumers() async throws(ConnectorError) -> [String: NATSSchema.Consumer] {
        let clock = jetStream.clock
        let (known, start) = state.withLock { (Array($0.slots.keys), $0.reading(at: clock.now())) }
        let consumers = try await schema.readConsumers(known)
        let info = try await schema.info(layout.stream)?["state"]
        let stream = info.map { StreamState(last: $0.count("last_seq"), messages: $0.count("messages")) }
        let gone = state.withLock { $0.adopt(consumers, of: stream, since: start, now: clock.now()) }
        for (path, count) in gone.sorted(by: { $0.key < $1.key }) { onLoss(path, count) }
        return try schema.checked(consumers)
    }

    /// The slots of connectors.
    ///
    /// - Throws: `missing` for a connector without a consumer.
    func slots(_ paths: [String]) async throws(ConnectorError) -> [Int] {
        try await learn(paths)
        let slots = state.withLock(\.slots)
        return try paths.map { path throws(ConnectorError) in
            guard let slot = slots[path] else {
                throw jetStream.missing("the stream \(layout.stream) has no consumer for \(path)")
            }
            return slot
        }
    }

    // MARK: Appending

    /// The next number of a step or reading: drawn after a change is confirmed, and before a reading is requested.
    func nextRevision() -> UInt64 {
        state.withLock { state in
            state.revision += 1
            return state.revision
        }
    }

    /// By how many bytes a dead letter may exceed the event, to hold the reason.
    static let letterReserve = 4096

    package func append(
        _ events: [OutboxEvent],
        to paths: [String],
        _ onStored: @escaping @Sendable (OutboxStep) -> Void
    ) async throws(ConnectorError) -> OutboxStep {
        let subject = layout.subject(try await slots(paths))
        let messages = events.map { event in
            JetStream.Message(
                subject: subject,
                data: event.payload,
                headers: NATSHeaders(id: NATSLayout.token(event.id), event: NATSEvent.header(event))
            )
        }
        if let largest = messages.max(by: { $0.size < $1.size }),
            !jetStream.connection.accepts(largest.size + Self.letterReserve)
        {
            throw NATSConnection.tooLarge(largest.data.count)
        }
        let isNew = try await publish(messages)
        state.withLock { state in
            for path in paths { state.sizes[path, default: MeanSize()].add(events.map(\.payload.count)) }
        }
        let step = OutboxStep(revision: nextRevision(), isApplied: isNew)
        onStored(step)
        return step
    }

    // MARK: Reading statistics

    package func read() async throws(ConnectorError) -> OutboxReading {
        let revision = nextRevision()
        let consumers = try await consumers()
        let info = try await schema.info(layout.stream)
        let dead = try await schema.info(layout.deadStream, ["subjects_filter": .string(layout.deadSubjects)])
        let messages = max(1, info?["state"]?.count("messages") ?? 1)
        let size = Double(info?["state"]?.count("bytes") ?? 0) / Double(messages)
        let (counts, sizes) = state.withLock { ($0.counts, $0.sizes) }
        var statistics: [String: QueueStatistics] = [:]
        for (path, consumer) in consumers {
            var queue = QueueStatistics()
            queue.queued = consumer.pending.saturatingAdding(consumer.leased)
            let bytes = (Double(queue.queued) * (sizes[path]?.mean ?? size)).rounded(.down)
            queue.bytes = Int(exactly: bytes) ?? .max
            queue.dead = dead?["state"]?["subjects"]?.count(layout.deadSubject(path)) ?? 0
            if queue.queued > 0 {
                queue.oldest = try await oldest(consumer, info?["state"])
            }
            queue.delivered = counts[path]?.delivered ?? 0
            queue.dropped = counts[path]?.dropped ?? 0
            queue.lastDelivered = counts[path]?.lastDelivered
            statistics[path] = queue
        }
        // Dead letters outlive their consumer.
        for letters in dead?["state"]?["subjects"]?.object?.members ?? [] {
            guard let path = layout.path(ofDead: letters.name), statistics[path] == nil else { continue }
            statistics[path] = QueueStatistics()
            statistics[path]?.dead = Int(clamping: max(0, letters.value.integer ?? 0))
        }
        return OutboxReading(revision: revision, statistics: statistics)
    }

    /// When the oldest waiting event of a connector was sent. Reads the whole event, so only if it may be another one
    /// than last time.
    ///
    /// - Parameter stream: The state of the stream.
    private func oldest(_ consumer: NATSSchema.Consumer, _ stream: JSONValue?) async throws(ConnectorError)
        -> Timestamp?
    {
        var oldest = OldestEvent(
            floor: consumer.floor,
            first: stream?["first_seq"]?.integer,
            deleted: stream?["num_deleted"]?.integer,
            consumer: consumer.created
        )
        let known = state.withLock { $0.oldest[consumer.path] }
        if let known, oldest.isSame(as: known) { return known.createdAt }
        let filter = layout.filter(consumer.slot)
        let message = try await jetStream.message(layout.stream, from: consumer.floor + 1, filter: filter)
        guard let message else { return nil }
        oldest.createdAt = NATSEvent.event(message, at: 0).createdAt
        state.withLock { $0.oldest[consumer.path] = oldest }
        return oldest.createdAt
    }

    package func version() async throws(ConnectorError) -> Int64 {
        var hasher = Hasher()
        for consumer in try await consumers().values.sorted(by: { $0.slot < $1.slot }) {
            hasher.combine(consumer.slot)
            hasher.combine(consumer.pending)
            hasher.combine(consumer.leased)
            hasher.combine(consumer.floor)
            hasher.combine(consumer.last)
        }
        guard let info = try await schema.info(layout.deadStream) else {
            throw jetStream.missing(stream: layout.deadStream)
        }
        let dead = info["state"]
        hasher.combine(dead?["last_seq"]?.integer)
        hasher.combine(dead?["messages"]?.integer)
        return Int64(hasher.finalize())
    }

    package func prepared(_ paths: Set<String>) async throws(ConnectorError) -> Set<String> {
        paths.intersection(try await consumers().keys)
    }

    /// Checks that each connector has a consumer, and now and then the settings of the streams, which an operator may have changed. Then a
    /// trim that failed is repeated, too.
    package func check(_ paths: [String]) async throws(ConnectorError) {
        _ = try await slots(paths)
        let isDue = state.withLock { state in
            state.looksLeft -= 1
            return state.looksLeft <= 0
        }
        guard isDue else { return }
        // What is wrong is looked at each time, until it is right.
        try await schema.checkStreams(replicas: replicas)
        state.withLock { $0.looksLeft = Self.looks }
        repeatTrim()
    }

    /// How often to look at the consumers before looking at the streams, too.
    static let looks = 10

    package func close() async {
        let (replies, trimming, clearing) = state.withLock { state in
            state.isClosing = true
            if let timer = state.timer.take() { jetStream.clock.cancel(timer) }
            // Another host may have what is held for longer than its lease.
            let now = jetStream.clock.now()
            let held = state.leases.values.flatMap(\.held).filter { $0.until > now }
            return (held.map(\.reply), state.trimming, state.clearing)
        }
        // Releases unsettled events, so that another host receives them immediately.
        await jetStream.connection.releaseAll(replies)
        trimming?.cancel()
        clearing?.cancel()
        await trimming?.value
        await clearing?.value
        await jetStream.connection.close()
    }
}
