// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import InMemoryLogging
import Logging
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorPlatform

/// A gate exchanges its secrets while it is open: as one snapshot, and without a failed call.
@Suite(.timeLimit(.minutes(10))) struct GateSecretTests {
    @Test func `a key that is replaced in its file takes over at the next proof, without a refused call`() async throws
    {
        try await Fixtures.withDirectory { directory in
            let vendor = KeyVendor()
            let server = vendor.server()
            defer { server.stop() }
            let file = "\(directory)/key"
            try Fixtures.writeSecret("first", to: file)
            let test = try KeyHost(server, key: ["secret": .string("file:\(file)")])
            #expect(await test.host.open().isReady)
            #expect(vendor.last == "first")
            #expect(try test.secret().isInUse)
            try Fixtures.writeSecret("second", to: file)
            while vendor.last != "second" { try await test.proof() }
            _ = await test.host.report { $0["gate"]?.secrets.first?.isProved == true }
            #expect(try await test.ask() == "accepted")
            #expect(vendor.last == "second")
            #expect(test.host.report["gate"]?.state == .open)
            await test.host.close()
        }
    }

    @Test func `the old key works until the vendor accepts the new one, and the report says which is in use`()
        async throws
    {
        try await Fixtures.withDirectory { directory in
            let vendor = KeyVendor()
            vendor.accept("first")
            let server = vendor.server()
            defer { server.stop() }
            let file = "\(directory)/key"
            try Fixtures.writeSecret("first", to: file)
            let test = try KeyHost(server, key: ["secret": .string("file:\(file)")])
            #expect(await test.host.open().isReady)
            try Fixtures.writeSecret("second", to: file)
            while !vendor.seen.contains("second") { try await test.proof() }
            // By the old key: the vendor takes no other.
            #expect(try await test.ask() == "accepted")
            #expect(try !test.secret().isInUse)
            #expect(try !test.secret().isProved)
            #expect(
                test.host.prometheusText.contains(
                    "connector_secret_in_use{connector_path=\"gate\",connector_secret=\"key\"} 0"
                )
            )
            vendor.accept("first", "second")
            while try !test.secret().isInUse { try await test.proof() }
            vendor.accept("second")
            #expect(try await test.ask() == "accepted")
            #expect(try test.secret().isProved)
            await test.host.close()
        }
    }

    @Test func `a key that proves less than the old one ever did takes over only once the vendor accepts it`()
        async throws
    {
        try await Fixtures.withDirectory { directory in
            let log = InMemoryLogHandler()
            func refusals() -> Int {
                log.entries.count(where: { entry in
                    entry.message == "new secrets do not work"
                        && entry.metadata["error"]?.description.contains("proves only that it is reachable") == true
                })
            }
            let vendor = KeyVendor()
            let server = vendor.server()
            defer { server.stop() }
            let file = "\(directory)/key"
            try Fixtures.writeSecret("first", to: file)
            let logger = Logger(label: "test") { _ in log }
            let test = try KeyHost(server, key: ["secret": .string("file:\(file)")], logger: logger)
            #expect(await test.host.open().isReady)
            vendor.leaveUnchecked("second")
            try Fixtures.writeSecret("second", to: file)
            while refusals() == 0 { try await test.proof() }
            // No reload: the gate has the plan already, and reads its secrets when it opens.
            let refusal = log.entries.first { $0.message == "new secrets do not work" }?.metadata["error"]?.description
            #expect(refusal?.contains("to accept the weaker proof, close the gate and open it again") == true)
            // The proxy answers everybody: the current instance proves no more than the new one would.
            vendor.leaveUnchecked("first", "second")
            while test.host.report["gate"]?.strongestEvidence?.kind != .reachable { try await test.proof() }
            let count = refusals()
            while refusals() == count { try await test.proof() }
            #expect(test.host.report["gate"]?.generation == 1)
            #expect(try !test.secret().isInUse)
            vendor.leaveUnchecked()
            while test.host.report["gate"]?.generation == 1 { try await test.proof() }
            #expect(try await test.ask() == "accepted")
            #expect(vendor.last == "second")
            #expect(try test.secret().isProved)
            await test.host.close()
        }
    }

    @Test func `a key that proves less takes over if a proof with the old one is refused, and not if a call is`()
        async throws
    {
        try await Fixtures.withDirectory { directory in
            let vendor = KeyVendor()
            vendor.accept("first")
            let server = vendor.server()
            defer { server.stop() }
            let file = "\(directory)/key"
            try Fixtures.writeSecret("first", to: file)
            let test = try KeyHost(server, key: ["secret": .string("file:\(file)")])
            #expect(await test.host.open().isReady)
            let gate = try #require(test.host.current.tree["gate"]?.gate)
            func trials() -> Int { vendor.seen.count(where: { $0 == "second" }) }
            func tried(after count: Int) async throws {
                while trials() == count || gate.storage.withLock({ $0.isRenewing }) { try await Task.checkedYield() }
            }
            vendor.accept("third")
            vendor.leaveUnchecked("second")
            try Fixtures.writeSecret("second", to: file)
            await #expect(throws: ConnectorError.self) { try await test.ask() }
            try await tried(after: 0)
            #expect(test.host.report["gate"]?.generation == 1)
            let count = trials()
            try await test.proof()
            try await tried(after: count)
            let report = try #require(test.host.report["gate"])
            #expect(report.generation == 2 && report.state == .open)
            #expect(report.strongestEvidence?.kind == .reachable)
            #expect(try test.secret().isInUse)
            await test.host.close()
        }
    }

    @Test func `a key that cannot be read again is told, counts as not in use, and explains a refusal of the old one`()
        async throws
    {
        try await Fixtures.withDirectory { directory in
            let log = InMemoryLogHandler()
            func lines(_ message: String) -> Int { log.entries.count(where: { "\($0.message)" == message }) }
            let vendor = KeyVendor()
            vendor.accept("first")
            let server = vendor.server()
            defer { server.stop() }
            let file = "\(directory)/key"
            try Fixtures.writeSecret("first", to: file)
            let logger = Logger(label: "test") { _ in log }
            let test = try KeyHost(server, key: ["secret": .string("file:\(file)")], logger: logger)
            #expect(await test.host.open().isReady)
            let read = try test.secret()
            #expect(read.isInUse && read.isProved && read.error == nil)
            try Fixtures.writeSecret("second", to: file)
            #expect(Fixtures.run("chmod 644 '\(file)'") == 0)
            while lines("secrets cannot be read") == 0 { try await test.proof() }
            let warned = try #require(test.host.report["gate"])
            #expect(warned.state == .open && warned.strongestEvidence?.kind == .authenticated)
            #expect(warned.warnings.contains { $0.contains("secrets cannot be read") && $0.contains("mode 644") })
            let unread = try #require(warned.secrets.first)
            #expect(!unread.isInUse && !unread.isProved && unread.error?.contains("mode 644") == true)
            // Once, however often it is tried.
            for _ in 0..<3 { try await test.proof() }
            #expect(lines("secrets cannot be read") == 1)
            vendor.accept("second")
            try await test.proof()
            let refused = await test.host.report { $0["gate"]?.error != nil }
            let error = try #require(refused["gate"]?.error)
            #expect(error.code == .unauthorized)
            #expect(error.cause?.contains("mode 644") == true && error.fix?.contains("chmod 600") == true)
            #expect(Fixtures.run("chmod 600 '\(file)'") == 0)
            while (try? await test.ask()) != "accepted" { try await test.proof() }
            let report = await test.host.report { report in
                report["gate"]?.state == .open && report["gate"]?.secrets.first?.isProved == true
            }
            #expect(report["gate"]?.secrets.first?.error == nil)
            #expect(report["gate"]?.warnings.contains { $0.contains("cannot be read") } == false)
            #expect(lines("secrets can be read again") == 1)
            await test.host.close()
        }
    }
}
