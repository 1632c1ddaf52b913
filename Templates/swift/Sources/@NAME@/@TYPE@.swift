import ConnectorKit
import ConnectorManifest

/// One gate.
struct @TYPE@: Plugin {
    /// What proves that the vendor answered. A status alone proves nothing: a captive portal says 200, too.
    private static let account = VendorAnswer(
        "@NAME@",
        [.object(#"with "account""#) { $0["account"]?.string != nil }]
    )
    private static let item = VendorAnswer("@NAME@", [.object(#"with "value""#) { $0["value"] != nil }])

    private let host: Host
    private let endpoint: HTTPURL
    /// A placeholder: the host puts the value in as it sends a request, and the plugin never sees it.
    private let apiKey: SecretPlaceholder

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        endpoint = try configuration.url("endpoint")
        apiKey = try configuration.secret("apiKey")
    }

    /// Asks for something that needs the key, changes nothing and costs nothing.
    func open() async throws -> [Evidence] {
        let answer = try await answer(to: endpoint.appending("account"), Self.account)
        return [.authenticated(answer["account"]?.string ?? "")]
    }

    /// The operation `get`.
    func get(key: String) async throws -> JSONValue {
        guard !key.isEmpty else { throw PluginError(.invalid, "a key is not empty") }
        return try await answer(to: endpoint.appending("items", key), Self.item)["value"] ?? .null
    }

    private func answer(to url: HTTPURL, _ expected: VendorAnswer) async throws(PluginError) -> JSONValue {
        let response = try await host.http.send(HTTPRequest(.get, url, headers: ["Authorization": "Bearer \(apiKey)"]))
        return try expected.body(of: response) { $0.failure(vendor: "@NAME@", now: host.clock.now) }
    }
}
