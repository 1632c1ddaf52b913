// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorOutbox
internal import ConnectorPlatform
internal import Synchronization

/// Delivering events: leasing batches, and renewing, settling and releasing leases.
extension NATSEngine {
    package func batch(
        for path: String,
        upTo limits: BatchLimits,
        now: Timestamp
    ) async throws(ConnectorError) -> OutboxBatch {
        var batch = OutboxBatch(path: path)
        let clock = jetStream.clock
        try await learn([path])
        let preparation = state.withLock { $0.leases[path]?.prepare(limits.count, now: clock.now(), time: now) }
        guard let preparation else { return batch }
        for reply in preparation.renewed { try jetStream.connection.send(Self.inProgress, to: reply) }
        // Headers count towards the size.
        let bytes = max(65_536, limits.bytes + 512 * limits.count)
        var room = preparation.room
        var isFresh = false
        if !preparation.recalled.isEmpty {
            let more = try await recall(preparation.recalled, path)
            state.withLock { $0.leases[path]?.add(more) }
        }
        if preparation.due > 0 {
            // No more than are due, so that new events do not wait with them.
            let more = try await pull(min(preparation.due, limits.count), bytes, path, wait: preparation.wait)
            state.withLock { $0.leases[path]?.add(more) }
            room -= more.count
            isFresh = !more.isEmpty
        }
        if room > 0 {
            let more = try await pull(room, bytes, path)
            state.withLock { $0.leases[path]?.add(more) }
            isFresh = isFresh || !more.isEmpty
        }
        if isFresh { try await learnTime(path) }
        let serverTime = state.withLock(\.serverTime)
        let (events, isFull) = state.withLock { $0.leases[path]?.next(limits) } ?? ([], false)
        batch.reserve(events.reduce(0) { $0 + $1.entry.bytes + 1 })
        for event in events {
            var entry = event.entry
            entry.agesFrom = serverTime?.local(entry.storedAt, now: now, monotonic: clock.now())
            batch.append(entry) { $0 += event.payload }
        }
        batch.isFull = isFull
        if batch.isEmpty { batch.nextDue = try await nextDue(path, now) } else { scheduleRenewal() }
        return batch
    }

    /// Asks for the servers' time of day if the last answer is a while old. Servers before 2.10 report only when they last handed out an
    /// event of a connector, so this is right only just after they have.
    private func learnTime(_ path: String) async throws(ConnectorError) {
        let now = jetStream.clock.now()
        let isKnown = state.withLock { state in
            state.serverTime.map { now - min(now, $0.receivedAt) < Self.timeKept } ?? false
        }
        guard !isKnown else { return }
        let info = try await jetStream.info(ofConsumer: NATSLayout.token(path), of: layout.stream)
        let time = (info["ts"] ?? info["delivered"]?["last_active"])?.string.flatMap { Timestamp(parsing: $0) }
        state.withLock { state in
            guard time != nil || state.serverTime == nil else { return }
            state.serverTime = ServerTime(time: time, receivedAt: jetStream.clock.now())
        }
    }

    /// How long the servers' time of day is not asked for again, in nanoseconds.
    private static let timeKept: UInt64 = 60_000_000_000

    /// Leases the next events of a connector. Those that this host has settled are acknowledged again, and left out.
    ///
    /// - Throws: `conflict` if the settings of the consumer lose what it hands out.
    private func pull(
        _ count: Int,
        _ bytes: Int,
        _ path: String,
        wait: UInt64 = 0
    ) async throws(ConnectorError) -> [NATSLeases.LeasedEvent] {
        let (lease, fault) = state.withLock { ($0.leases[path]?.lease ?? 0, $0.faults[path]) }
        if let fault { throw fault }
        let consumer = NATSLayout.token(path)
        var wait = wait
        for _ in 1...Self.settledPulls {
            // The server's lease starts slightly later, so this is a lower bound.
            let until = jetStream.clock.now().saturatingAdding(lease)
            let reading = state.withLock(\.readings)
            let messages = try await jetStream.pull(count, bytes: bytes, from: consumer, of: layout.stream, wait: wait)
            state.withLock { $0.noteReceived(messages.count, at: path, since: reading) }
            var events: [NATSLeases.LeasedEvent] = []
            for message in messages {
                guard let lease = NATSLease(message.reply) else { continue }
                guard let whole = try await whole(message, lease, path) else { continue }
                events.append(leased(whole, lease, attempts: lease.deliveries - 1, message.reply, until: until))
            }
            let settled = state.withLock { state in
                events.indices.filter { index in
                    let entry = events[index].entry
                    return state.settled[path]?.contains(entry.position, storedAt: entry.storedAt) == true
                }
            }
            try await acknowledge(settled.map { events[$0].reply }, of: path)
            let known = Set(settled)
            let fresh = events.indices.filter { !known.contains($0) }.map { events[$0] }
            guard fresh.isEmpty, !settled.isEmpty else {
                state.withLock { $0.sizes[path, default: MeanSize()].add(fresh.map(\.entry.bytes)) }
                return fresh
            }
            wait = 0
        }
        return []
    }

