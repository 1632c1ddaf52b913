// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The host redacts every text of a plugin or vendor before it cuts, stores or shows it.
@Suite struct RedactedTextTests {
    private static let secret = "sk_live_0123456789abcdef"
    private let redactor = Redactor([Secret(secret)])

    private func answer(_ text: String) -> ConnectorAnswer {
        ConnectorAnswer(
            CallResult(outputs: [("", .json, .bytes(Array(text.utf8)))], gate: "vendor"),
            redactor: redactor
        )
    }

    @Test(arguments: [
        #"{"\#(secret)": 1, "\#(secret)": 2}"#, #"{"\#(secret)" 1}"#, #"[1e99999, "\#(secret)"]"#, secret,
    ])
    func `an error about a result's JSON does not quote the secret`(text: String) async throws {
        let error = try await failure { () throws(ConnectorError) in try answer(text).json() }
        #expect(error.code == .misbehaved)
        #expect(!error.treeDescription.contains("sk_live_0"))
        let refused = try await failure { () throws(ConnectorError) in try answer(text).deliveries(count: 1) }
        #expect(!refused.treeDescription.contains("sk_live_0"))
    }

    @Test func `a delivery's reason has no secret`() throws {
        let text = #"[{"outcome": "rejected", "reason": "the key \#(Self.secret) is unknown"}]"#
        #expect(try answer(text).deliveries(count: 1).first?.reason == "the key ••• is unknown")
    }

    @Test(arguments: 150...210)
    func `a difference that is shown has no secret, wherever it is cut`(place: Int) {
        let comparison = Comparison()
        let text = #""\#(String(repeating: "a", count: place))\#(Self.secret)""#
        comparison.note("geocode", expected: .success(answer(text)), got: .success(answer("1")), from: "other")
        let last = comparison.differences.last ?? ""
        #expect(last.hasPrefix("geocode: other answered 1, not \"aaa"))
        #expect(!last.contains("sk_"))
    }

    @Test(arguments: 470...500)
    func `evidence is redacted before it is cut`(place: Int) throws {
        let detail = String(repeating: "a", count: place) + Self.secret
        let evidence = try Evidence.read(
            Array(#"[{"kind": "reachable", "detail": "\#(detail)"}]"#.utf8),
            at: Timestamp(nanoseconds: 0),
            duration: .zero,
            redactor: redactor
        )
        #expect(evidence.first?.detail.contains("sk_") == false)
        #expect(evidence.first?.detail.utf8.count ?? 0 <= 500)
    }

    @Test(arguments: [#"[{"kind": "\#(secret)"}]"#, #"[{"kind": {"\#(secret)": 1}}]"#, "[\(secret)]"])
    func `an error about evidence does not quote the secret`(text: String) async throws {
        let error = try await failure { () throws(ConnectorError) in
            try Evidence.read(Array(text.utf8), at: Timestamp(nanoseconds: 0), duration: .zero, redactor: redactor)
        }
        #expect(!error.treeDescription.contains("sk_"))
    }

    @Test func `a secret in a host name is hidden although the name is in lower case`() async {
        let plugin = PluginSide(secrets: ["key": "SECRETkey42"])
        let end = await plugin.request("GET", "http://{{secret:key}}.example.com/")
        #expect(end.status == CONNECTOR_DENIED)
        #expect(end.message.hasPrefix("the host •••.example.com is not one"))
        #expect(!end.message.lowercased().contains("secretkey42"))
    }
}
