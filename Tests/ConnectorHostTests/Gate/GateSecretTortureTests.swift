// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Secrets that rotate many times, while callers use their gate.
@Suite(.timeLimit(.minutes(30))) struct GateSecretTortureTests {
    /// How often keys rotate under load; `make torture` does it ten thousand times.
    private static var rotationCount: Int {
        unsafe getenv("CONNECTOR_TORTURE_ROTATIONS").flatMap { unsafe Int(String(cString: $0)) } ?? 30
    }

    @Test func `keys and certificates that rotate together under load never mix, and no call fails`() async throws {
        try await Fixtures.withDirectory { directory in
            let vendor = KeyVendor()
            let server = vendor.server()
            defer { server.stop() }
            let rotation = try SecretRotation(directory)
            let config: JSONObject = [
                "endpoint": .string(server.url()), "key": ["secret": .string("file:\(directory)/current/key")],
                "certificate": ["secret": .string("file:\(directory)/current/certificate")],
            ]
            let leaf = Connector("gate", plugin: KeyPlugin.self, config: config, probeInterval: .milliseconds(2))
            let host = try ConnectorHost.testing("[]", appending: [leaf], clock: SystemHostClock())
            #expect(await host.open().isReady)
            try await withThrowingTaskGroup { group in
                defer { vendor.isDone.store(true, ordering: .relaxed) }
                for _ in 0..<2 {
                    group.addTask {
                        while !vendor.isDone.load(ordering: .relaxed) {
                            do {
                                _ = try await host.gate("gate").call("ask")
                            } catch {
                                vendor.fail("\(error)")
                            }
                        }
                    }
                }
                // The loop ends at the first failure, too.
                var number = 0
                while number < Self.rotationCount, vendor.failures.isEmpty {
                    number += 1
                    guard (try? rotation.rotate()) != nil else { break }
                    while vendor.last != "secret-\(rotation.rotations)", vendor.failures.isEmpty {
                        try await Task.checkedYield()
                    }
                }
            }
            #expect(vendor.failures == [])
            #expect(vendor.state.withLock(\.mixed) == [])
            await host.close()
        }
    }
}
