// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import ConnectorOutbox
import Testing

/// Where the outbox keeps its events.
@Suite struct ConfigurationServersTests {
    private func configuration(_ outbox: String) throws -> Configuration {
        try Configuration(
            parsing: #"{ "version": 1, "outbox": \#(outbox), "connectors": [] }"#,
            environment: Configuration.Environment(["TOKEN": "sesame"])
        )
    }

    @Test func `the settings of servers are read, and resolved with their token`() throws {
        let text = #"""
            { "engine": "nats", "url": "nats://a,nats://b", "stream": "SHOP", "replicas": 3,
              "token": { "secret": "env:TOKEN" }, "tls": { "ca": "/ca.pem" } }
            """#
        let servers = try #require(try configuration(text).servers)
        let settings = try servers.resolved()
        #expect(settings.url == "nats://a,nats://b")
        #expect((settings.stream, settings.replicas) == ("SHOP", 3))
        #expect(settings.token == "sesame")
        #expect(settings.authorities == "/ca.pem")
        #expect(settings.isEncrypted)
    }

    @Test(arguments: ["a:4222", "nats://a", "TLS://a.example:4222, nats://[::1]:4222/,", "tls://127.0.0.1"])
    func `servers are named with one of two schemes or none, and with or without a port`(_ url: String) throws {
        #expect(try configuration(#"{ "engine": "nats", "url": "\#(url)" }"#).servers?.resolved().url == url)
    }

    @Test(arguments: [
        "https://a", "wss://a", "nats+tls://a", "nats://", ",", "nats://:4222", "nats://a:99999", "nats://a:b",
        "nats://a:", "nats://a,http://b", "nats://a tls://b", "nats://a/b",
    ])
    func `another scheme, an absent host and a bad port are faults at their place`(_ url: String) {
        let error = #expect(throws: ConfigurationErrors.self) {
            try configuration(#"{ "engine": "nats", "url": "\#(url)" }"#)
        }
        #expect(error?.errors.first?.fix?.contains("tls://HOST:PORT") == true)
        #expect(error?.errors.first?.position?.line == 1)
        #expect(error?.errors.count == 1)
    }

    @Test func `an outbox in a file needs no servers`() throws {
        #expect(try configuration(#"{ "engine": "sqlite" }"#).servers == nil)
    }

    @Test func `a file cannot ask for an outbox in memory, and the fault says who can`() {
        let error = #expect(throws: ConfigurationErrors.self) { try configuration(#"{ "engine": "memory" }"#) }
        #expect(error.map { "\($0)".contains("must be \"sqlite\" or \"nats\"") } == true)
        #expect(error.map { "\($0)".contains("Options.outbox = .memory") } == true)
    }

    @Test(arguments: [
        #"{ "engine": "kafka" }"#, #"{ "engine": "nats" }"#, #"{ "engine": "sqlite", "url": "nats://a" }"#,
        #"{ "engine": "nats", "url": "nats://a", "replicas": 2 }"#,
        #"{ "engine": "nats", "url": "nats://a", "stream": "a.b" }"#,
        #"{ "engine": "nats", "url": "nats://a", "tls": { "cert": "/cert.pem" } }"#,
        #"{ "engine": "nats", "url": "nats://a", "tls": { "key": "/key.pem" } }"#,
        #"{ "engine": "nats", "url": "nats://a", "token": "sesame" }"#,
        #"{ "engine": "nats", "url": "nats://a", "token": { "secret": "sesame" } }"#,
    ])
    func `an invalid outbox is a fault that does not show the token`(_ outbox: String) {
        let error = #expect(throws: ConfigurationErrors.self) { try configuration(outbox) }
        #expect(error.map { "\($0)".contains("sesame") } == false)
    }
}
