// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorKit
import ConnectorManifest
import Synchronization
import Testing

@testable import rates

/// The adapter, with one answer in place of the vendor.
@Suite struct RatesTests {
    /// Answers every request alike, and keeps the last one.
    private final class Vendor: HTTPService {
        private let response: HTTPResponse
        private let request = Mutex<HTTPRequest?>(nil)

        init(_ status: Int, _ body: String) {
            response = HTTPResponse(status: status, body: Array(body.utf8))
        }

        var last: HTTPRequest? { request.withLock { $0 } }

        func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
            self.request.withLock { $0 = request }
            return response
        }
    }

    private static let configuration = PluginConfiguration([
        "endpoint": "https://openexchangerates.org/api", "appId": "{{secret:appId}}",
    ])

    private func rates(_ vendor: Vendor) throws -> Rates {
        try Rates(configuration: Self.configuration, host: Host(http: vendor))
    }

    @Test func `the gate opens on the account, and never sees its key`() async throws {
        let vendor = Vendor(200, #"{"data": {"app_id": "…", "usage": {"requests_remaining": 942}}}"#)
        #expect(try await rates(vendor).open() == [.authenticated("requests left: 942")])
        let url = "https://openexchangerates.org/api/usage.json?app_id={{secret:appId}}"
        #expect(vendor.last?.url.description == url)
    }

    @Test(arguments: ["1e300", "-1e300", "942.5", "\"942\"", "null"])
    func `a remaining number of requests that is not whole is shown as unknown`(_ number: String) async throws {
        let vendor = Vendor(200, #"{"data": {"app_id": "…", "usage": {"requests_remaining": \#(number)}}}"#)
        #expect(try await rates(vendor).open() == [.authenticated("requests left: unknown")])
    }

    @Test func `a currency has a rate`() async throws {
        let vendor = Vendor(200, #"{"base": "USD", "rates": {"EUR": 0.8637}}"#)
        #expect(try await rates(vendor).rate(currency: "EUR") == 0.8637)
        #expect(vendor.last?.url.value(of: "symbols") == "EUR")
    }

    @Test(
        arguments: [
            (200, "<html>Please log in.</html>", PluginStatus.protocolViolation, "a captive portal"),
            (200, #"{"base": "USD"}"#, .protocolViolation, "with \"rates\""),
            (200, #"{"rates": {}}"#, .notFound, "no rate of EUR"),
            (401, #"{"error": true, "description": "Invalid App ID provided."}"#, .unauthorized, "Invalid App ID"),
            (429, "", .rateLimited, "429"),
        ]
    )
    func `an answer that is not a rate is an error that says so`(
        _ status: Int,
        _ body: String,
        _ kind: PluginStatus,
        _ words: String
    ) async throws {
        let rates = try rates(Vendor(status, body))
        let error = await #expect(throws: PluginError.self) { _ = try await rates.rate(currency: "EUR") }
        #expect(error?.status == kind && error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: ["", "EURO", "eur", "E/R"])
    func `a text that is not a currency is not sent`(_ currency: String) async throws {
        let vendor = Vendor(200, "{}")
        let rates = try rates(vendor)
        let error = await #expect(throws: PluginError.self) { _ = try await rates.rate(currency: currency) }
        #expect(error?.status == .invalid && vendor.last == nil)
    }

    @Test func `the adapter passes the conformance suite`() async {
        // Nobody listens there; the suite makes up an App ID.
        let options = PluginConformance.Options(config: ["endpoint": "http://127.0.0.1:1"])
        let findings = await PluginConformance.check(Rates.self, options: options)
        #expect(findings.isEmpty, "\(findings)")
    }
}
