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
    private let now: @Sendable () -> Timestamp
    private let state: Mutex<State>

    package let stability: String

    /// How long a host may keep an event without a word.
    package static let lease = Duration.seconds(30)

    /// What this host has seen of one connector; JetStream does not count it.
    private struct Count {
        var delivered = 0
        var dropped = 0
        var lastDelivered: Timestamp?
    }

    private struct State {
        var slots: [String: Int]
        var leases: [String: NATSLeases]
        var counts: [String: Count] = [:]
        /// The number of the last step.
        var turn: UInt64 = 0
        /// How many events were settled since the stream was trimmed.
        var untrimmed = 0
        /// Renews leases.
        var timer: HostTimer?
        var isClosing = false
    }

    /// Connects, and checks that the streams and the consumers are there.
    ///
    /// - Parameters:
    ///   - targets: The connectors that get events.
    ///   - now: The time of day.
    /// - Throws: `storage` if the servers cannot be used, `missing` or `conflict` if a stream or a consumer is not there or is
    ///   otherwise than it must be.
    package init(
        _ settings: NATSSettings,
        targets: [String],
        now: @escaping @Sendable () -> Timestamp
    ) async throws(ConnectorError) {
        let connection = try await NATSConnection.connect(settings)
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
        let connection = try await NATSConnection.connect(settings)
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
    private func nextTurn() -> UInt64 {
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

    // MARK: Delivering

    package func batch(
        for target: String,
        upTo limits: BatchLimits,
        now: Timestamp
    ) async throws(ConnectorError) -> OutboxBatch {
        var batch = OutboxBatch(target: target, entries: [])
        let clock = jetStream.clock
        let preparation = state.withLock { $0.leases[target]?.prepare(limits.count, now: clock.now(), time: now) }
        guard let preparation else { return batch }
        for reply in preparation.renewed { try jetStream.connection.send(Self.inProgress, to: reply) }
        if preparation.room > 0 || preparation.wait != nil {
            // Headers count, too.
            let bytes = max(65_536, limits.bytes + 512 * limits.count)
            let more = try await pull(max(1, preparation.room), bytes, target, wait: preparation.wait ?? 0)
            state.withLock { $0.leases[target]?.add(more) }
        }
        batch.entries = state.withLock { $0.leases[target]?.entries(limits) } ?? []
        if batch.isEmpty { batch.nextDue = try await nextDue(target, now) } else { keep() }
        return batch
    }

    /// Leases the next events of a connector.
    private func pull(
        _ count: Int,
        _ bytes: Int,
        _ target: String,
        wait: UInt64 = 0
    ) async throws(ConnectorError) -> [NATSLeases.Held] {
        let lease = state.withLock { $0.leases[target]?.lease } ?? 0
        // The server counts from a moment after this one.
        let until = jetStream.clock.now().saturatingAdding(lease)
        let consumer = NATSLayout.token(target)
        return try await jetStream.pull(count, bytes: bytes, from: consumer, of: layout.stream, wait: wait)
            .compactMap { message in
                guard let told = NATSLease(message.reply) else { return nil }
                let event = NATSEvent.event(message, at: told.sequence)
                let entry = OutboxBatch.Entry(
                    position: told.sequence,
                    attempts: max(0, told.deliveries - 1),
                    event: event
                )
                return NATSLeases.Held(entry: entry, reply: message.reply, until: until)
            }
    }

    /// When to look again: when a retry is due, or other hosts may have given events back.
    private func nextDue(_ target: String, _ now: Timestamp) async throws(ConnectorError) -> Timestamp? {
        let (next, count) = state.withLock { state in
            state.leases[target]?.lentAt == nil
                ? (nil, 0) : (state.leases[target]?.nextRetry, state.leases[target]?.retryCount ?? 0)
        }
        let info = try await jetStream.must("CONSUMER.INFO.\(layout.stream).\(NATSLayout.token(target))")
        let outside = (info["num_pending"]?.integer ?? 0) + (info["num_ack_pending"]?.integer ?? 0)
        guard outside > Int64(count) else { return next }
        let soon = Timestamp(nanoseconds: now.nanoseconds.saturatingAdding(1_000_000_000))
        return min(next ?? soon, soon)
    }

    @discardableResult
    package func settle(
        _ batch: OutboxBatch,
        _ fates: [Fate],
        _ attempt: Attempt
    ) async throws(ConnectorError) -> OutboxStep {
        let replies = state.withLock { $0.leases[batch.target]?.replies(batch.entries.map(\.position)) } ?? [:]
        let letters = batch.entries.indices.filter { fates[$0] == .dead }.map { index in
            let entry = batch.entries[index]
            return letter(entry, batch.target, at: attempt.at, attempt.failures[index])
        }
        if !letters.isEmpty { _ = try await jetStream.publish(letters) }
        let time = now()
        var answers: [JetStream.Message] = []
        var due: [Timestamp] = []
        for (entry, fate) in zip(batch.entries, fates) {
            let data: [UInt8]
            switch fate {
            case .waiting: continue
            case .delivered, .dead, .dropped: data = Self.acknowledged
            case .retry(let at):
                due.append(at)
                // The server takes no delay of nothing.
                data = Self.refused(max(1, at.nanoseconds(after: time)))
            }
            if let reply = replies[entry.position] { answers.append(JetStream.Message(subject: reply, data: data)) }
        }
        try await acknowledge(answers)
        let settled = zip(batch.entries, fates).filter { $1 != .waiting }.map(\.0.position)
        state.withLock { state in
            state.leases[batch.target]?
                .settle(Set(settled), retries: due, time: time, now: jetStream.clock.now())
            var count = state.counts[batch.target] ?? Count()
            count.delivered += fates.count { $0 == .delivered }
            count.dropped += fates.count { $0 == .dropped }
            if fates.contains(.delivered) { count.lastDelivered = attempt.at }
            state.counts[batch.target] = count
        }
        await trimIfDue(settled.count)
        return OutboxStep(turn: nextTurn(), isApplied: batch.entries.map { _ in true })
    }

    /// An event as a dead letter; its id makes it one however often it is sent.
    private func letter(
        _ entry: OutboxBatch.Entry,
        _ target: String,
        at time: Timestamp,
        _ failure: DeliveryFailure?
    ) -> JetStream.Message {
        let event = entry.event
        let header = NATSEvent.failureHeader(position: entry.position, at: time, count: entry.attempts + 1, failure)
        return JetStream.Message(
            subject: layout.deadSubject(target),
            data: event.payload,
            headers: NATSHeaders(
                id: "\(NATSLayout.token(target)).\(entry.position)",
                event: NATSEvent.header(event),
                failure: header
            )
        )
    }

    /// Sends acknowledgements, and waits until the server has taken the last one: it takes them in their order.
    private func acknowledge(_ answers: [JetStream.Message]) async throws(ConnectorError) {
        guard let last = answers.last else { return }
        for answer in answers.dropLast() { try jetStream.connection.send(answer.data, to: answer.subject) }
        _ = try await jetStream.ask([last])
    }

    private static let acknowledged = Array("+ACK".utf8)
    private static let inProgress = Array("+WPI".utf8)

    /// Gives an event back, to be handed out again after a delay.
    private static func refused(_ delay: UInt64) -> [UInt8] { Array("-NAK {\"delay\": \(delay)}".utf8) }

    package func dropOldest(_ bytes: Int, of target: String) async throws(ConnectorError) -> Int {
        var idle = state.withLock { $0.leases[target]?.takeIdle() } ?? []
        var dropped: [NATSLeases.Held] = []
        var freed = 0
        while freed < bytes {
            if idle.isEmpty { idle = try await pull(100, 1 << 20, target) }
            guard !idle.isEmpty else { break }
            let oldest = idle.removeFirst()
            freed += oldest.entry.event.payload.count
            dropped.append(oldest)
        }
        state.withLock { $0.leases[target]?.add(idle) }
        try await acknowledge(dropped.map { JetStream.Message(subject: $0.reply, data: Self.acknowledged) })
        count(dropped: dropped.count, target)
        return dropped.count
    }

    package func countDropped(_ count: Int, of target: String) async throws(ConnectorError) -> UInt64 {
        self.count(dropped: count, target)
        return nextTurn()
    }

    /// Counts what this host has given up.
    func count(dropped: Int, _ target: String) {
        state.withLock { $0.counts[target, default: Count()].dropped += dropped }
    }

    /// Trims the stream after every so many settled events. Events that stay longer harm nobody, so a failure is no error.
    private func trimIfDue(_ settled: Int) async {
        let isDue = state.withLock { state in
            state.untrimmed += settled
            guard state.untrimmed >= Self.remembered else { return false }
            state.untrimmed = 0
            return true
        }
        if isDue { _ = try? await schema.trim(keeping: Self.remembered) }
    }

    /// How many events that everybody has settled stay in the stream, so that one can still be asked for.
    private static let remembered = 1000

    // MARK: Leases

    /// Renews the leases of deliveries that take their time.
    private func keep() {
        state.withLock { state in
            guard state.timer == nil, !state.isClosing, let lease = state.leases.values.map(\.lease).min() else {
                return
            }
            state.timer = jetStream.clock.schedule(after: max(10_000_000, lease / 3)) { [weak self] in self?.renew() }
        }
    }

    private func renew() {
        let (replies, isBusy) = state.withLock { state in
            state.timer = nil
            let now = jetStream.clock.now()
            var replies: [String] = []
            for target in state.leases.keys { replies += state.leases[target]?.renewal(now) ?? [] }
            return (replies, !replies.isEmpty)
        }
        for reply in replies { try? jetStream.connection.send(Self.inProgress, to: reply) }
        if isBusy { keep() }
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
        let replies = state.withLock { state in
            state.isClosing = true
            if let timer = state.timer.take() { jetStream.clock.cancel(timer) }
            return state.leases.values.flatMap { $0.held.map(\.reply) }
        }
        // Another host gets at once what this one has not settled.
        for reply in replies { try? jetStream.connection.send(Array("-NAK".utf8), to: reply) }
        await jetStream.connection.close()
    }
}
