// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import NIOSSL
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

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
        options.http.allowsHTTP2 = true
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

    @Test func `a server that offers version 2 of HTTP does not get it unless the application says so`() async throws {
        let server = try await HTTPSServer()
        var options = HTTPOptions.patient
        options.additionalTrustRoots = [HTTPSServer.authority]
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

    @Test(arguments: [
        ["-1"], ["99999999999"], ["099"], ["0"], ["+200"], ["1000", "200"], ["1", "200"], ["101", "200"],
    ])
    func `a status that version 2 of HTTP does not have is a breach of the protocol`(statuses: [String]) async throws {
        let server = try await HTTPSServer(protocols: ["h2"], statuses: statuses)
        let plugin = plugin()
        let end = await plugin.request("GET", "https://localhost:\(server.port)/")
        #expect(end.status == CONNECTOR_PROTOCOL, "\(end.message)")
        #expect(end.message.contains("not HTTP"))
        await server.stop()
    }

    /// A frame of version 2 of HTTP, on the stream of a connection's first request unless told.
    private static func frame(_ type: UInt8, _ flags: UInt8, stream: UInt8 = 1, _ payload: [UInt8]) -> [UInt8] {
        let length = [UInt8(payload.count >> 16), UInt8(payload.count >> 8 & 255), UInt8(payload.count & 255)]
        return length + [type, flags, 0, 0, 0, stream] + payload
    }

    /// A response with status 204.
    private static let noContent = frame(1, 5, [0x89])
    /// Twenty fields of a thousand bytes each, in two frames.
    private static let longHead: [UInt8] = {
        let field: [UInt8] = [0, 1, 0x61, 0x7F, 0xE9, 0x06] + [UInt8](repeating: 0x62, count: 1000)
        let block: [UInt8] = [0x88] + (1...20).flatMap { _ in field }
        return frame(1, 1, Array(block[..<16_000])) + frame(9, 4, Array(block[16_000...]))
    }()
    /// What breaks version 2 of HTTP.
    private enum Breach: CaseIterable {
        case longHead, dataForNoStream, emptyWindow, noFrame
        /// The promise of a response that nobody asked for, which the settings forbid, and that response before the other.
        case push
    }

    private static func frames(of breach: Breach) -> [UInt8] {
        switch breach {
        case .longHead: longHead
        case .dataForNoStream: frame(0, 0, stream: 0, [1])
        case .emptyWindow: frame(8, 0, stream: 0, [0, 0, 0, 0])
        case .noFrame: [UInt8](repeating: 0xFF, count: 64)
        case .push: frame(5, 4, [0, 0, 0, 2, 0x82, 0x86, 0x84]) + frame(1, 4, stream: 2, [0x88]) + noContent
        }
    }

    @Test(arguments: Breach.allCases)
    private func `an answer that breaks version 2 of HTTP ends its connection, and the next request gets another`(
        breach: Breach
    ) async throws {
        let answer = Self.frames(of: breach)
        let server = try await HTTPSServer(protocols: ["h2"], frames: { $0 == 1 ? answer : Self.noContent })
        let plugin = plugin()
        let broken = await plugin.request("GET", "https://localhost:\(server.port)/")
        #expect(broken.status == CONNECTOR_PROTOCOL, "\(broken.code) \(broken.message)")
        #expect(broken.message.hasPrefix("the answer of localhost:\(server.port) "), "\(broken.message)")
        let next = await plugin.request("GET", "https://localhost:\(server.port)/")
        #expect(next.code == 204, "\(next.message)")
        #expect(server.connectionCount == 2)
        await server.stop()
    }

    @Test(arguments: [(7, "REFUSED_STREAM"), (8, "CANCEL"), (11, "ENHANCE_YOUR_CALM"), (200, "200")])
    func `a request that the server resets is unavailable, and the reason named`(code: Int, name: String) async throws {
        let reset = Self.frame(3, 0, [0, 0, 0, UInt8(code)])
        let server = try await HTTPSServer(protocols: ["h2"], frames: { _ in reset })
        let end = await plugin().request("GET", "https://localhost:\(server.port)/")
        #expect(end.status == CONNECTOR_UNAVAILABLE && end.isRetryable)
        #expect(end.message == "localhost:\(server.port) reset the request (\(name))")
        await server.stop()
    }

    /// How a server closes a connection of version 2 of HTTP under the second request on it.
    private enum Closing: CaseIterable {
        /// Without a word.
        case silent
        /// With GOAWAY, which says that only the first request was served.
        case announced
    }

    private func server(closing: Closing) async throws -> HTTPSServer {
        switch closing {
        case .silent: try await HTTPSServer(protocols: ["h2"], unanswered: 2)
        case .announced:
            try await HTTPSServer(
                protocols: ["h2"],
                frames: { _ in Self.noContent },
                laterFrames: Self.frame(7, 0, stream: 0, [0, 0, 0, 1, 0, 0, 0, 0])
            )
        }
    }

    @Test(arguments: Closing.allCases, ["GET", "PUT", "DELETE", "POST"])
    private func `a request whose kept connection of version 2 of HTTP closes is repeated if the answer is the same`(
        closing: Closing,
        method: String
    ) async throws {
        let isRepeated = ["GET", "PUT"].contains(method)
        let server = try await self.server(closing: closing)
        let plugin = plugin()
        let url = "https://localhost:\(server.port)/"
        let first = await plugin.request("GET", url)
        #expect(first.status == CONNECTOR_OK, "\(first.message)")
        let body: [UInt8] = ["PUT", "POST"].contains(method) ? [1] : []
        let end = await plugin.request(method, url, body: body)
        #expect(end.status == (isRepeated ? CONNECTOR_OK : CONNECTOR_UNAVAILABLE), "\(end.message)")
        #expect(server.connectionCount == (isRepeated ? 2 : 1))
        await server.stop()
    }

    @Test func `a request that closes a new connection of version 2 of HTTP is not repeated`() async throws {
        let server = try await HTTPSServer(protocols: ["h2"], unanswered: 1)
        let end = await plugin().request("GET", "https://localhost:\(server.port)/")
        #expect(end.status == CONNECTOR_UNAVAILABLE && end.isRetryable)
        #expect(end.message.contains("closed the connection"), "\(end.message)")
        #expect(server.connectionCount == 1)
        await server.stop()
    }

    @Test func `an early refusal by version 2 of HTTP ends with its end, and not with an empty frame`() async throws {
        let answer =
            Self.frame(1, 4, [0x8D]) + Self.frame(0, 0, Array("no".utf8)) + Self.frame(0, 0, []) + Self.frame(0, 0, [1])
            + Self.frame(0, 1, [])
        let server = try await HTTPSServer(protocols: ["h2"], frames: { _ in answer })
        let request = try plugin().stream("PUT", "https://localhost:\(server.port)/", length: .max)
        #expect(await request.next()?.code == 404)
        #expect(await request.part()?.text == "no")
        #expect(await request.part()?.text == "\u{1}")
        let end = try #require(await request.part())
        #expect(end.isDone && end.status == CONNECTOR_OK && end.code == 404, "\(end.message)")
        await server.stop()
    }

    @Test func `a false content-length in version 2 of HTTP is a breach of the protocol`() async throws {
        let answer = Self.frame(1, 4, [0x88, 0x0F, 0x0D, 1, 0x35]) + Self.frame(0, 1, Array("{}".utf8))
        let server = try await HTTPSServer(protocols: ["h2"], frames: { _ in answer })
        let end = await plugin().request("GET", "https://localhost:\(server.port)/")
        #expect(end.status == CONNECTOR_PROTOCOL, "\(end.message)")
        #expect(end.message.contains("PROTOCOL_ERROR"))
        await server.stop()
    }

    @Test func `the end does not wait for a server that never begins version 2 of HTTP`() async throws {
        let server = try await HTTPSServer(protocols: ["h2"], frames: { _ in nil })
        var options = HTTPOptions.patient
        options.additionalTrustRoots = [HTTPSServer.authority]
        options.allowsHTTP2 = true
        options.connectTimeout = .milliseconds(100)
        let host = HostServices(options: .init(http: options))
        let end = await PluginSide(host: host, egress: ["localhost"]).request(
            "GET",
            "https://localhost:\(server.port)/"
        )
        #expect(end.status == CONNECTOR_TIMED_OUT)
        #expect(end.message.hasPrefix("no connection to localhost:\(server.port) "), "\(end.message)")
        await host.http.stop()
        await server.stop()
    }

    @Test func `a server that speaks only versions of TLS before 1_2 is refused, and the error says so`() async throws {
        let server = try await HTTPSServer(newest: .tlsv11)
        let end = await plugin().request("GET", "https://localhost:\(server.port)/")
        #expect(end.status == CONNECTOR_UNAVAILABLE && !end.isRetryable)
        #expect(
            end.message.hasPrefix("localhost:\(server.port) speaks neither TLS 1.2 nor TLS 1.3"),
            "\(end.message)"
        )
        await server.stop()
    }

    @Test func `interim responses of version 2 of HTTP come before the response`() async throws {
        let server = try await HTTPSServer(protocols: ["h2"], statuses: ["100", "103", "204"])
        let end = await plugin().request("GET", "https://localhost:\(server.port)/")
        #expect(end.code == 204, "\(end.message)")
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
        #expect(end.message.contains("SSL_CERT_FILE") && end.message.contains("expired"))
        #expect(end.domain == "tls")
        #expect(!end.isRetryable)
        await server.stop()
    }

    @Test(arguments: [
        (UInt8(40), "it may require a client certificate"), (112, "has no certificate for this name"),
        (120, "allowsHTTP2"),
    ])
    func `a server that refuses the handshake by an alert is told in words`(alert: UInt8, words: String) async {
        let server = LoopbackServer(readsRequests: false) { _ in
            .written { write in write([0x15, 3, 3, 0, 2, 2, alert]) }
        }
        defer { server.stop() }
        let end = await plugin().request("GET", "https://localhost:\(server.port)/")
        #expect(end.status == CONNECTOR_UNAVAILABLE && end.domain == "tls")
        #expect(end.message.contains(words), "\(end.message)")
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
        #expect(refused.domain == "tls")
        await server.stop()
    }

    @Test(arguments: ["/nonexistent/authority.pem", "\(Fixtures.certificates)/make.sh"])
    func `a file without authorities blames no request that needs it, and is named`(file: String) async {
        let server = LoopbackServer { _ in .response(204) }
        defer { server.stop() }
        let plugin = plugin(trusting: [file])
        let end = await plugin.request("GET", "https://localhost:\(server.port)/")
        #expect(end.status == CONNECTOR_UNAVAILABLE && end.domain == "tls")
        #expect(end.message.contains(file))
        #expect(await plugin.request("GET", server.url()).code == 204)
    }

    @Test func `the error of a file of authorities says what names it, and what is wrong with it`() throws {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        let authority = try SystemFile.bytes(of: HTTPSServer.authority, limit: 1 << 16)
        let broken = Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
        let contents: [(String, [UInt8], String)] = [
            ("empty", [], "it is empty"),
            (
                "der", [0x30, 0x82, 1, 2],
                "it is in DER, and must be in PEM: openssl x509 -inform der -in FILE converts it"
            ),
            ("text", Array("text".utf8), "it has no \"-----BEGIN CERTIFICATE-----\""),
            ("bundle", authority + broken, "certificate 2 of 2 is damaged"),
        ]
        var faults = [
            ("/nonexistent/authority.pem", "No such file or directory (errno 2)"),
            (directory.path, "it is a directory"), ("\(directory.path)/pipe", "it is not a regular file"),
        ]
        #expect(unsafe mkfifo("\(directory.path)/pipe", 0o600) == 0)
        for (name, content, fault) in contents {
            faults.append((try directory.write(name, content), fault))
        }
        for (file, fault) in faults {
            let words = "\(file), whose certificates cannot be read: \(fault)"
            let options = HTTPOptions(variable: { $0 == "SSL_CERT_FILE" ? file : nil })
            #expect(options.faults() == ["SSL_CERT_FILE names \(words)"])
            #expect(HTTPOptions(additionalTrustRoots: [file]).faults() == ["the authorities to trust are in \(words)"])
        }
        #expect(HTTPOptions(variable: { $0 == "SSL_CERT_FILE" ? HTTPSServer.authority : nil }).faults().isEmpty)
    }
}
