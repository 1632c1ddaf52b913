// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// Checks and creates the streams and consumers of an outbox.
struct NATSSchema: Sendable {
    let jetStream: JetStream
    let layout: NATSLayout

    /// The state of a connector's consumer.
    struct Consumer: Sendable {
        /// The connector.
        var path: String
        var slot: Int
        /// How long a host may hold an event without renewing its lease, in nanoseconds.
        var lease: UInt64
        /// The number of events not yet delivered to a host.
        var pending: Int
        /// The number of events leased by a host or waiting for a retry.
        var leased: Int
        /// The sequence number up to which every event is settled.
        var floor: Int64
        /// The sequence number of the last event delivered to a host.
        var last: Int64
    }

    /// The consumers of the stream, by connector.
    ///
    /// - Parameter expected: The connectors whose consumers must respond; nil for all consumers of the stream. Other
    ///   consumers for which no server responds are left out, such as those with which an operator inspects the stream.
    /// - Throws: `conflict` if two share a slot, or the settings of one are wrong; `storage` if no server responds for one in time.
    func consumers(_ expected: [String]? = nil) async throws(ConnectorError) -> [String: Consumer] {
        let names = expected.map { Set($0.map(NATSLayout.token)) }
        var consumers: [String: Consumer] = [:]
        var offset: Int64 = 0
        let deadline = jetStream.clock.now().saturatingAdding(jetStream.waits.limit)
        while true {
            let known = consumers.count
            let answer = try await jetStream.request("CONSUMER.LIST.\(layout.stream)", ["offset": .integer(offset)])
            let absent = answer["missing"]?.array?.compactMap(\.string).filter { names?.contains($0) ?? true } ?? []
            if !absent.isEmpty {
                // None does while the cluster elects leaders for them, after the loss of a server.
                let words = "no server responds for the consumers \(absent.joined(separator: ", "))"
                let notice = JetStream.Refusal(code: 503, number: 0, description: words)
                try await jetStream.backOff(isReachable: false, notice, until: deadline)
                continue
            }
            let page = answer["consumers"]?.array ?? []
            for element in page {
                let config = element["config"]
                guard let name = config?["durable_name"]?.string, let path = NATSLayout.path(name),
                    let slot = layout.slot(config?["filter_subject"]?.string ?? "")
                else { continue }
                guard config?["ack_policy"]?.string == "explicit" else {
                    throw wrong("the consumer \(name) does not acknowledge each event")
                }
                if let most = config?["max_deliver"]?.integer, most > 0 {
                    throw wrong("the consumer \(name) loses an event after \(most) attempts: its max_deliver is set")
                }
                guard config?["headers_only"]?.bool != true else {
                    throw wrong("the consumer \(name) leaves out the payloads: its headers_only is set")
                }
                if let subject = config?["deliver_subject"]?.string, !subject.isEmpty {
                    throw wrong("the consumer \(name) hands out nothing on request: its deliver_subject is set")
                }
                if let time = config?["inactive_threshold"]?.integer, time > 0 {
                    throw wrong("the consumer \(name) ends while no host runs: its inactive_threshold is set")
                }
                consumers[path] = Consumer(
                    path: path,
                    slot: slot,
                    lease: UInt64(max(0, config?["ack_wait"]?.integer ?? 0)),
                    pending: element.count("num_pending"),
                    leased: element.count("num_ack_pending"),
                    floor: Int64(min(element["ack_floor"]?.count("stream_seq") ?? 0, .max - 1)),
                    last: Int64(element["delivered"]?.count("stream_seq") ?? 0)
                )
            }
            offset += Int64(page.count)
            guard offset < answer["total"]?.integer ?? 0 else { break }
            // A page may contain only foreign consumers. The limit ends the loop if a server keeps repeating a page.
            guard !page.isEmpty, consumers.count > known || offset < Self.consumerLimit else { break }
        }
        let slots = Dictionary(grouping: consumers.values, by: \.slot)
        if let both = slots.values.first(where: { $0.count > 1 }) {
            throw wrong("\(both.map(\.path).sorted().joined(separator: " and ")) share a slot in the subjects")
        }
        return consumers
    }

