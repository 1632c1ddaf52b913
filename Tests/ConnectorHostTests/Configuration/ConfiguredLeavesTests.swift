// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost

/// What an operator sees of a configuration: values, where they came from, and no secret.
@Suite struct ConfiguredLeavesTests {
    /// The only leaf of a file, as an operator sees it.
    private func leaf(
        _ config: String,
        plugin: String = "segment",
        environment: [String: String] = [:]
    ) throws -> (fields: [String: ConfiguredField], dumped: String) {
        let text = """
            {"version": 1, "connectors": [{"name": "a", "plugin": "\(plugin)", "config":
            \(config)}]}
            """
        let environment = Configuration.Environment(environment)
        let resolved = try Configuration(parsing: text, file: "c.json", environment: environment)
            .resolved(environment: environment, manifest: manifest(of:))
        let leaf = try #require(resolved.configuredLeaves().first)
        #expect(leaf.path == "a")
        return (Dictionary(uniqueKeysWithValues: leaf.fields.map { ($0.name, $0) }), "\(leaf)")
    }

    @Test func `a value of the file has its line, and a default of the plugin has none`() throws {
        let (fields, _) = try leaf(
            """
            {"writeKey": "k",
              "host": "h", "traits":
                {"a": [1]}, "ratio": 0.5}
            """
        )
        #expect(fields["host"]?.value == .shown("h") && fields["host"]?.source == .file)
        #expect(fields["host"]?.position?.line == 3 && fields["host"]?.position?.file == "c.json")
        #expect(fields["traits"]?.value == .shown(#"{"a":[1]}"#) && fields["traits"]?.position?.line == 4)
        #expect(fields["ratio"]?.value == .shown("0.5"))
        #expect(fields["batch"] == ConfiguredField(name: "batch", value: .shown("20"), source: .manifest))
        #expect(fields["mode"] == nil, "a field without a value is not shown")
    }

    @Test(arguments: [
        (#""${A}""#, "x", ConfiguredField.Source.environment(["A"])),
        (#""${B:-y}""#, "y", .fallback(for: ["B"])),
        (#""${C:-z}""#, "z", .fallback(for: ["C"])),
        (#""${A}-${B:-y}""#, "x-y", .environment(["A"])),
        (#""$${A}""#, "${A}", .file),
    ])
    func `a variable is named, set or not`(written: String, value: String, source: ConfiguredField.Source) throws {
        let config = #"{"writeKey": "k", "host": \#(written)}"#
        let (fields, _) = try leaf(config, environment: ["A": "x", "C": ""])
        #expect(fields["host"]?.value == .shown(value) && fields["host"]?.source == source)
        #expect(fields["host"]?.position?.line == 2)
    }

    @Test func `a secret is a reference, however it is given, and its value is nowhere`() throws {
        try withTemporaryDirectory { directory in
            let file = try directory.write("key", "TOP-SECRET\n")
            let given: [(String, ConfiguredField.Value, ConfiguredField.Source)] = [
                (#""TOP-SECRET""#, .secret(reference: nil), .file),
                (#""${KEY}""#, .secret(reference: "env:KEY"), .environment(["KEY"])),
                (#""${NONE:-TOP-SECRET}""#, .secret(reference: "env:NONE"), .fallback(for: ["NONE"])),
                (#""TOP-${HALF}""#, .secret(reference: nil), .environment(["HALF"])),
                (#"{"secret": "env:KEY"}"#, .secret(reference: "env:KEY"), .environment(["KEY"])),
                (#"{"secret": "env:${WHICH}"}"#, .secret(reference: "env:${WHICH}"), .environment(["WHICH"])),
                (#"{"secret": "file:\#(file)"}"#, .secret(reference: "file:\(file)"), .secretFile),
            ]
            for (written, value, source) in given {
                let (fields, dumped) = try leaf(
                    #"{"writeKey": \#(written), "host": "TOP-SECRET and more"}"#,
                    environment: ["KEY": "TOP-SECRET", "HALF": "SECRET", "WHICH": "KEY"]
                )
                #expect(fields["writeKey"]?.value == value && fields["writeKey"]?.source == source, "\(written)")
                #expect(fields["host"]?.value == .shown("••• and more"), "another field with the same text")
                #expect(!dumped.contains("TOP-SECRET"), "\(written)")
            }
        }
    }

    @Test(arguments: [
        ("https://user:pass@example.com/a@b", "https://•••@example.com/a@b"),
        ("https://KEY@[::1]:80", "https://•••@[::1]:80"),
        ("https://example.com/?q=a@b", "https://example.com/?q=a@b"),
    ])
    func `the user of a URL, which may be a key, is not shown`(url: String, shown: String) throws {
        let (fields, _) = try leaf(#"{"endpoint": "\#(url)"}"#, plugin: "sentry")
        #expect(fields["endpoint"]?.value == .shown(shown))
        let (text, _) = try leaf(#"{"writeKey": "k", "traits": ["postgres://u:p@\#u{301}db", "\#(url)"]}"#)
        #expect(text["traits"]?.value == .shown("[\"postgres://•••@\u{301}db\",\"\(shown)\"]"))
    }

    @Test func `without the plugin's manifest no value is shown, since any could be a secret`() throws {
        let (fields, dumped) = try leaf(
            #"{"writeKey": "TOP-SECRET", "key": {"secret": "env:KEY"}}"#,
            plugin: "broken",
            environment: ["KEY": "k"]
        )
        #expect(fields["writeKey"]?.value == .unknown && fields["writeKey"]?.source == .file)
        #expect(fields["key"]?.value == .secret(reference: "env:KEY"))
        #expect(!dumped.contains("TOP-SECRET"))
    }

    @Test func `in a simulation a URL leads to the simulator, and says so`() throws {
        let text = #"{"version": 1, "connectors": [{"name": "a", "plugin": "segment", "config": {"writeKey": "k"}}]}"#
        let server = try #require(URLParts("http://127.0.0.1:9"))
        let resolved = try Configuration(parsing: text).resolved(manifest: manifest(of:))
            .pointing { _, _ in .server(server) }
        let leaf = try #require(resolved.configuredLeaves().first)
        #expect(leaf.probeInterval == .seconds(2) && leaf.timeout == .seconds(10))
        let endpoint = leaf.fields.first { $0.name == "endpoint" }
        #expect(endpoint?.source == .simulator && endpoint?.value == .shown("http://127.0.0.1:9/v1"))
    }

    @Test func `a configuration made in Swift has no lines, and a disabled leaf no values`() throws {
        let configuration = try Configuration(
            connectors: [
                Connector("a", plugin: "segment", config: ["writeKey": "k"]),
                Connector("b", plugin: "segment", config: ["writeKey": "k"], isEnabled: false),
            ]
        )
        let leaves = try configuration.resolved(manifest: manifest(of:)).configuredLeaves()
        #expect(leaves.map(\.path) == ["a"] && leaves[0].fields[0].position == nil)
        #expect(leaves[0].sendsEvents == false, "the manifest has no operation whose events are delivered")
    }
}
