import ConnectorKit
import ConnectorManifest
import Testing

@testable import `@SNAKE@`

/// The plugin, with one answer in place of the vendor.
@Suite struct AdapterTests {
    private struct Vendor: HTTPService {
        let status: Int
        let body: String

        func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
            HTTPResponse(status: status, body: Array(body.utf8))
        }
    }

    private func plugin(_ status: Int, _ body: String) throws -> Adapter {
        let configuration = PluginConfiguration(["endpoint": "@URL@", "apiKey": "{{secret:apiKey}}"])
        return try Adapter(configuration: configuration, host: Host(http: Vendor(status: status, body: body)))
    }

    @Test func `the gate opens on the account`() async throws {
        #expect(try await plugin(200, #"{"account": "demo"}"#).open() == [.authenticated("demo")])
    }

    @Test func `a web page proves nothing`() async throws {
        let plugin = try plugin(200, "<html>Please log in.</html>")
        let error = await #expect(throws: PluginError.self) { _ = try await plugin.open() }
        #expect(error?.status == .protocolViolation)
    }
}
