// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorOutbox
internal import Synchronization

/// Reading, replaying and dropping records. Each call scans the streams from the beginning, message by message.
extension NATSEngine {
    /// A dead letter, and its position.
    private struct Letter {
        /// Its sequence number in the stream of dead letters.
        var number: Int64
        /// When it was stored there.
        var storedAt: Timestamp?
        /// The sequence number that the event had in the stream of waiting events.
        var position: Int64
        var record: OutboxRecord
    }

    /// A stored event, and its connectors.
    private struct Stored {
        /// Its sequence number in the stream.
        var position: Int64
        var event: OutboxEvent
        /// The connectors that have not settled it.
        var waiting: [String]
        /// The connectors that have settled it.
        var settled: [String]
    }

    /// Calls a body with every message of a stream that matches a filter, oldest first, until it returns false.
    ///
    /// - Parameter first: The sequence number to start at.
    private func read(
        _ stream: String,
        from first: Int64,
        _ filter: String,
        _ body: (NATSMessage, Int64) -> Bool
    ) async throws(ConnectorError) {
        var next = Swift.max(1, first)
        while !Task.isCancelled, let message = try await jetStream.message(stream, from: next, filter: filter) {
            // The parsed sequence number is below the maximum, so this does not overflow.
            guard let sequence = message.sequence, sequence >= next, body(message, sequence) else { return }
            next = sequence + 1
        }
    }

    /// The dead letters in a selection.
    private func letters(_ selection: RecordSelection) async throws(ConnectorError) -> [Letter] {
        guard selection.states?.contains(.dead) ?? true else { return [] }
        var letters: [Letter] = []
        let filter =
            selection.paths?.count == 1
            ? selection.paths?.first.map { layout.deadSubject($0) } ?? layout.deadSubjects : layout.deadSubjects
        // Every dead letter has a unique number.
        let last = selection.after.map { Int64(clamping: $0.position) } ?? 0
        try await read(layout.deadStream, from: last, filter) { message, number in
            guard number > last, let path = message.subject.flatMap({ layout.path(ofDead: $0) }),
                selection.paths?.contains(path) ?? true
            else { return true }
            let event = NATSEvent.event(message, at: number)
            guard selection.ids?.contains(event.id) ?? true else { return true }
            var failure = NATSEvent.failure(message)
            // Another host may have written the reason: redact the secrets of this one.
            if let reason = failure?.attempt.failure?.reason {
                failure?.attempt.failure?.reason = jetStream.connection.redact(reason)
            }
            letters.append(
                Letter(
                    number: number,
                    storedAt: message.time,
                    position: failure?.position ?? 0,
                    record: OutboxRecord(
                        path: path,
                        event: event,
                        state: .dead,
                        attempts: failure.map { [$0.attempt] } ?? [],
                        cursor: RecordCursor(position: UInt64(clamping: number), path: path)
                    )
                )
            )
            return letters.count < selection.limit
        }
        return letters
    }

    /// The events in the stream that match the ids and connectors of a selection.
    ///
    /// - Parameter parts: The results for an event; each counts towards the limit.
    private func stored<Part>(
        _ selection: RecordSelection,
        _ parts: (Stored) -> [Part]
    ) async throws(ConnectorError) -> [Part] {
        var stored: [Part] = []
        let consumers = try await consumers()
        let settled = state.withLock(\.settled)
        let only = selection.paths?.count == 1 ? selection.paths?.first : nil
        guard only == nil || only.flatMap({ consumers[$0] }) != nil else { return [] }
        let filter = only.flatMap { consumers[$0] }.map { layout.filter($0.slot) } ?? layout.subjects
        let first = selection.after.map { Int64(clamping: $0.position) } ?? 0
        try await read(layout.stream, from: first, filter) { message, position in
            let event = NATSEvent.event(message, at: position)
            guard selection.ids?.contains(event.id) ?? true else { return true }
            let slots = Set(layout.slots(message.subject ?? ""))
            let recipients = consumers.values.filter { slots.contains($0.slot) }
            let waiting = recipients.filter { consumer in
                position > consumer.floor
                    && settled[consumer.path]?.contains(position, storedAt: message.time) != true
            }
            .map(\.path)
            stored += parts(
                Stored(
                    position: position,
                    event: event,
                    waiting: waiting.sorted(),
                    settled: recipients.map(\.path).filter { !waiting.contains($0) }.sorted()
                )
            )
            return stored.count < selection.limit
        }
        return stored
    }

    package func records(_ selection: RecordSelection) async throws(ConnectorError) -> [OutboxRecord] {
        var all = selection
        all.states = nil
        all.limit = .max
        all.after = nil
        let isForDead = selection.states == [.dead]
        let letters = try await letters(isForDead ? selection : all)
        let dead = Set(
            letters.map { EventReference(path: $0.record.path, position: $0.position, id: $0.record.event.id) }
        )
        var records = letters.map { (position: $0.position, record: $0.record) }
            .filter { selection.states?.contains($0.record.state) ?? true }
        if !isForDead {
            let dropped = state.withLock(\.dropped)
            let references = Set(
                dropped.map { EventReference(path: $0.path, position: $0.position, id: $0.event.id) }
            )
            records += try await stored(selection) { stored in
                Self.storedRecords(stored, selection, without: dead, dropped: references).map { (stored.position, $0) }
            }
            records += Self.droppedRecords(dropped, selection, besides: records.map(\.record)).map { (.max, $0) }
        }
        return Array(
            records.sorted { ($0.record.event.createdAt, $0.position) < ($1.record.event.createdAt, $1.position) }
                .prefix(selection.limit)
                .map(\.record)
        )
    }

