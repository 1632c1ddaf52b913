import ConnectorKit
import ConnectorManifest

/// One gate.
struct Adapter: Plugin {
    /// What proves that the vendor answered. A status alone proves nothing: a captive portal says 200, too.
    private static let account = VendorAnswer(
        "@NAME@",
        [.object(#"with "account""#) { $0["account"]?.string != nil }]
    )
    /// What operations answer, which is the vendor's as it is. A web page is no answer.
    private static let result = VendorAnswer("@NAME@", statuses: 200...299, [.json, .empty])

    private let host: Host
    private let endpoint: HTTPURL
    /// A placeholder: the host puts the value in as it sends a request, and the plugin never sees it.
    private let apiKey: SecretPlaceholder

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        endpoint = try configuration.url("endpoint")
        apiKey = try configuration.secret("apiKey")
    }

    /// Requests something that needs the key, changes nothing and costs nothing.
    func open() async throws -> [Evidence] {
        let answer = try await fetch(HTTPRequest(.get, endpoint.appending("account")), Self.account)
        return [.authenticated(answer["account"]?.string ?? "")]
    }

@OPERATIONS@

    /// Fetches JSON; an empty body is null.
    private func fetch(
        _ request: HTTPRequest,
        _ expected: VendorAnswer = Self.result
    ) async throws(PluginError) -> JSONValue {
        try expected.body(of: await send(request)) { $0.failure(vendor: "@NAME@", now: host.clock.now) }
    }

    /// Fetches bytes.
    private func load(_ request: HTTPRequest) async throws(PluginError) -> [UInt8] {
        let response = try await send(request)
        guard response.isSuccess else { throw response.failure(vendor: "@NAME@", now: host.clock.now) }
        return response.body
    }

    /// Sends a request with the key, which the host puts in as it sends the request.
    private func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        var request = request
        request.headers["Authorization"] = "Bearer \(apiKey)"
        return try await host.http.send(request)
    }
}
