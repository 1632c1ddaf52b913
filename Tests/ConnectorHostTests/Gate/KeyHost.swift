// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Logging
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorPlatform

/// A host with one gate, whose plugin shows its key to a vendor, and a clock that a test moves.
struct KeyHost {
    private static let interval = Duration.seconds(60)

    let host: ConnectorHost
    let clock: ManualHostClock

    /// Makes a host; nothing is opened.
    ///
    /// - Parameter key: What its file says about the key.
    init(
        _ server: LoopbackServer,
        key: JSONValue,
        plugin: any LinkablePlugin.Type = KeyPlugin.self,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) throws {
        let config: JSONObject = ["endpoint": .string(server.url()), "key": key]
        clock = ManualHostClock()
        let leaf = Connector("gate", plugin: plugin, config: config, probeInterval: Self.interval)
        host = try ConnectorHost.testing(
            "[]",
            appending: [leaf],
            environment: ["OLD": "old"],
            clock: clock,
            logger: logger
        )
    }

    /// What the vendor says to the key of the gate's current instance.
    func ask() async throws -> JSONValue { try await host.gate("gate").call("ask") }

    /// Lets the next scheduled proof happen, and what follows from it.
    func proof() async throws {
        await clock.timers(atLeast: 1)
        let before = host.report["gate"]?.evidence.last?.at
        clock.advance(by: Self.interval)
        _ = await host.report { $0["gate"]?.evidence.last?.at != before || $0["gate"]?.state != .open }
        let gate = host.current.tree["gate"]?.gate
        while gate?.storage.withLock({ $0.isRenewing }) ?? false { try await Task.checkedYield() }
    }

    /// What is known of the key.
    func secret() throws -> SecretReport { try #require(host.report["gate"]?.secrets.first) }
}
