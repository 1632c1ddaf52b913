// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// Checks and creates the streams and consumers of an outbox.
struct NATSSchema: Sendable {
    let jetStream: JetStream
    let layout: NATSLayout
    /// The application whose events these are; nil if its file has no name.
    let application: String?

    /// The settings and the state of a stream; nil if it does not exist.
    func info(_ stream: String, _ body: JSONValue? = nil) async throws(ConnectorError) -> JSONValue? {
        switch try await jetStream.call("STREAM.INFO.\(stream)", body) {
        case .success(let answer): return answer
        case .failure(let refusal) where refusal.lacksStream: return nil
        case .failure(let refusal): throw jetStream.error(refusal)
        }
    }

    /// Checks that the streams and consumers exist and have the right settings. Changes nothing.
    ///
    /// - Returns: The consumers, by connector.
    /// - Throws: `missing` if one does not exist, `conflict` if its settings are wrong.
    func check(_ paths: [String], replicas: Int) async throws(ConnectorError) -> [String: Consumer] {
        try await checkStreams(replicas: replicas)
        let consumers = try await consumers(paths)
        let absent = paths.filter { consumers[$0] == nil }.sorted()
        guard absent.isEmpty else {
            throw jetStream.missing("the stream \(layout.stream) has no consumer for \(absent.joined(separator: ", "))")
        }
        return consumers
    }

    /// Checks that the streams exist and have the right settings. Changes nothing.
    func checkStreams(replicas: Int) async throws(ConnectorError) {
        try checkSize()
        for (stream, wanted) in streams(replicas) {
            guard let info = try await info(stream) else { throw jetStream.missing(stream: stream) }
            try check(info, wanted, stream)
        }
    }

    /// Checks that the server accepts messages that are large enough for the reason of a dead letter.
    private func checkSize() throws(ConnectorError) {
        guard !jetStream.connection.accepts(NATSEngine.letterReserve) else { return }
        throw wrong(
            "the NATS server accepts no message of \(NATSEngine.letterReserve) bytes",
            fix: "increase max_payload of the server, or of the user: dead letters have their reasons with them"
        )
    }

    private func streams(_ replicas: Int) -> [(String, JSONObject)] {
        [
            (layout.stream, layout.stream(replicas: replicas)),
            (layout.deadStream, layout.deadStream(replicas: replicas)),
        ]
    }

    /// The start of the description of a stream, before the name of its application.
    private static let ownership = "connector-host outbox of "

    private func check(_ info: JSONValue, _ wanted: JSONObject, _ stream: String) throws(ConnectorError) {
        if let application, let text = info["config"]?["description"]?.string, text.hasPrefix(Self.ownership),
            text != Self.ownership + application
        {
            let owner = text.dropFirst(Self.ownership.count)
            throw wrong(
                "the stream \(stream) is that of the application \"\(owner)\", not of \"\(application)\", and hosts of both would deliver "
                    + "each other's events",
                fix:
                    "set another \"stream\" in \"outbox\" of connectors.json; to share it, change its description with the tools of NATS"
            )
        }
        guard info["config"]?["deny_delete"]?.bool != true else {
            throw wrong("the stream \(stream) keeps what is settled forever: its deny_delete is set")
        }
        // Only dead letters may expire.
        for key in stream == layout.stream ? ["max_age", "max_msgs_per_subject"] : [] {
            guard let limit = info["config"]?[key]?.integer, limit > 0 else { continue }
            throw wrong("the stream \(stream) deletes events that wait: its \(key) is \(limit)")
        }
        guard info["config"]?["no_ack"]?.bool != true else {
            throw wrong("the stream \(stream) does not confirm what it stores: its no_ack is set")
        }
        for key in ["subjects", "retention", "storage", "num_replicas", "discard"] {
            guard let value = wanted[key], info["config"]?[key] != value else { continue }
            // Another host may ask for more replicas.
            if key == "num_replicas", info["config"]?[key]?.integer ?? 0 > value.integer ?? 0 { continue }
            let found = info["config"]?[key].map { String(decoding: $0.utf8(), as: UTF8.self) } ?? "nothing"
            throw wrong(
                "the stream \(stream) has \(found) as \(key), not \(String(decoding: value.utf8(), as: UTF8.self))"
            )
        }
    }

    // MARK: Migrating

    /// Creates missing streams, and updates the number of replicas to that of the configuration.
    ///
    /// - Parameter done: Receives a sentence for each change.
    /// - Throws: `conflict` for other wrong settings, which only an operator can resolve.
    func migrateStreams(replicas: Int, _ done: inout [String]) async throws(ConnectorError) {
        try checkSize()
        for (stream, wanted) in streams(replicas) {
            guard let info = try await info(stream) else {
                var config = wanted
                config["description"] = application.map { JSONValue.string(Self.ownership + $0) }
                _ = try await jetStream.request("STREAM.CREATE.\(stream)", .object(config))
                done.append("created the stream \(stream)")
                continue
            }
            let count = info["config"]?["num_replicas"]?.integer
            if count != Int64(replicas), var config = info["config"]?.object {
                config["num_replicas"] = .integer(Int64(replicas))
                _ = try await jetStream.request("STREAM.UPDATE.\(stream)", .object(config))
                done.append("changed the replicas of the stream \(stream) from \(count ?? 0) to \(replicas)")
            }
            guard let updated = try await self.info(stream) else { continue }
            try check(updated, wanted, stream)
        }
    }

