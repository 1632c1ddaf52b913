// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorOutbox
internal import ConnectorPlatform
internal import Synchronization

/// Keeps events in NATS JetStream, a replicated log that other machines run, for any number of hosts that share the work.
///
/// ``NATSLayout`` tells how they lie there. A batch is leased: no other host gets its events until they are settled, or this
/// host has not been heard of for a while.
package final class NATSEngine: OutboxEngine {
    let jetStream: JetStream
    let layout: NATSLayout
    let schema: NATSSchema
    let now: @Sendable () -> Timestamp
    let state: Mutex<State>

    package let stability: String
    package var isShared: Bool { true }

    /// How long a host may hold an event without renewing its lease.
    package static let lease = Duration.seconds(30)

    /// Why the client library cannot be used; nil if it can.
    package static var libraryFailure: String? { NATSConnection.libraryFailure }

    /// What this host has seen of one connector; JetStream does not count it.
    struct Count {
        var delivered = 0
        var dropped = 0
        var lastDelivered: Timestamp?
    }

    struct State {
        var slots: [String: Int]
        var leases: [String: NATSLeases]
        var counts: [String: Count] = [:]
        /// The number of the last step.
        var turn: UInt64 = 0
        /// How many events were settled since the stream was trimmed.
        var untrimmed = 0
        /// Trims the stream; nil between trims.
        var trimming: Task<Void, Never>?
        /// Renews leases.
        var timer: HostTimer?
        var isClosing = false

        /// Whether enough is settled for the stream to be trimmed.
        var isTrimDue: Bool { untrimmed >= NATSEngine.remembered && !isClosing }
    }

    /// Connects, and checks that the streams and the consumers are there.
    ///
    /// - Parameters:
    ///   - targets: The connectors that get events.
    ///   - now: The time of day.
    ///   - renewed: Reads the settings again when the servers refuse the credentials; nil if they never change.
    ///   - redact: Takes secrets out of the servers' texts.
    /// - Throws: `storage` if the servers cannot be used, `missing` or `conflict` if a stream or a consumer is not there or is
    ///   otherwise than it must be.
    package init(
        _ settings: NATSSettings,
        targets: [String],
        now: @escaping @Sendable () -> Timestamp,
        renewed: (@Sendable () throws(ConnectorError) -> NATSSettings)? = nil,
        redact: @escaping @Sendable (String) -> String = { $0 }
    ) async throws(ConnectorError) {
        let connection = try await NATSConnection.connect(settings, renewed: renewed ?? { settings }, redact: redact)
        jetStream = JetStream(connection: connection, waits: settings.waits)
        layout = NATSLayout(stream: settings.stream)
        schema = NATSSchema(jetStream: jetStream, layout: layout)
        self.now = now
        stability =
            settings.replicas > 1
            ? "NATS JetStream, on a majority of \(settings.replicas) servers; survives the loss of a server, and of power on one"
            : "NATS JetStream on one server; survives a crash of the server; a loss of power may lose two minutes"
        let consumers: [String: NATSSchema.Consumer]
        do throws(ConnectorError) {
            consumers = try await schema.check(targets, replicas: settings.replicas)
        } catch {
            await connection.close()
            throw error
        }
        state = Mutex(
            State(
                slots: consumers.mapValues(\.slot),
                leases: consumers.mapValues { NATSLeases(lease: $0.lease) }
            )
        )
    }

    /// Makes the streams and consumers that are missing.
    ///
    /// - Parameter lease: How long a host may hold an event without renewing its lease.
    /// - Returns: What was done, one sentence for each.
    package static func migrate(
        _ settings: NATSSettings,
        targets: [String],
        lease: Duration = lease,
        redact: @escaping @Sendable (String) -> String = { $0 }
    ) async throws(ConnectorError) -> [String] {
        let connection = try await NATSConnection.connect(settings, renewed: { settings }, redact: redact)
        let schema = NATSSchema(
            jetStream: JetStream(connection: connection, waits: settings.waits),
            layout: NATSLayout(stream: settings.stream)
        )
        let result: Result<[String], ConnectorError>
        do throws(ConnectorError) {
            result = .success(
                try await schema.migrate(targets, replicas: settings.replicas, lease: lease.nanoseconds)
            )
        } catch {
            result = .failure(error)
        }
        await connection.close()
        return try result.get()
    }

    /// The places of some connectors in the subjects.
    func slots(_ targets: [String]) throws(ConnectorError) -> [Int] {
        let slots = state.withLock(\.slots)
        return try targets.map { target throws(ConnectorError) in
            guard let slot = slots[target] else {
                throw ConnectorError(
                    .missing,
                    "the outbox is not prepared: the stream \(layout.stream) has no consumer for \(target)",
                    fix: "make what is missing: connector-host outbox migrate"
                )
            }
            return slot
        }
    }

    /// The connectors in some slots.
    func targets(_ slots: [Int]) -> [String] {
        let known = state.withLock(\.slots)
        return known.filter { slots.contains($0.value) }.map(\.key).sorted()
    }

    // MARK: Appending

    /// The number of a step: drawn after its change is confirmed, and before a reading is asked for.
    func nextTurn() -> UInt64 {
        state.withLock { state in
            state.turn += 1
            return state.turn
        }
    }

    package func append(_ events: [OutboxEvent], to targets: [String]) async throws(ConnectorError) -> OutboxStep {
        let subject = layout.subject(try slots(targets))
        let isNew = try await jetStream.publish(
            events.map { event in
                JetStream.Message(
                    subject: subject,
                    data: event.payload,
                    headers: NATSHeaders(id: NATSLayout.token(event.id), event: NATSEvent.header(event))
                )
            }
        )
        return OutboxStep(turn: nextTurn(), isApplied: isNew)
    }

    // MARK: Asking

    package func read() async throws(ConnectorError) -> OutboxReading {
        let turn = nextTurn()
        let consumers = try await schema.consumers()
        let info = try await schema.info(layout.stream)
        let dead = try await schema.info(layout.deadStream, ["subjects_filter": .string(layout.deadSubjects)])
        let messages = max(1, info?["state"]?.count("messages") ?? 1)
        let size = Double(info?["state"]?.count("bytes") ?? 0) / Double(messages)
        let counts = state.withLock(\.counts)
        var statistics: [String: QueueStatistics] = [:]
        for (path, consumer) in consumers {
            var queue = QueueStatistics()
            queue.queued = consumer.pending.saturatingAdding(consumer.leased)
            queue.bytes = Int(exactly: (Double(queue.queued) * size).rounded(.down)) ?? .max
            queue.dead = dead?["state"]?["subjects"]?.count(layout.deadSubject(path)) ?? 0
            if queue.queued > 0 {
                let filter = layout.filter(consumer.slot)
                let oldest = try await jetStream.message(layout.stream, from: consumer.floor + 1, filter: filter)
                queue.oldest = oldest.map { NATSEvent.event($0, at: 0).createdAt }
            }
            queue.delivered = counts[path]?.delivered ?? 0
            queue.dropped = counts[path]?.dropped ?? 0
            queue.lastDelivered = counts[path]?.lastDelivered
            statistics[path] = queue
        }
        return OutboxReading(turn: turn, statistics: statistics)
    }

    package func version() async throws(ConnectorError) -> Int64 {
        var hasher = Hasher()
        for consumer in try await schema.consumers().values.sorted(by: { $0.slot < $1.slot }) {
            hasher.combine(consumer.slot)
            hasher.combine(consumer.pending)
            hasher.combine(consumer.leased)
            hasher.combine(consumer.floor)
            hasher.combine(consumer.last)
        }
        let dead = try await schema.info(layout.deadStream)?["state"]
        hasher.combine(dead?["last_seq"]?.integer)
        hasher.combine(dead?["messages"]?.integer)
        return Int64(hasher.finalize())
    }

    package func close() async {
        let (replies, trimming) = state.withLock { state in
            state.isClosing = true
            if let timer = state.timer.take() { jetStream.clock.cancel(timer) }
            return (state.leases.values.flatMap { $0.held.map(\.reply) }, state.trimming)
        }
        // Another host gets at once what this one has not settled.
        for reply in replies { try? jetStream.connection.send(Self.returned, to: reply) }
        trimming?.cancel()
        await trimming?.value
        await jetStream.connection.close()
    }
}