    /// How often in a row to lease nothing but settled events.
    private static let settledPulls = 100

    /// Leases retries that the server holds back: to renew a lease that was given up for a delay ends the delay.
    ///
    /// - Parameter replies: The reply subjects of the leases.
    private func recall(
        _ replies: [String],
        _ path: String
    ) async throws(ConnectorError) -> [NATSLeases.LeasedEvent] {
        let duration = state.withLock { $0.leases[path]?.lease ?? 0 }
        let until = jetStream.clock.now().saturatingAdding(duration)
        // If an event cannot be read below, its new lease expires, and it comes again.
        for reply in replies { try jetStream.connection.send(Self.inProgress, to: reply) }
        var events: [NATSLeases.LeasedEvent] = []
        for reply in replies {
            guard let lease = NATSLease(reply) else { continue }
            guard let message = try await stored(lease, path) else { continue }
            events.append(leased(message, lease, attempts: lease.deliveries, reply, until: until))
        }
        return events
    }

    /// A leased message with its content, which a consumer that was just given `headers_only` leaves out; nil if the stream no longer has
    /// it.
    private func whole(
        _ message: NATSMessage,
        _ lease: NATSLease,
        _ path: String
    ) async throws(ConnectorError) -> NATSMessage? {
        guard message.isHeadersOnly else { return message }
        return try await stored(lease, path)
    }

    /// The message of a lease, from the stream; nil if that no longer has it, since an operator may have dropped it.
    private func stored(_ lease: NATSLease, _ path: String) async throws(ConnectorError) -> NATSMessage? {
        let filter = layout.filter(state.withLock { $0.slots[path] ?? 0 })
        let message = try await jetStream.message(layout.stream, from: lease.sequence, filter: filter)
        return message?.sequence == lease.sequence ? message : nil
    }

    /// An event that this host has leased.
    private func leased(
        _ message: NATSMessage,
        _ lease: NATSLease,
        attempts: Int,
        _ reply: String,
        until: UInt64
    ) -> NATSLeases.LeasedEvent {
        let event = NATSEvent.event(message, at: lease.sequence)
        let entry = OutboxBatch.Entry(
            position: lease.sequence,
            attempts: attempts,
            event: event,
            renewedAt: NATSEvent.isRenewed(message, of: event) ? lease.time : nil,
            isDamaged: !Self.isValue(event.payload),
            storedAt: lease.time
        )
        return NATSLeases.LeasedEvent(
            entry: entry,
            payload: event.payload,
            reply: reply,
            until: until,
            subject: message.subject
        )
    }

    /// Whether a payload is one JSON value; anything else, which another program may have stored, would change the array of its batch.
    private static func isValue(_ payload: [UInt8]) -> Bool {
        JSONObjectSlices.isObject(payload.span) || (try? JSONValue(document: payload)) != nil
    }

    /// When to fetch again: when a retry is due, or when another host may have released events. Nil if nothing is pending.
    private func nextDue(_ path: String, _ now: Timestamp) async throws(ConnectorError) -> Timestamp? {
        let (next, count) = state.withLock { state in
            guard let leases = state.leases[path], leases.batchTakenAt != nil else { return (nil as Timestamp?, 0) }
            return (leases.nextRetry, leases.retryCount)
        }
        let info = try await jetStream.info(ofConsumer: NATSLayout.token(path), of: layout.stream)
        let unsettled = info.count("num_pending").saturatingAdding(info.count("num_ack_pending"))
        guard unsettled > count else { return next }
        let soon = Timestamp(nanoseconds: now.nanoseconds.saturatingAdding(1_000_000_000))
        return min(next ?? soon, soon)
    }