    /// The maximum number of consumers to list without finding one of the outbox.
    private static let consumerLimit: Int64 = 10_000

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
    func check(_ targets: [String], replicas: Int) async throws(ConnectorError) -> [String: Consumer] {
        for (stream, wanted) in streams(replicas) {
            guard let info = try await info(stream) else {
                throw missing(stream: stream)
            }
            try check(info, wanted, stream)
        }
        let consumers = try await consumers(targets)
        let absent = targets.filter { consumers[$0] == nil }.sorted()
        guard absent.isEmpty else {
            throw missing("the stream \(layout.stream) has no consumer for \(absent.joined(separator: ", "))")
        }
        return consumers
    }

    private func streams(_ replicas: Int) -> [(String, JSONObject)] {
        [
            (layout.stream, layout.stream(replicas: replicas)),
            (layout.deadStream, layout.deadStream(replicas: replicas)),
        ]
    }

    private func check(_ info: JSONValue, _ wanted: JSONObject, _ stream: String) throws(ConnectorError) {
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
            let found = info["config"]?[key].map { String(decoding: $0.utf8(), as: UTF8.self) } ?? "nothing"
            throw wrong(
                "the stream \(stream) has \(found) as \(key), not \(String(decoding: value.utf8(), as: UTF8.self))"
            )
        }
    }

    // MARK: Migrating

    /// Creates missing streams and consumers, and updates the number of replicas to that of the configuration.
    ///
    /// - Parameter lease: How long a host may hold an event without renewing its lease, in nanoseconds.
    /// - Returns: A sentence for each change.
    /// - Throws: `conflict` for other wrong settings, which only an operator can resolve.
    func migrate(_ targets: [String], replicas: Int, lease: UInt64) async throws(ConnectorError) -> [String] {
        var done: [String] = []
        for (stream, wanted) in streams(replicas) {
            guard let info = try await info(stream) else {
                _ = try await jetStream.request("STREAM.CREATE.\(stream)", .object(wanted))
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
        let consumers = try await consumers()
        let stored = try await storedSlots()
        let used = Set(consumers.values.map(\.slot))
        // Nor does a new connector get a slot for which events are stored: they are for another one, whose consumer was deleted.
        var next = (used.union(stored.keys).max() ?? -1) + 1
        for path in targets.sorted() where consumers[path] == nil {
            let name = NATSLayout.token(path)
            guard name.utf8.count <= 200 else {
                throw ConnectorError(.invalidValue, "the path is too long for the name of a consumer", connector: path)
            }
            let config = layout.consumer(path, slot: next, lease: lease)
            _ = try await jetStream.request(
                "CONSUMER.DURABLE.CREATE.\(layout.stream).\(name)",
                ["stream_name": .string(layout.stream), "config": .object(config)]
            )
            done.append("created the consumer of \(path)")
            next += 1
        }
        _ = try await self.consumers()
        let stranded = stored.filter { !used.contains($0.key) }.values.reduce(0) { $0.saturatingAdding($1) }
        if stranded > 0, !done.isEmpty {
            done.append(
                "warning: \(stranded) \(stranded == 1 ? "event is" : "events are") stored for connectors whose consumers were deleted; "
                    + "no host delivers them, not even to a connector that has the same path again"
            )
        }
        return done
    }

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

    /// The error for a stream that does not exist.
    func missing(stream: String) -> ConnectorError { missing("the NATS servers have no stream \(stream)") }

    private func missing(_ message: String) -> ConnectorError {
        jetStream.connection.error(
            .missing,
            "the outbox is not prepared: \(message)",
            fix: Self.migration
        )
    }

    private func wrong(_ message: String) -> ConnectorError {
        jetStream.connection.error(
            .conflict,
            "the outbox cannot be used: \(message)",
            fix:
                "set another \"stream\" in \"outbox\" of connectors.json, or change it with the tools of NATS; connector-host outbox migrate only changes the number of replicas"
        )
    }
}

extension JSONValue {
    /// A count in a server's response; 0 if it is missing or negative.
    func count(_ name: String) -> Int { Int(clamping: max(0, self[name]?.integer ?? 0)) }
}
