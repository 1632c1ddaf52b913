// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Requests through proxies: which ones, how, and what is said if it goes wrong.
@Suite struct HTTPProxyTests {
    // MARK: On the wire

    /// A proxy that is also whatever host it is asked to connect to.
    private func proxy(_ answer: LoopbackServer.Answer = .response(200)) -> LoopbackServer {
        LoopbackServer { $0.line.hasPrefix("CONNECT ") ? answer : .response(200, [], Array("made it".utf8)) }
    }

    private func plugin(
        through url: String,
        exceptions: [String] = [],
        egress: [String] = ["vendor.example"]
    ) -> PluginSide {
        var options = HostServices.Options(http: .patient)
        options.http.proxies = HTTPProxies(http: Secret(url), https: Secret(url), exceptions: exceptions)
        return PluginSide(host: HostServices(options: options), egress: egress)
    }

    @Test func `a request goes through a tunnel, and its host is looked up by the proxy`() async {
        let proxy = proxy()
        defer { proxy.stop() }
        let end = await plugin(through: proxy.url("")).request("GET", "http://vendor.example/v1")
        #expect(end.status == CONNECTOR_OK)
        #expect(end.text == "made it")
        #expect(proxy.requests.map(\.line) == ["CONNECT vendor.example:80 HTTP/1.1", "GET /v1 HTTP/1.1"])
        #expect(proxy.requests.first?.fields["proxy-authorization"] == nil)
        #expect(proxy.requests.last?.fields["host"] == "vendor.example")
    }

    @Test func `credentials in the proxy's URL are for the proxy alone`() async {
        let proxy = proxy()
        defer { proxy.stop() }
        let end = await plugin(through: "http://ada:p%40ss@127.0.0.1:\(proxy.port)").request(
            "GET",
            "http://vendor.example/"
        )
        #expect(end.status == CONNECTOR_OK)
        #expect(proxy.requests.first?.fields["proxy-authorization"] == "Basic \(Base64.encode(Array("ada:p@ss".utf8)))")
        #expect(proxy.requests.last?.fields["proxy-authorization"] == nil)
    }

    #if os(Linux)
        @Test func `a proxy whose name was slow to find is reached at its address`() async {
            let proxy = proxy()
            defer { proxy.stop() }
            var options = HostServices.Options(http: .patient)
            options.http.proxies = HTTPProxies(http: Secret("http://proxy.test:\(proxy.port)"))
            options.http.slowLookUp = .zero
            options.http.lookUp = { _ in .addresses(["127.0.0.1"]) }
            let plugin = PluginSide(host: HostServices(options: options), egress: ["vendor.example"])
            let end = await plugin.request("GET", "http://vendor.example/v1")
            #expect(end.text == "made it", "\(end.message)")
        }
    #endif

    @Test func `the allow-list is asked before the proxy is`() async {
        let proxy = proxy()
        defer { proxy.stop() }
        let end = await plugin(through: proxy.url("")).request("GET", "http://other.example/")
        #expect(end.status == CONNECTOR_DENIED)
        #expect(proxy.requests.isEmpty)
    }

    @Test func `the loopback interface is reached directly, unless it is to go through the proxy`() async throws {
        let server = LoopbackServer { _ in .response(204) }
        defer { server.stop() }
        let port = try LoopbackPort.free()
        let direct = await plugin(through: "http://127.0.0.1:\(port)", egress: ["127.0.0.1"])
            .request("GET", server.url())
        #expect(direct.code == 204)

        let proxy = proxy()
        defer { proxy.stop() }
        var options = HostServices.Options(http: .patient)
        options.http.proxies.http = Secret(proxy.url(""))
        options.http.proxies.includesLoopback = true
        let end = await PluginSide(host: HostServices(options: options)).request("GET", server.url())
        #expect(end.text == "made it")
        #expect(server.requests.count == 1)
    }

    @Test func `a proxy that is not there is named, and so is where the request was going`() async throws {
        let port = try LoopbackPort.free()
        let end = await plugin(through: "http://ada:topsecret@127.0.0.1:\(port)").request(
            "GET",
            "https://vendor.example/"
        )
        #expect(end.status == CONNECTOR_UNAVAILABLE)
        #expect(end.domain == "proxy" && end.detail == 111)
        #expect(end.message.hasPrefix("no connection to the proxy 127.0.0.1:\(port) on the way to vendor.example:443"))
        #expect(!end.message.contains("topsecret"))
    }

