// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest

/// A host with the adapter of Segment, which delivers to a sink.
struct OutboxTarget {
    private let host: ConnectorHost
    private let folder: String
    private let analytics: AnalyticsClient

    /// Makes a host with an empty outbox, whose gate is closed.
    ///
    /// - Parameters:
    ///   - files: The folder that the Makefile built.
    ///   - port: Where the sink listens.
    ///   - delivery: `queued` or `direct`.
    ///   - isolation: `none` or `process`.
    ///   - servers: Where the outbox is; nil for a file.
    init(
        files: String,
        port: Int,
        delivery: String = "queued",
        isolation: String = "none",
        servers: Cluster? = nil
    ) throws {
        folder = "\(files)/outbox"
        _ = try ChildProcess.output(["rm", "-rf", folder])
        _ = try ChildProcess.output(["mkdir", folder])
        var connector: JSONObject = [
            "name": "analytics", "plugin": "segment", "delivery": .string(delivery), "isolation": .string(isolation),
            "config": ["endpoint": .string("http://127.0.0.1:\(port)"), "writeKey": "key"],
        ]
        if delivery == "queued" { connector["outbox"] = ["batch": ["count": 100]] }
        var file: JSONObject = [
            "version": 1, "state": "state", "plugins": ["../segment"], "connectors": [.object(connector)],
        ]
        if let servers { file["outbox"] = ["engine": "nats", "url": .string(servers.url), "replicas": 3] }
        try ResultsFile.write(.object(file), to: "\(folder)/connectors.json")
        host = try ConnectorHost(file: "\(folder)/connectors.json")
        analytics = try host.analytics("analytics")
    }

    /// Makes the streams of an outbox on servers, as soon as the servers have agreed on a leader.
    func prepare() async throws {
        var attempts = 0
        while true {
            do throws(ConnectorError) {
                _ = try await host.migrateOutbox()
                return
            } catch {
                attempts += 1
                guard attempts < 100 else { throw error }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Opens the gate; from then on, events are delivered.
    func open() async throws {
        try await host.open().requireReady()
    }

    /// Closes the host, and removes the outbox with whatever is left in it.
    func close() async throws {
        await host.close()
        _ = try ChildProcess.output(["rm", "-r", folder])
    }

    /// Events of about the given size, with ids that the sink counts.
    func events(_ numbers: Range<Int>, bytes: Int) -> [AnalyticsEvent] {
        numbers.map { number in
            let properties: JSONObject = [
                "product": "Socks", "total": .number(Double(number % 1000) + 0.5),
                "note": .string(String(repeating: "x", count: max(0, bytes - 202))),
            ]
            var event = AnalyticsEvent.track("Order Completed", properties, userId: "user-\(number % 10_000)")
            let digits = String(number)
            event.messageId = "bench-" + String(repeating: "0", count: 30 - digits.utf8.count) + digits
            return analytics.stamped(event)
        }
    }

    /// Tracks one event of about the given size.
    func track(bytes: Int) async throws {
        try await analytics.track("Order Completed", ["note": .string(String(repeating: "x", count: bytes))])
    }

    /// Sends events from several tasks at once, each of which waits for every receipt.
    func send(_ events: [AnalyticsEvent], callers: Int) async throws {
        try await withThrowingTaskGroup { group in
            for caller in 0..<callers {
                group.addTask { [analytics] in
                    for index in stride(from: caller, to: events.count, by: callers) {
                        try await analytics.send(events[index])
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Delivers batches, each of which waits for the answers to the one before.
    func deliver(_ batches: [[AnalyticsEvent]]) async throws {
        for batch in batches {
            let answers = try await analytics.deliver(batch)
            guard answers.allSatisfy({ $0.outcome == .accepted }) else { throw Failure("a batch was not accepted") }
        }
    }

    /// Waits until the outbox is empty.
    func flush() async throws {
        guard try await host.flush(within: .seconds(120)) else { throw Failure("the outbox does not drain") }
    }
}
