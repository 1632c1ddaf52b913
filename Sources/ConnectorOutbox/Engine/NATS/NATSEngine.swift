// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
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

    /// How long a host may keep an event without a word.
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
        /// Trims the stream; nil while nobody does.
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
    ///   - renewed: Reads the settings anew when the servers refuse the credentials; nil if they never change.
    /// - Throws: `storage` if the servers cannot be used, `missing` or `conflict` if a stream or a consumer is not there or is
    ///   otherwise than it must be.
    package init(
        _ settings: NATSSettings,
        targets: [String],
        now: @escaping @Sendable () -> Timestamp,
        renewed: (@Sendable () throws(ConnectorError) -> NATSSettings)? = nil
    ) async throws(ConnectorError) {
        let connection = try await NATSConnection.connect(settings, renewed: renewed ?? { settings })
        jetStream = JetStream(connection: connection)
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
    /// - Parameter lease: How long a host may keep an event without a word.
    /// - Returns: What was done, one sentence for each.
    package static func migrate(
        _ settings: NATSSettings,
        targets: [String],
        lease: Duration = lease
    ) async throws(ConnectorError) -> [String] {
        let connection = try await NATSConnection.connect(settings, renewed: { settings })
        let schema = NATSSchema(
            jetStream: JetStream(connection: connection),
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
        let messages = max(1, info?["state"]?["messages"]?.integer ?? 1)
        let size = Double(info?["state"]?["bytes"]?.integer ?? 0) / Double(messages)
        let counts = state.withLock(\.counts)
        var standings: [String: Standing] = [:]
        for (path, consumer) in consumers {
            var standing = Standing()
            standing.queued = consumer.pending + consumer.leased
            standing.bytes = Int(Double(standing.queued) * size)
            standing.dead = Int(dead?["state"]?["subjects"]?[layout.deadSubject(path)]?.integer ?? 0)
            if standing.queued > 0 {
                let filter = layout.filter(consumer.slot)
                let oldest = try await jetStream.message(layout.stream, from: consumer.floor + 1, filter: filter)
                standing.oldest = oldest.map { NATSEvent.event($0, at: 0).createdAt }
            }
            standing.delivered = counts[path]?.delivered ?? 0
            standing.dropped = counts[path]?.dropped ?? 0
            standing.lastDelivered = counts[path]?.lastDelivered
            standings[path] = standing
        }
        return OutboxReading(turn: turn, standings: standings)
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
        for reply in replies { try? jetStream.connection.send(Array("-NAK".utf8), to: reply) }
        trimming?.cancel()
        await trimming?.value
        await jetStream.connection.close()
    }
}