    @Test func `a proxy that rejects the credentials is asked once, and reported without them`() async {
        let proxy = proxy(.response(407))
        defer { proxy.stop() }
        let end = await plugin(through: "http://ada:topsecret@127.0.0.1:\(proxy.port)").request(
            "GET",
            "http://vendor.example/"
        )
        #expect(end.status == CONNECTOR_UNAVAILABLE)
        #expect(end.domain == "proxy")
        #expect(end.detail == 407)
        #expect(!end.isRetryable)
        #expect(
            end.message
                == "the proxy 127.0.0.1:\(proxy.port) rejected the credentials, which the host sends as Basic authentication only"
        )
        #expect(proxy.requests.count == 1)
    }

    @Test func `a proxy that requires credentials where none are set is not said to have rejected any`() async {
        let proxy = proxy(.response(407, [("Proxy-Authenticate", "Basic realm=\"a\"")]))
        defer { proxy.stop() }
        let end = await plugin(through: proxy.url("")).request("GET", "http://vendor.example/")
        #expect(end.status == CONNECTOR_UNAVAILABLE && end.domain == "proxy" && end.detail == 407)
        #expect(
            end.message
                == "the proxy 127.0.0.1:\(proxy.port) requires credentials, and its URL has none: "
                + "write it as http://USER:PASSWORD@HOST:PORT"
        )
    }

    @Test(arguments: [403, 502, 503])
    func `a proxy that refuses to connect is named`(status: Int) async {
        let proxy = proxy(.response(status))
        defer { proxy.stop() }
        let end = await plugin(through: proxy.url("")).request("GET", "http://vendor.example/")
        #expect(end.status == CONNECTOR_UNAVAILABLE)
        #expect(end.message == "the proxy 127.0.0.1:\(proxy.port) refuses to connect to vendor.example:80")
        #expect(end.domain == "proxy")
    }

    @Test(arguments: [
        LoopbackServer.Answer.reset, .raw(""), .raw("HTTP/1.1 200 OK\r\n"), .raw("\u{15}\u{3}\u{1}"),
        .raw("garbage\r\n\r\n"),
    ])
    func `a proxy that hangs up before there is a tunnel is named, and the server is not`(answer: LoopbackServer.Answer)
        async
    {
        let proxy = proxy(answer)
        defer { proxy.stop() }
        let end = await plugin(through: proxy.url("")).request("GET", "http://vendor.example/")
        #expect(end.status == CONNECTOR_UNAVAILABLE && end.domain == "proxy")
        #expect(
            end.message.contains("the proxy 127.0.0.1:\(proxy.port) on the way to vendor.example:80"),
            "\(end.message)"
        )
        #expect(!end.message.contains("response"))
    }

    @Test func `a server that hangs up in the tunnel is named`() async {
        let proxy = LoopbackServer { $0.line.hasPrefix("CONNECT ") ? .response(200) : .raw("") }
        defer { proxy.stop() }
        let end = await plugin(through: proxy.url("")).request("GET", "http://vendor.example/")
        #expect(end.status == CONNECTOR_UNAVAILABLE && end.domain == "http")
        #expect(
            end.message
                == "vendor.example:80 through the proxy 127.0.0.1:\(proxy.port) closed the connection before the response was complete"
        )
    }

    @Test func `a proxy that opens no tunnel in time is named`() async {
        let proxy = proxy(.stall)
        defer { proxy.stop() }
        var options = HostServices.Options(http: .patient)
        options.http.proxies = HTTPProxies(http: Secret(proxy.url("")))
        options.http.connectTimeout = .milliseconds(100)
        let plugin = PluginSide(host: HostServices(options: options), egress: ["vendor.example"])
        let end = await plugin.request("GET", "http://vendor.example/")
        #expect(end.status == CONNECTOR_TIMED_OUT && end.domain == "proxy")
        #expect(
            end.message
                == "the proxy 127.0.0.1:\(proxy.port) opened no tunnel to vendor.example:80 within the time for connecting"
        )
    }

    @Test func `a request whose time ends before there is a tunnel names the proxy`() async {
        let clock = ManualHostClock()
        let hasCome = CallCounter()
        let proxy = LoopbackServer { _ in
            hasCome.add()
            return .stall
        }
        defer { proxy.stop() }
        var options = HostServices.Options(clock: clock, http: .patient)
        options.http.proxies = HTTPProxies(http: Secret(proxy.url("")))
        let plugin = PluginSide(host: HostServices(options: options), egress: ["vendor.example"])
        async let end = plugin.request("GET", "http://vendor.example/", deadline: clock.now() + 2_000_000_000)
        await hasCome.reaches(1)
        clock.advance(by: .seconds(2))
        let late = await end
        #expect(late.status == CONNECTOR_TIMED_OUT && late.domain == "proxy")
        #expect(late.message == "the proxy 127.0.0.1:\(proxy.port) opened no tunnel to vendor.example:80 in time")
    }

    @Test(arguments: [
        "https://secret.example", "socks5://secret.example", "http://", "http://u:%zz@secret.example", "http://a b",
    ])
    func `an unusable proxy setting blames no request, and is not quoted`(text: String) async {
        let end = await plugin(through: text).request("GET", "https://vendor.example/")
        #expect(end.status == CONNECTOR_UNAVAILABLE && end.domain == "proxy")
        #expect(end.message.contains("correct https_proxy"))
        #expect(!end.message.contains("secret"))
    }

    // MARK: From the environment

    private func name(_ variables: [String: String], _ url: String = "https://vendor.example/") throws -> String? {
        let proxies = HTTPProxies(environment: Configuration.Environment(variables))
        return try proxies.proxy(for: #require(URLParts(url)))?.name
    }

    @Test func `the proxy variables of other programs are understood`() throws {
        #expect(try name([:]) == nil)
        #expect(try name(["HTTPS_PROXY": "http://one:3128"]) == "one:3128")
        #expect(try name(["https_proxy": "two:3128", "HTTPS_PROXY": "http://one"]) == "two:3128")
        #expect(try name(["https_proxy": "", "HTTPS_PROXY": "http://one"]) == nil)
        #expect(try name(["http_proxy": "http://one"]) == nil)
        #expect(try name(["http_proxy": "http://one"], "http://vendor.example/") == "one:80")
        #expect(try name(["HTTP_PROXY": "http://[::2]:8080/"], "http://vendor.example/") == "[::2]:8080")
    }

    @Test func `a header of a CGI request is not taken for a proxy`() throws {
        let variables = ["HTTP_PROXY": "http://evil.example", "REQUEST_METHOD": "GET"]
        #expect(try name(variables, "http://vendor.example/") == nil)
        #expect(try name(variables.merging(["http_proxy": "good"]) { $1 }, "http://vendor.example/") == "good:80")
    }

    /// An entry of no_proxy, a URL, and whether it is reached directly.
    static let exceptions: [(entry: String, url: String, isDirect: Bool)] = [
        ("*", "https://vendor.example/", true), ("vendor.example", "https://vendor.example/", true),
        ("vendor.example", "https://api.vendor.example/", true), (".vendor.example", "https://vendor.example/", true),
        ("*.vendor.example", "https://api.vendor.example/", true), ("VENDOR.example", "https://vendor.example/", true),
        ("vendor.example", "https://othervendor.example/", false), ("example.com", "https://vendor.example/", false),
        ("vendor.example:443", "https://vendor.example/", true),
        ("vendor.example:8443", "https://vendor.example/", false),
        ("192.0.2.7", "https://192.0.2.7/", true), ("192.0.2.7", "https://192.0.2.77/", false),
        ("192.0.2.7:443", "https://192.0.2.7/", true), ("10.0.0.0/8", "https://10.9.8.7/", true),
        ("10.0.0.0/8", "https://11.9.8.7/", false), ("10.0.0.0/8:443", "https://10.9.8.7/", true),
        ("10.0.0.0/8:8443", "https://10.9.8.7/", false), ("10.0.0.0/8:", "https://10.9.8.7/", false),
        ("vendor.example", "https://api.vendor.example./", true), ("vendor.example.", "https://vendor.example/", true),
        ("192.0.2.128/25", "https://192.0.2.127/", false),
        ("192.0.2.128/25", "https://192.0.2.129/", true), ("0.0.0.0/0", "https://vendor.example/", false),
        ("10.0.0.0/99", "https://10.9.8.7/", false), ("2001:db8::/32", "https://[2001:db8:1::5]/", true),
        ("[2001:db8::5]", "https://[2001:db8:0::5]/", true), ("::ffff:192.0.2.7", "https://192.0.2.7/", true),
        ("", "https://vendor.example/", false), ("/", "https://vendor.example/", false),
        ("first.example, vendor.example", "https://vendor.example/", true),
    ]

    @Test(arguments: exceptions)
    func `exceptions are names with their subdomains, addresses and networks`(
        entry: String,
        url: String,
        isDirect: Bool
    ) throws {
        #expect(try (name(["https_proxy": "proxy", "no_proxy": entry], url) == nil) == isDirect)
        #expect(try (name(["https_proxy": "proxy", "NO_PROXY": entry], url) == nil) == isDirect)
    }

    @Test(arguments: [
        "localhost", "localhost.", "app.localhost", "127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]",
    ])
    func `this machine is reached directly without an exception`(host: String) throws {
        #expect(try name(["https_proxy": "proxy"], "https://\(host)/") == nil)
    }

    @Test func `a host takes its proxies from the environment it is given, and shows no password`() {
        let environment = Configuration.Environment([
            "https_proxy": "http://ada:topsecret@proxy", "SSL_CERT_FILE": "/ca.pem",
        ])
        let options = ConnectorHost.Options(environment: environment)
        #expect(options.http.proxies.https?.reveal() == "http://ada:topsecret@proxy")
        #expect(options.http.additionalTrustRoots == ["/ca.pem"])
        var text = ""
        dump(options.http, to: &text)
        #expect(!text.contains("topsecret"))
        #expect(!String(describing: HTTPProxy("http://ada:topsecret@proxy")).contains("topsecret"))
    }
}
