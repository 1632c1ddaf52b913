// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorServices
import ConnectorTestSupport
import Testing

@testable import ConnectorConsole
@testable import ConnectorConsoleWeb

/// The addresses, names and tokens with which the console may be served.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer")
)
struct WebConsoleOptionsTests {
    @Test func `the link has an IPv6 address in brackets`() async throws {
        let console = try await ServedConsole(ServedConsole.host()) { $0.names = ["2001:db8::1"] }
        #expect(console.announced.first?.hasPrefix("http://[2001:db8::1]:\(console.port)/?token=") == true)
        await console.stop()
    }

    @Test func `a console that other machines reach needs TLS, a token and a name`() throws {
        func failure(_ change: (inout WebConsole.Options) -> Void) -> ConnectorError? {
            var options = WebConsole.Options()
            options.address = WebConsole.Address(host: "0.0.0.0", port: 0)
            change(&options)
            do throws(ConnectorError) {
                let host = try? ServedConsole.host()
                _ = try host.map { host throws(ConnectorError) in
                    try WebServer(HostConsoleModel(host), host, options) { _ in }
                }
                return nil
            } catch {
                return error
            }
        }
        #expect(failure { _ in }?.code == .invalidValue)
        #expect(failure { $0.token = Secret("long enough to be one") }?.code == .invalidValue)
        #expect(failure { $0.certificate = WebConsole.Certificate(file: "/none", key: "/none") }?.code == .invalidValue)
        let isClose = failure { options in
            options.token = Secret("long enough to be one")
            options.certificate = WebConsole.Certificate(file: "/none", key: "/none")
            options.names = ["console.example.org"]
        }
        #expect(isClose?.code == .unreadable, "everything but the files is there")
        #expect(failure { ($0.address, $0.token) = (.loopback, Secret("short")) }?.code == .invalidValue)
    }

    @Test(arguments: [
        "console.example.org:18932", "https://console.example.org", "console.example.org/", "a@b", "[::1]", "beef:80",
        "",
        "\u{212A}iel.example.org",
    ])
    func `a text that is not a bare host cannot be a name`(name: String) {
        var options = WebConsole.Options()
        options.names = [name]
        let error = #expect(throws: ConnectorError.self) { try options.check() }
        #expect(error?.code == .invalidValue)
    }

    @Test func `one token cannot let people act and only see`() {
        var options = WebConsole.Options()
        options.token = Secret("a token of those who may act")
        options.readToken = options.token
        let error = #expect(throws: ConnectorError.self) { try options.check() }
        #expect(error?.code == .invalidValue)
        options.readToken = Secret("a token of those who may read")
        #expect(throws: Never.self) { try options.check() }
    }

    @Test func `an empty host cannot be listened on, and the error says that it is empty`() {
        var options = WebConsole.Options()
        options.address.host = ""
        let error = #expect(throws: ConnectorError.self) { try options.check() }
        #expect(error?.code == .invalidValue && error?.message.hasSuffix("it is empty") == true)
    }

    @Test(arguments: [-1, 65536, 70000])
    func `a number that is no port cannot be the port`(_ port: Int) {
        var options = WebConsole.Options()
        options.address.port = port
        let error = #expect(throws: ConnectorError.self) { try options.check() }
        #expect(error?.code == .invalidValue)
    }

    @Test(arguments: ["console.example.org", "Console", "192.0.2.1", "2001:DB8::1"])
    func `a host name or an address can be a name`(name: String) {
        var options = WebConsole.Options()
        options.names = [name]
        #expect(throws: Never.self) { try options.check() }
    }

    @Test(arguments: [
        ("8901", "127.0.0.1", 8901), ("[::1]:80", "::1", 80), ("localhost:0", "localhost", 0),
        ("10.0.0.1:1", "10.0.0.1", 1),
    ])
    func `addresses are read`(_ text: String, _ host: String, _ port: Int) {
        #expect(WebConsole.Address(text) == WebConsole.Address(host: host, port: port))
    }

    @Test(arguments: [
        "", ":80", "host", "host:", "::1:80", "host:65536", "host:-1", "127.0.0.1:x", "+8901", "-0", "host:+1",
    ])
    func `a malformed address is refused`(_ text: String) {
        #expect(WebConsole.Address(text) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.1.2.3", true), ("localhost", true), ("::1", true), ("127.+0.0.1", false),
        ("127.0.0", false), ("127.0.0.256", false), ("128.0.0.1", false), ("127..0.1", false),
    ])
    func `only localhost, the IPv6 loopback and complete addresses in 127 count as loopback`(
        host: String,
        isLoopback: Bool
    ) {
        #expect(WebConsole.Address(host: host, port: 0).isLoopback == isLoopback)
    }
}