    /// Creates the missing consumers of connectors.
    ///
    /// - Parameters:
    ///   - lease: How long a host may hold an event without renewing its lease, in nanoseconds.
    ///   - done: Receives a sentence for each change.
    /// - Throws: `conflict` if two consumers share a slot, or one has the name of another program's.
    func addConsumers(_ paths: [String], lease: UInt64, _ done: inout [String]) async throws(ConnectorError) {
        var consumers = try await consumers()
        let used = Set(consumers.values.map(\.slot))
        // A new connector gets no slot for which events are stored, either: they are another connector's, whose consumer was deleted.
        let stored = try await storedSlots()
        for path in paths.sorted() where consumers[path] == nil {
            let name = NATSLayout.token(path)
            guard name.utf8.count <= 200 else {
                throw ConnectorError(.invalidValue, "the path is too long for the name of a consumer", connector: path)
            }
            let creation = try await create(path, lease: lease, besides: Set(stored.keys), known: consumers)
            consumers = creation.consumers
            if creation.isNew { done.append("created the consumer of \(path)") }
        }
        _ = try await self.consumers()
        let stranded = stored.filter { !used.contains($0.key) }.values.reduce(0) { $0.saturatingAdding($1) }
        if stranded > 0, !done.isEmpty {
            done.append(
                "warning: \(stranded) \(stranded == 1 ? "event is" : "events are") stored for connectors whose consumers were deleted; "
                    + "no host delivers them, not even to a connector that has the same path again"
            )
        }
    }

    /// Creates the consumer of a connector, in a slot that no other one has.
    ///
    /// Another program may choose the same slot at the same time. One that then finds its consumer alone keeps it: the other one is created
    /// later, and its program finds both. The later of two that share a slot is deleted by the program that created it, since nothing can
    /// have been stored for it yet, and gets another slot after a random time.
    ///
    /// To create a consumer that exists would change its filter, and strand its events; so its name is looked up before, also among those
    /// that are not the outbox's.
    ///
    /// - Parameters:
    ///   - taken: The slots for which events are stored.
    ///   - known: The consumers as last read.
    /// - Returns: Whether this created it, and the consumers as last read.
    private func create(
        _ path: String,
        lease: UInt64,
        besides taken: Set<Int>,
        known: [String: Consumer]
    ) async throws(ConnectorError) -> (isNew: Bool, consumers: [String: Consumer]) {
        let name = NATSLayout.token(path)
        var known = known
        for _ in 1...Self.creations {
            if known[path] != nil { return (false, known) }
            if case .success(let other) = try await jetStream.call("CONSUMER.INFO.\(layout.stream).\(name)") {
                guard ownSlot(of: other["config"], path) != nil else {
                    throw wrong(
                        "the consumer \(name) exists, but its description or its filter is not that of \(path)",
                        fix: "delete it with the tools of NATS, or make \(path) its description if it is meant for that"
                    )
                }
                known = try await list(nil)
                continue
            }
            let slot = (taken.union(known.values.map(\.slot)).max() ?? -1) + 1
            let answer = try await jetStream.call(
                "CONSUMER.DURABLE.CREATE.\(layout.stream).\(name)",
                [
                    "stream_name": .string(layout.stream),
                    "config": .object(layout.consumer(path, slot: slot, lease: lease)),
                    // Servers from 2.10 on then refuse to change one that exists.
                    "action": "create",
                ]
            )
            switch answer {
            case .failure(let refusal) where refusal.consumerExists:
                known = try await list(nil)
                continue
            case .failure(let refusal): throw jetStream.error(refusal)
            case .success: break
            }
            for reading in 1...Self.slotReadings {
                known = try await list(nil)
                guard let consumer = known[path] else { break }
                let others = known.values.filter { $0.slot == consumer.slot && $0.path != path }
                guard !others.isEmpty else { return (true, known) }
                // One whose program does not give it up is older, whatever the clocks of the servers say.
                if reading == Self.slotReadings || others.contains(where: { $0.isOlder(than: consumer) }) {
                    _ = try await jetStream.call("CONSUMER.DELETE.\(layout.stream).\(name)")
                    await jetStream.wait(for: .random(in: 0...jetStream.waits.pause))
                    known = try await list(nil)
                    break
                }
                await jetStream.wait(for: jetStream.waits.pause)
            }
        }
        throw wrong("other programs create consumers at the same time", fix: "run the command again")
    }

    /// How often to choose a slot for a consumer.
    private static let creations = 50

    /// How many events are stored for each slot, those that are settled but not trimmed included.
    private func storedSlots() async throws(ConnectorError) -> [Int: Int] {
        let info = try await info(layout.stream, ["subjects_filter": .string(layout.subjects)])
        var slots: [Int: Int] = [:]
        for subject in info?["state"]?["subjects"]?.object?.members ?? [] {
            guard subject.name.hasPrefix("\(layout.stream).e.") else { continue }
            let count = Int(clamping: max(0, subject.value.integer ?? 0))
            for slot in layout.slots(subject.name) { slots[slot] = (slots[slot] ?? 0).saturatingAdding(count) }
        }
        return slots
    }

    /// How to create what is missing.
    static let migration = "run: connector-host outbox migrate, with the --config of this host if it has one"

    /// The error for settings that only an operator can correct.
    func wrong(_ message: String, fix: String? = nil) -> ConnectorError {
        jetStream.connection.error(
            .conflict,
            "the outbox cannot be used: \(message)",
            fix: fix
                ?? "set another \"stream\" in \"outbox\" of connectors.json, or change it with the tools of NATS; connector-host outbox migrate only changes the number of replicas"
        )
    }
}

extension JSONValue {
    /// A count in a server's response; 0 if it is missing or negative.
    func count(_ name: String) -> Int { Int(clamping: max(0, self[name]?.integer ?? 0)) }
}
