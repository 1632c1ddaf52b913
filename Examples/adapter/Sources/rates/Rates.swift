// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorKit
import ConnectorManifest

/// Exchange rates of openexchangerates.org (docs.openexchangerates.org).
struct Rates: Plugin {
    /// What proves that the vendor answered. A status alone proves nothing: a captive portal says 200, too.
    private static let latest = VendorAnswer("rates", [.object(#"with "rates""#) { $0["rates"]?.object != nil }])
    /// What the vendor says about an account.
    private static let usage = VendorAnswer(
        "rates",
        [.object(#"with "data" of an app"#) { $0["data"]?["app_id"]?.string != nil }]
    )

    private let host: Host
    private let endpoint: HTTPURL
    /// A placeholder: the host puts in the value as it sends a request, and the plugin never sees it.
    private let appId: SecretPlaceholder

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        endpoint = try configuration.url("endpoint")
        appId = try configuration.secret("appId")
    }

    /// Asks what is left of the account's quota, which proves the key and costs nothing.
    func open() async throws -> [Evidence] {
        let usage = try await answer(to: endpoint.appending("usage.json"), Self.usage)
        let rest = usage["data"]?["usage"]?["requests_remaining"]?.integer.map { "\($0)" } ?? "unknown"
        return [.authenticated("requests left: \(rest)")]
    }

    /// The operation `rate`.
    func rate(currency: String) async throws -> JSONValue {
        let isCode = currency.utf8.count == 3 && currency.utf8.allSatisfy { (0x41...0x5A).contains($0) }
        guard isCode else {
            throw PluginError(.invalid, "a currency has three capital letters, such as EUR")
        }
        let answer = try await answer(to: endpoint.appending("latest.json").with("symbols", currency), Self.latest)
        guard let rate = answer["rates"]?[currency], rate.number != nil else {
            throw PluginError(.notFound, "there is no rate of \(currency)", domain: "rates")
        }
        return rate
    }

    private func answer(to url: HTTPURL, _ expected: VendorAnswer) async throws(PluginError) -> JSONValue {
        let response = try await host.http.send(HTTPRequest(.get, url.with("app_id", appId)))
        return try expected.body(of: response) { refusal in
            // The vendor's own words: {"error": true, "status": 401, "description": "Invalid App ID provided…"}.
            let words = (try? refusal.json())?["description"]?.string
            return refusal.failure(vendor: "rates", words: words, now: host.clock.now)
        }
    }
}
