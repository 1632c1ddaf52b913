// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Requests over TLS: what is spoken, who is trusted, and what is said of those who are not.
@Suite struct HTTPSecurityTests {
    /// A plugin that may reach the loopback interface by name and by address.
    private func plugin(
        trusting roots: [String] = [HTTPSServer.authority],
        proxies: HTTPProxies = HTTPProxies()
    ) -> PluginSide {
        var options = HostServices.Options(http: .patient)
        options.http.additionalTrustRoots = roots
        options.http.proxies = proxies
        return PluginSide(host: HostServices(options: options), egress: ["localhost", "127.0.0.1"])
    }

    @Test(arguments: [
        (["h2", "http/1.1"], "HTTP/2.0"), (["http/1.1", "h2"], "HTTP/1.1"), (["http/1.1"], "HTTP/1.1"),
        ([], "HTTP/1.1"),
    ])
    func `a server whose authority is trusted chooses the version of HTTP`(
        protocols: [String],
        version: String
    ) async throws {
        let server = try await HTTPSServer(protocols: protocols)
        let end = await plugin().request("GET", "https://localhost:\(server.port)/")
        #expect(end.status == CONNECTOR_OK, "\(end.message)")
        #expect(end.text == version)
        await server.stop()
    }

    @Test func `a server that offers version 2 of HTTP does not get it if the application says so`() async throws {
        let server = try await HTTPSServer()
        var options = HTTPOptions.patient
        options.additionalTrustRoots = [HTTPSServer.authority]
        options.allowsHTTP2 = false
        let plugin = PluginSide(host: HostServices(options: .init(http: options)), egress: ["localhost"])
        let end = await plugin.request("GET", "https://localhost:\(server.port)/")
        #expect(end.text == "HTTP/1.1", "\(end.message)")
        await server.stop()
    }

    @Test func `requests at once share one connection of version 2 of HTTP`() async throws {
        let server = try await HTTPSServer()
        let plugin = plugin()
        _ = await plugin.request("GET", "https://localhost:\(server.port)/")
        let texts = await withTaskGroup(of: String.self) { group in
            for _ in 0..<20 {
                group.addTask { await plugin.request("GET", "https://localhost:\(server.port)/").text }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts == Array(repeating: "HTTP/2.0", count: 20))
        #expect(server.connectionCount == 1)
        await server.stop()
    }

    @Test func `a server whose authority is unknown is refused, and the error says why`() async throws {
        let server = try await HTTPSServer()
        let end = await plugin(trusting: []).request("GET", "https://localhost:\(server.port)/")
        #expect(end.status == CONNECTOR_UNAVAILABLE)
        #expect(
            end.message.hasPrefix(
                "the certificate of localhost:\(server.port) is not valid or its authority is not trusted"
            )
        )
        #expect(end.message.contains("CERTIFICATE_VERIFY_FAILED"))
        #expect(end.message.contains("SSL_CERT_FILE"))
        #expect(!end.isRetryable)
        await server.stop()
    }

    @Test func `a server with a certificate for another host is refused, and the error says so`() async throws {
        let server = try await HTTPSServer()
        let end = await plugin().request("GET", "https://127.0.0.1:\(server.port)/")
        #expect(end.status == CONNECTOR_UNAVAILABLE)
        #expect(end.message == "the certificate of 127.0.0.1:\(server.port) is for another host")
        #expect(!end.isRetryable)
        await server.stop()
    }

    @Test func `a server behind a proxy proves who it is through the tunnel`() async throws {
        let server = try await HTTPSServer(isProxied: true)
        var proxies = HTTPProxies(https: Secret("http://127.0.0.1:\(server.port)"))
        proxies.includesLoopback = true
        let end = await plugin(proxies: proxies).request("GET", "https://localhost/")
        #expect(end.text == "HTTP/2.0", "\(end.message)")
        let refused = await plugin(trusting: [], proxies: proxies).request("GET", "https://localhost/")
        #expect(
            refused.message.hasPrefix("the certificate of localhost:443 through the proxy 127.0.0.1:\(server.port)")
        )
        await server.stop()
    }

    @Test(arguments: ["/nonexistent/authority.pem", "\(Fixtures.certificates)/make.sh"])
    func `a file without authorities fails the requests that need it, and is named`(file: String) async {
        let server = LoopbackServer { _ in .response(204) }
        defer { server.stop() }
        let plugin = plugin(trusting: [file])
        let end = await plugin.request("GET", "https://localhost:\(server.port)/")
        #expect(end.status == CONNECTOR_INVALID)
        #expect(end.message.contains(file))
        #expect(await plugin.request("GET", server.url()).code == 204)
    }
}
