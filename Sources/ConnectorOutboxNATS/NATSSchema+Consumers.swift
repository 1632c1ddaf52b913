// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox
internal import ConnectorPlatform

/// Reading the consumers, and checking their settings.
extension NATSSchema {
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
        /// How many events it has handed out, those that it handed out again included.
        var deliveries = 0
        /// The sequence number up to which every event is settled.
        var floor: Int64
        /// The sequence number of the last event delivered to a host.
        var last: Int64
        /// When it was created; nil if the server does not say.
        var created: Timestamp?
        /// The server that leads it; nil outside clusters.
        var leader: String?
        /// What is wrong with its settings; nil if nothing is.
        var fault: ConnectorError?
        /// Whether its settings lose or misdirect what it hands out, so that nothing may be leased until they are right.
        var isUnsafe = false

        /// The number of events that wait.
        var waiting: Int { pending.saturatingAdding(leased) }

        /// Whether another consumer was created later.
        func isOlder(than other: Self) -> Bool {
            (created?.nanoseconds ?? 0, path) < (other.created?.nanoseconds ?? 0, other.path)
        }
    }

    /// The consumers of the stream, by connector, all of which have the right settings.
    ///
    /// - Throws: `conflict` if those of one are wrong; see also ``readConsumers(_:)``.
    func consumers(_ expected: [String]? = nil) async throws(ConnectorError) -> [String: Consumer] {
        try checked(try await readConsumers(expected))
    }

    /// Returns consumers if all of them have the right settings.
    ///
    /// - Throws: What is wrong with the first one that has not.
    func checked(_ consumers: [String: Consumer]) throws(ConnectorError) -> [String: Consumer] {
        let faulty = consumers.values.filter { $0.fault != nil }
        if let fault = faulty.min(by: { $0.path < $1.path })?.fault { throw fault }
        return consumers
    }

    /// The consumers of the stream, by connector, whatever their settings. Two that share a slot are read again for a while: two programs
    /// that create consumers at one time resolve that by themselves.
    ///
    /// - Parameter expected: The connectors whose consumers must respond; nil for all consumers of the stream. Other
    ///   consumers for which no server responds are left out, such as those with which an operator inspects the stream.
    /// - Throws: `missing` if there is no stream; `storage` if no server responds for a consumer in time.
    func readConsumers(_ expected: [String]? = nil) async throws(ConnectorError) -> [String: Consumer] {
        var readings = 1
        while true {
            var consumers = try await list(expected)
            let shared = Dictionary(grouping: consumers.values, by: \.slot).values.filter { $0.count > 1 }
            guard !shared.isEmpty else { return consumers }
            guard readings < Self.slotReadings, !Task.isCancelled else {
                for paths in shared.map({ $0.map(\.path).sorted() }) {
                    let fault = wrong(
                        "\(paths.joined(separator: " and ")) share a slot in the subjects",
                        fix:
                            "stop the hosts, delete with the tools of NATS the consumer of the connector that was added last, and \(Self.migration)"
                    )
                    for path in paths {
                        consumers[path]?.fault = fault
                        consumers[path]?.isUnsafe = true
                    }
                }
                return consumers
            }
            await jetStream.wait(for: jetStream.waits.pause)
            readings += 1
        }
    }

    /// How often to read the consumers until none share a slot.
    static let slotReadings = 10

    /// The consumers of the stream, by connector, also those that share a slot.
    func list(_ expected: [String]?) async throws(ConnectorError) -> [String: Consumer] {
        let names = expected.map { Set($0.map(NATSLayout.token)) }
        var consumers: [String: Consumer] = [:]
        var offset: Int64 = 0
        let deadline = jetStream.clock.now().saturatingAdding(jetStream.waits.limit)
        while true {
            let known = consumers.count
            let answer = try await jetStream.request(
                "CONSUMER.LIST.\(layout.stream)",
                ["offset": .integer(offset)],
                of: layout.stream
            )
            let absent = answer["missing"]?.array?.compactMap(\.string).filter { names?.contains($0) ?? true } ?? []
            if !absent.isEmpty {
                // None does while the cluster elects leaders for them, after the loss of a server.
                let words = "no server responds for the consumers \(absent.joined(separator: ", "))"
                let notice = JetStream.Refusal(code: 503, number: 0, description: words)
                try await jetStream.backOff(isReachable: false, notice, until: deadline)
                continue
            }
            let page = answer["consumers"]?.array ?? []
            for consumer in page.compactMap(parse) { consumers[consumer.path] = consumer }
            offset += Int64(page.count)
            guard offset < answer["total"]?.integer ?? 0 else { break }
            // A page may contain only foreign consumers. The limit ends the loop if a server keeps repeating a page.
            guard !page.isEmpty, consumers.count > known || offset < Self.consumerLimit else { break }
        }
        return consumers
    }

    /// The maximum number of consumers to list without finding one of the outbox.
    private static let consumerLimit: Int64 = 10_000

    /// Parses what a server says of a consumer; nil for one that is not a connector's.
    private func parse(_ info: JSONValue) -> Consumer? {
        let config = info["config"]
        guard let name = config?["durable_name"]?.string, let path = NATSLayout.path(name),
            let slot = ownSlot(of: config, path)
        else { return nil }
        var consumer = Consumer(
            path: path,
            slot: slot,
            lease: UInt64(max(0, config?["ack_wait"]?.integer ?? 0)),
            pending: info.count("num_pending"),
            leased: info.count("num_ack_pending"),
            deliveries: info["delivered"]?.count("consumer_seq") ?? 0,
            floor: Int64(min(info["ack_floor"]?.count("stream_seq") ?? 0, .max - 1)),
            last: Int64(info["delivered"]?.count("stream_seq") ?? 0),
            created: info["created"]?.string.flatMap { Timestamp(parsing: $0) },
            leader: info["cluster"]?["leader"]?.string
        )
        if let loss = Self.loss(by: config) {
            (consumer.fault, consumer.isUnsafe) = (wrong("the consumer \(name) \(loss)"), true)
        } else if let time = config?["inactive_threshold"]?.integer, time > 0 {
            // It would end sooner if nothing were leased from it.
            consumer.fault = wrong("the consumer \(name) ends while no host runs: its inactive_threshold is set")
        }
        return consumer
    }

    /// How the settings of a consumer lose what it hands out; nil if they do not.
    private static func loss(by config: JSONValue?) -> String? {
        if config?["ack_policy"]?.string != "explicit" { return "does not acknowledge each event" }
        if let most = config?["max_deliver"]?.integer, most > 0 {
            return "loses an event after \(most) \(most == 1 ? "attempt" : "attempts"): its max_deliver is set"
        }
        if config?["headers_only"]?.bool == true { return "leaves out the payloads: its headers_only is set" }
        if config?["deliver_subject"]?.string?.isEmpty == false {
            return "hands out nothing on request: its deliver_subject is set"
        }
        return nil
    }

    /// The slot of a connector's consumer; nil for a consumer that is not the connector's. The description tells it from those that an
    /// operator makes to look at the events.
    func ownSlot(of config: JSONValue?, _ path: String) -> Int? {
        config?["description"]?.string == path ? layout.slot(config?["filter_subject"]?.string ?? "") : nil
    }
}