    package func rewind(_ path: String, now: Timestamp) async throws(ConnectorError) {
        state.withLock { $0.leases[path]?.rewind(now: jetStream.clock.now(), time: now) }
    }

    /// The next batches take them back from the server. Those that another host gave up wait until that host is asked.
    package func expediteRetries(of path: String, now: Timestamp) async throws(ConnectorError) {
        state.withLock { $0.leases[path]?.expediteRetries(at: now) }
    }

    @discardableResult
    package func settle(
        _ batch: OutboxBatch,
        _ outcomes: [DeliveryOutcome],
        _ attempt: Attempt
    ) async throws(ConnectorError) -> OutboxStep {
        let path = batch.path
        let time = now()
        let leased = state.withLock { $0.leases[path]?.leased(batch.entries.map(\.position)) } ?? [:]
        var delivered: [String] = []
        var refused: [JetStream.Message] = []
        var due: [(time: Timestamp, reply: String)] = []
        for (entry, outcome) in zip(batch.entries, outcomes) {
            guard let lease = leased[entry.position] else { continue }
            switch outcome {
            case .waiting, .dead: continue
            // Acknowledge even after the lease has expired: another host that has the event by now delivers it only
            // once.
            case .delivered: delivered.append(lease.reply)
            case .retry(let at):
                guard lease.until > jetStream.clock.now() else { continue }
                due.append((at, lease.reply))
                // The server rejects a delay of zero.
                let data = Self.refused(max(1, at.nanoseconds(after: time)))
                refused.append(JetStream.Message(subject: lease.reply, data: data))
            }
        }
        try await acknowledge(delivered, of: path, and: refused)
        // First settle what the vendor has: it must not wait for the dead letters, which the servers may refuse.
        let entries = Array(zip(batch.entries, outcomes))
        let left = Set(entries.filter { $1 != .waiting && $1 != .dead }.map(\.0.position))
        let done = entries.filter { $1 == .delivered }.map(\.0)
        state.withLock { state in
            state.leases[path]?.settle(left, retries: due, time: time, now: jetStream.clock.now())
            state.noteSettled(done, at: path)
        }
        let dead = batch.entries.indices.filter { outcomes[$0] == .dead }
        var letters: [JetStream.Message] = []
        for index in dead where leased[batch.entries[index].position]?.hasLetter != true {
            let entry = batch.entries[index]
            let payload =
                entry.isDamaged
                ? try await payload(ofDamaged: entry, leased[entry.position]) : batch.payload(of: entry)
            letters.append(letter(entry, payload, path, at: attempt.at, attempt.failures[index]))
        }
        if !letters.isEmpty { _ = try await publish(letters) }
        let positions = Set(dead.map { batch.entries[$0].position })
        state.withLock { $0.leases[path]?.noteLetters(of: positions) }
        try await acknowledge(dead.compactMap { leased[batch.entries[$0].position]?.reply }, of: path)
        state.withLock { state in
            state.leases[path]?.settle(positions, retries: [], time: time, now: jetStream.clock.now())
            state.leases[path]?.endBatch()
            state.noteSettled(dead.map { batch.entries[$0] }, at: path)
            var count = state.counts[path] ?? Count()
            count.delivered += outcomes.count { $0 == .delivered }
            if outcomes.contains(.delivered) { count.lastDelivered = attempt.at }
            state.counts[path] = count
        }
        trimIfDue(outcomes.count { $0 != .waiting })
        return OutboxStep(revision: nextRevision(), isApplied: batch.entries.map { _ in true })
    }

    /// The payload of a damaged event, which its batch does not have; empty if the stream no longer has it, either.
    ///
    /// - Parameter lease: Its lease; nil if that has lapsed since the batch was taken.
    private func payload(
        ofDamaged entry: OutboxBatch.Entry,
        _ lease: NATSLeases.LeasedEvent?
    ) async throws(ConnectorError) -> [UInt8] {
        if let lease { return lease.payload }
        let message = try await jetStream.message(layout.stream, from: entry.position, filter: layout.subjects)
        guard let message, message.sequence == entry.position, message.time == entry.storedAt else { return [] }
        return message.data
    }

