// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// What the tests of the engine on NATS servers share.
protocol NATSSuite {}

extension NATSSuite {
    /// The time of every act.
    var now: Timestamp { OutboxEvent.start }

    /// An engine for connectors that have been migrated.
    func engine(_ servers: NATSServers, _ paths: [String] = ["a", "b"]) async throws -> NATSEngine {
        try await NATSEngine(servers.settings(), paths: paths, now: { OutboxEvent.start })
    }

    /// Delivers everything, and returns the ids, repetitions included.
    func drain(_ engine: NATSEngine, _ path: String, until count: Int) async throws -> [String] {
        var ids: [String] = []
        let deadline = engine.jetStream.clock.now() + 120_000_000_000
        while Set(ids).count < count {
            guard engine.jetStream.clock.now() < deadline, !Task.isCancelled else {
                let consumer = try await engine.jetStream.request("CONSUMER.INFO.OUTBOX.\(NATSLayout.token(path))")
                let stream = try await engine.jetStream.request("STREAM.INFO.OUTBOX")
                Issue.record("only \(ids): \(consumer): \(stream)")
                return ids
            }
            let batch = try await engine.batch(for: path, upTo: BatchLimits(), now: now)
            let attempt = Attempt(at: now, failures: batch.entries.map { _ in nil })
            try await engine.settle(batch, batch.entries.map { _ in .delivered }, attempt)
            ids += batch.entries.map(\.id)
        }
        return ids
    }

    /// The next events of a connector, as soon as the server hands them out.
    func batch(_ engine: NATSEngine, _ path: String = "a") async throws -> OutboxBatch {
        while true {
            let batch = try await engine.batch(for: path, upTo: BatchLimits(), now: now)
            guard batch.isEmpty else { return batch }
            try await Task.checkedYield()
        }
    }
}