    /// The records of a stored event at each selected connector, except those where it is a dead letter.
    private static func storedRecords(
        _ stored: Stored,
        _ selection: RecordSelection,
        without dead: Set<EventReference>,
        dropped: Set<EventReference>
    ) -> [OutboxRecord] {
        var records: [OutboxRecord] = []
        for (paths, isWaiting) in [(stored.waiting, true), (stored.settled, false)] {
            for path in paths where selection.paths?.contains(path) ?? true {
                let cursor = RecordCursor(position: UInt64(clamping: stored.position), path: path)
                let reference = EventReference(path: path, position: stored.position, id: stored.event.id)
                let state: OutboxRecord.State =
                    isWaiting ? .queued : dropped.contains(reference) ? .dropped : .delivered
                guard selection.states?.contains(state) ?? true, selection.after.map({ cursor > $0 }) ?? true,
                    !dead.contains(reference)
                else { continue }
                records.append(
                    OutboxRecord(path: path, event: stored.event, state: state, attempts: [], cursor: cursor)
                )
            }
        }
        return records
    }

    /// The records of dropped events with the ids of a selection that are no longer stored. None for a selection
    /// without ids, which is read from the streams alone.
    private static func droppedRecords(
        _ dropped: [DroppedEvent],
        _ selection: RecordSelection,
        besides others: [OutboxRecord]
    ) -> [OutboxRecord] {
        guard let ids = selection.ids, selection.after == nil, selection.states?.contains(.dropped) ?? true else {
            return []
        }
        return dropped.filter { dropped in
            ids.contains(dropped.event.id) && selection.paths?.contains(dropped.path) ?? true
                && !others.contains { $0.path == dropped.path && $0.event.id == dropped.event.id }
        }
        .map { OutboxRecord(path: $0.path, event: $0.event, state: .dropped, attempts: []) }
    }

    /// An event at a connector. Its position alone may have belonged to another event, in a stream that was deleted or restored.
    private struct EventReference: Hashable {
        var path: String
        var position: Int64
        var id: String
    }

    package func replay(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        var selection = selection
        selection.states = nil
        var count = 0
        // A letter whose payload the servers no longer accepted has none: nothing could be delivered.
        for letter in try await letters(selection) where !letter.record.event.payload.isEmpty {
            // Numbers come again after the stream of dead letters was deleted: without the time, the servers would take the event for
            // the one that had the number before.
            let name = "replayed-\(letter.number)-\(letter.storedAt?.nanoseconds ?? 0)"
            try await put([(letter.record.event, name)], for: [letter.record.path])
            do throws(ConnectorError) {
                if try await jetStream.delete(letter.number, of: layout.deadStream) { count += 1 }
            } catch {
                var error = error
                error.message += "; event \(letter.record.event.id) is in the queue again, and still a dead letter, too"
                throw error
            }
        }
        return count
    }

    package func drop(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        var count = 0
        for letter in try await letters(selection) {
            guard try await jetStream.delete(letter.number, of: layout.deadStream) else { continue }
            noteDropped(letter.record.event, letter.position, letter.record.path)
            count += 1
        }
        guard selection.states?.contains(.queued) ?? true else { return count }
        var shared: [String: Set<Int64>] = [:]
        for stored in try await stored(selection, { [$0] }) {
            let dropped = stored.waiting.filter { selection.paths?.contains($0) ?? true }
            guard !dropped.isEmpty else { continue }
            // A message that other connectors wait for stays.
            guard dropped.count == stored.waiting.count else {
                for path in dropped { shared[path, default: []].insert(stored.position) }
                continue
            }
            for path in dropped { beginRemoving(1, of: path) }
            defer { for path in dropped { endDeleting(1, of: path) } }
            guard try await jetStream.delete(stored.position, of: layout.stream) else { continue }
            for path in dropped { noteDropped(stored.event, stored.position, path) }
            count += dropped.count
        }
        for (path, positions) in shared { count += try await drop(positions, of: path) }
        return count
    }

    /// Counts and remembers an event that an operator has dropped.
    private func noteDropped(_ event: OutboxEvent, _ position: Int64, _ path: String) {
        count(dropped: 1, path)
        let entry = OutboxBatch.Entry(position: position, attempts: 0, event: event)
        state.withLock { $0.noteDropped([entry], at: path) }
    }

    /// Stores each event under another message id: the servers would take the same id for a repetition, and not store the event. The id
    /// names the record, so that two hosts that do this at one time store each event once.
    package func store(_ records: [OutboxRecord], alsoFor path: String) async throws(ConnectorError) {
        let named = records.map { record in
            let place = record.cursor?.position ?? UInt64.random(in: .min ... .max)
            let time = record.attempts.last?.at.nanoseconds ?? 0
            return (record.event, "moved-\(NATSLayout.token(path))-\(place)-\(time)")
        }
        try await put(named, for: [path])
    }

    /// Stores events again, with ids that the server does not treat as duplicates.
    ///
    /// - Parameter named: Each event, and what its message id has in addition to its own id.
    func put(_ named: [(OutboxEvent, String)], for paths: [String]) async throws(ConnectorError) {
        let subject = layout.subject(try await slots(paths))
        let messages = named.map { event, name in
            JetStream.Message(
                subject: subject,
                data: event.payload,
                headers: NATSHeaders(id: "\(NATSLayout.token(event.id)).\(name)", event: NATSEvent.header(event))
            )
        }
        _ = try await publish(messages)
    }
}