    /// The message that stores an event as a dead letter; its id deduplicates repetitions. Positions alone come again after the stream
    /// was deleted, or restored from an older copy.
    ///
    /// The server may accept less than when it stored the event. Then the letter omits the reason, or the payload.
    private func letter(
        _ entry: OutboxBatch.Entry,
        _ payload: [UInt8],
        _ path: String,
        at time: Timestamp,
        _ failure: DeliveryFailure?
    ) -> JetStream.Message {
        let event = OutboxEvent(id: entry.id, kind: entry.kind, createdAt: entry.createdAt, payload: payload)
        let count = entry.attempts.saturatingAdding(1)
        func letter(_ payload: [UInt8], _ reason: String?) -> JetStream.Message {
            let failure = failure.map { DeliveryFailure($0.code, reason ?? $0.reason) }
            return JetStream.Message(
                subject: layout.deadSubject(path),
                data: payload,
                headers: NATSHeaders(
                    id: "\(NATSLayout.token(path)).\(entry.position).\(NATSLayout.token(event.id))",
                    event: NATSEvent.header(event),
                    failure: NATSEvent.failureHeader(position: entry.position, at: time, count: count, failure)
                )
            )
        }
        let connection = jetStream.connection
        let whole = letter(event.payload, nil)
        guard !connection.accepts(whole.size) else { return whole }
        let brief = letter(event.payload, "")
        guard !connection.accepts(brief.size) else { return brief }
        return letter([], "without the payload, which is too large for the NATS server now: \(failure?.reason ?? "")")
    }

    /// Acknowledges events, and refuses others, and awaits the response to the last one; the server handles them in order.
    ///
    /// Without a consumer there are no leases and nothing responds; that is not an error.
    ///
    /// - Parameters:
    ///   - replies: The reply subjects of the leases.
    ///   - others: What refuses other events.
    private func acknowledge(
        _ replies: [String],
        of path: String,
        and others: [JetStream.Message] = []
    ) async throws(ConnectorError) {
        let answers = replies.map { JetStream.Message(subject: $0, data: Self.acknowledged) } + others
        guard let last = answers.last else { return }
        beginRemoving(replies.count, of: path)
        defer { endAcknowledging(replies.count, of: path) }
        for answer in answers.dropLast() { try jetStream.connection.send(answer.data, to: answer.subject) }
        do throws(ConnectorError) {
            _ = try await jetStream.send(last)
        } catch {
            let consumer = try? await jetStream.call("CONSUMER.INFO.\(layout.stream).\(NATSLayout.token(path))")
            guard case .failure(let refusal)? = consumer, refusal.lacksConsumer else { throw error }
        }
    }

    private static let acknowledged = Array("+ACK".utf8)
    private static let inProgress = Array("+WPI".utf8)
    /// Releases an event, for redelivery after a delay in nanoseconds.
    private static func refused(_ delay: UInt64) -> [UInt8] { Array("-NAK {\"delay\": \(delay)}".utf8) }

    package func release(_ path: String) {
        let replies = state.withLock { $0.leases[path]?.release(jetStream.clock.now()) ?? [] }
        for reply in replies { jetStream.connection.release(reply) }
    }

    package func dropOldest(_ bytes: Int, of path: String) async throws(ConnectorError) -> [String] {
        var idle = state.withLock { $0.leases[path]?.takeIdle() } ?? []
        var dropped: [NATSLeases.LeasedEvent] = []
        var freed = 0
        while freed < bytes {
            if idle.isEmpty { idle = try await pull(100, 1 << 20, path) }
            guard !idle.isEmpty else { break }
            let oldest = idle.removeFirst()
            freed += oldest.entry.bytes
            dropped.append(oldest)
        }
        state.withLock { $0.leases[path]?.add(idle) }
        try await giveUp(dropped, of: path)
        count(dropped: dropped.count, path)
        return dropped.map(\.entry.id)
    }

