// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorSimulator
import Testing
import WalletConnectors

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Both applications' files, each with the shared connectors that it includes.
@Suite struct ApplicationTests {
    /// The directory that has the applications' packages in it.
    private static let directory = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
    /// Where the host and the till keep what they store, new for every test.
    private let scratch = "/tmp/wallets-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"

    private func host(_ application: String, _ variables: [String: String] = [:]) throws -> ConnectorHost {
        let environment = variables.merging(["RECEIPTS": "\(scratch)/receipts"]) { $1 }
        return try WalletConnectors.host(
            file: "\(Self.directory)/\(application)/connectors.json",
            options: ConnectorHost.Options(
                environment: Configuration.Environment(environment),
                stateDirectory: "\(scratch)/state"
            )
        )
    }

    @Test(arguments: ["wallet", "till"])
    func `each application has a ledger of its own, which persists`(application: String) async throws {
        try #require(unsafe mkdir(scratch, 0o700) == 0)
        let first = try host(application)
        let report = await first.open()
        try report.requireReady()
        #expect(report["ledger"]?.plugin?.isLinked == true)
        #expect(report["ledger"]?.uses == ["settings": "preferences"])
        #expect(report["analytics"] == nil)
        #expect((report["receipts"] != nil) == (application == "till"))
        #expect(try await LedgerClient(first).add(420, "coffee") == 420)
        await first.close()

        let second = try host(application)
        try await second.open().requireReady()
        let ledger = try LedgerClient(second)
        #expect(try await ledger.entries().map(\.text) == ["coffee"])
        #expect(try await ledger.text(-1205) == "-12.05 EUR")
        let refused = await #expect(throws: ConnectorError.self) { try await ledger.add(-2000, "cake") }
        #expect(refused?.code == .conflict)
        await second.close()
    }

    @Test func `with analytics enabled in the shared file, the ledger's events reach the vendor`() async throws {
        try #require(unsafe mkdir(scratch, 0o700) == 0)
        let simulator = try Simulator()
        async let serving: Void = simulator.run()
        let host = try host(
            "wallet",
            [
                "ANALYTICS_ENABLED": "true", "SEGMENT_WRITE_KEY": "demo-write-key",
                "SEGMENT": try await simulator.baseURL(of: "segment"),
            ]
        )
        let report = await host.open()
        try report.requireReady()
        #expect(report["ledger"]?.uses == ["settings": "preferences", "analytics": "analytics"])
        _ = try await LedgerClient(host).add(420, "coffee")
        let body = try #require(simulator.received(by: "segment").last?.body)
        #expect(String(decoding: body, as: UTF8.self).contains("Amount Booked"))
        await host.close()
        simulator.stop()
        try await serving
    }

    @Test func `only amounts with two decimals or none are read`() {
        #expect(LedgerClient.cents("4.20") == 420 && LedgerClient.cents("4") == 400)
        for text in ["", ".", "4.2", "-4.20", "4.205", "coffee", "9999999999"] {
            #expect(LedgerClient.cents(text) == nil, "\(text)")
        }
    }
}