    /// Drops events of a connector that other connectors have, too. Only its own consumer changes; what a host is delivering, or is to
    /// retry at a set time, is left to it.
    ///
    /// - Parameter positions: Their sequence numbers.
    /// - Returns: How many.
    func drop(_ positions: Set<Int64>, of path: String) async throws(ConnectorError) -> Int {
        let last = positions.max() ?? 0
        var left = positions
        var passed: Set<Int64> = []
        var taken = state.withLock { $0.leases[path]?.takeIdle() } ?? []
        var isLast = false
        while true {
            let dropped = taken.filter { left.remove($0.entry.position) != nil }
            // Held until the end, so that the server does not hand them out again.
            let others = taken.filter { !positions.contains($0.entry.position) }
            passed.formUnion(others.map(\.entry.position))
            state.withLock { $0.leases[path]?.add(others) }
            try await giveUp(dropped, of: path)
            count(dropped: dropped.count, path)
            guard !left.isEmpty, !isLast else { return positions.count - left.count }
            taken = try await pull(1000, 16 << 20, path)
            // The server hands out new events after all others, and in order.
            isLast = !taken.contains { $0.entry.position <= last && !passed.contains($0.entry.position) }
        }
    }

    /// Settles leased events of a connector that are not for it.
    private func giveUp(_ events: [NATSLeases.LeasedEvent], of path: String) async throws(ConnectorError) {
        guard !events.isEmpty else { return }
        try await acknowledge(events.map(\.reply), of: path)
        state.withLock { state in
            state.noteSettled(events.map(\.entry), at: path)
            state.noteDropped(events.map(\.entry), at: path)
        }
        await forget(events)
    }

    /// Moves what other hosts have not leased, batch by batch. What they deliver or give back later is moved by a later call.
    package func reassign(_ path: String, to other: String) async throws(ConnectorError) -> Bool {
        try await learn([path])
        guard state.withLock({ $0.slots[path] }) != nil else { return true }
        // Hosts with an older tree may store events without end: those stored from now on are left to a later call.
        let last = try await schema.info(layout.stream)?["state"]?["last_seq"]?.integer ?? 0
        // Those that wait for a retry are due at the end of time.
        let end = Timestamp(nanoseconds: UInt64(Int64.max))
        let limits = BatchLimits(count: 1000, bytes: 16 << 20)
        while true {
            let batch = try await batch(for: path, upTo: limits, now: end)
            let positions = batch.entries.map(\.position)
            let leased = state.withLock { $0.leases[path]?.leased(positions) } ?? [:]
            let events = positions.compactMap { leased[$0] }
            if !events.isEmpty {
                // The name distinguishes a repetition, after a failure, from another event.
                try await put(
                    events.map { event in
                        let time = event.entry.storedAt?.nanoseconds ?? 0
                        return (event.event, "moved-\(NATSLayout.token(other))-\(event.entry.position)-\(time)")
                    },
                    for: [other]
                )
                try await giveUp(events, of: path)
            }
            state.withLock { state in
                state.leases[path]?.settle(Set(positions), retries: [], time: end, now: jetStream.clock.now())
                state.leases[path]?.endBatch()
            }
            guard positions.contains(where: { $0 <= last }) else { return true }
        }
    }

    /// Deletes dropped events that were stored for one connector only: no other host can tell them from delivered ones.
    ///
    /// They are settled, so a failure costs no more than that.
    private func forget(_ dropped: [NATSLeases.LeasedEvent]) async {
        let own = dropped.filter { $0.subject.map { layout.slots($0).count == 1 } ?? false }.map(\.entry.position)
        try? await jetStream.discard(own, of: layout.stream)
    }

    package func countDropped(_ count: Int, of path: String) async throws(ConnectorError) -> UInt64 {
        self.count(dropped: count, path)
        return nextRevision()
    }

    /// Counts events that this host dropped.
    func count(dropped: Int, _ path: String) {
        state.withLock { $0.counts[path, default: Count()].dropped += dropped }
    }

    // MARK: Leases

    /// Schedules the renewal of leases during a long delivery.
    private func scheduleRenewal() {
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
            for path in state.leases.keys { replies += state.leases[path]?.renewal(now) ?? [] }
            return (replies, !replies.isEmpty)
        }
        for reply in replies { try? jetStream.connection.send(Self.inProgress, to: reply) }
        if isBusy { scheduleRenewal() }
    }
}
