// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import Testing

@Suite struct ConfigurationTests {
    private let configuration: Configuration

    init() throws {
        configuration = try Configuration(parsing: exampleText, directory: "/etc/app", environment: .init([:]))
    }

    @Test func `paths in the file start at its directory`() {
        #expect(configuration.directory == "/etc/app")
        #expect(configuration.pluginDirectories == ["/etc/app/Plugins", "/opt/plugins"])
        guard case .leaf(let leaf) = configuration.connectors[1].kind else {
            Issue.record("crash is not a leaf")
            return
        }
        #expect(leaf.plugin.name == "/etc/app/./lib/libsentry.so")
        #expect(leaf.plugin.isPath)
    }

    @Test func `the path of a connector is made of the names above it`() {
        #expect(
            configuration.allConnectors.map(\.path) == [
                "analytics", "analytics/segment", "analytics/posthog", "crash", "database", "geocoder", "geocoder/one",
                "geocoder/two",
            ]
        )
    }

    @Test func `the settings of a connector replace the defaults`() {
        let connectors = configuration.connectors
        #expect(connectors[0].isRequired == nil && connectors[0].isEnabled && connectors[0].timeout == nil)
        #expect(connectors[0].policy == .all(quorum: nil))
        #expect(connectors[0].children[1].isRequired == false)
        #expect(connectors[1].timeout == .seconds(5))
        #expect(connectors[1].probeInterval == nil)
        #expect(connectors[2].probeInterval == .seconds(60))
        #expect(connectors[2].retry == RetryPolicy(attempts: 5, initial: .milliseconds(100), max: .seconds(2)))
        #expect(connectors[1].retry == nil)
        #expect(connectors[2].allowedHosts?.map(\.description) == ["*.example.com:8443"])
        #expect(connectors[0].allowedHosts == nil)
        #expect(connectors[3].policy == .first)
    }

    @Test(arguments: [
        ("", HealPolicy(initial: .seconds(1), max: .seconds(60))),
        (#", "heal": "off""#, nil),
        (#", "heal": {}"#, HealPolicy()),
        (#", "heal": {"initial": "250ms", "max": "2m"}"#, HealPolicy(initial: .milliseconds(250), max: .seconds(120))),
        (#", "heal": {"initial": "2m"}"#, HealPolicy(initial: .seconds(120), max: .seconds(120))),
        (#", "heal": {"max": "1ms", "$comment": ""}"#, HealPolicy(initial: .milliseconds(1), max: .milliseconds(1))),
    ])
    func `a gate heals unless its connector says otherwise`(setting: String, expected: HealPolicy?) throws {
        let text = #"{"version": 1, "connectors": [{"name": "a", "plugin": "segment"\#(setting)}]}"#
        #expect(try Configuration(parsing: text).connectors[0].heal == expected)
    }

    @Test(arguments: [
        ("", "", nil),
        ("", #", "breaker": {}"#, BreakerPolicy()),
        (#", "breaker": {"failures": 3, "window": "2m"}"#, "", BreakerPolicy(failures: 3, window: .seconds(120))),
        (
            #", "breaker": {"failures": 3}"#, #", "breaker": {"probe": "1s", "$comment": ""}"#,
            BreakerPolicy(failures: 3, probe: .seconds(1))
        ),
        (#", "breaker": {"failures": 3}"#, #", "breaker": "off""#, nil),
    ])
    func `a gate has a breaker if it or a composite above says so`(
        above: String,
        setting: String,
        expected: BreakerPolicy?
    ) throws {
        let leaf = #"{"name": "a", "plugin": "segment"\#(setting)}"#
        let text = #"{"version": 1, "connectors": [{"name": "g", "connectors": [\#(leaf)]\#(above)}]}"#
        #expect(try Configuration(parsing: text).connectors[0].children[0].breaker == expected)
    }

    @Test(arguments: [
        (#""never""#, #"breaker must be "off" or an object, not "never""#), ("3", "breaker must be"),
        (#"{"failures": 0}"#, "failures"), (#"{"window": "soon"}"#, "window"), (#"{"probes": "1s"}"#, "probes"),
    ])
    func `an invalid breaker is a fault that names what is wrong`(setting: String, expected: String) throws {
        let text = #"{"version": 1, "connectors": [{"name": "a", "plugin": "segment", "breaker": \#(setting)}]}"#
        let error = #expect(throws: (any Error).self) { try Configuration(parsing: text) }
        #expect("\(try #require(error))".contains(expected))
    }

    @Test(
        arguments: [
            ([:], "segment", true), (["PLUGIN": "posthog"], "posthog", true),
            (["PLUGIN": "./lib.so"], "/etc/./lib.so", true),
            (["ON": "false"], "segment", false), (["ON": "true"], "segment", true), (["ON": ""], "segment", true),
        ] as [([String: String], String, Bool)]
    )
    func `the environment chooses the plugin, and whether the connector is enabled`(
        environment: [String: String],
        plugin: String,
        isEnabled: Bool
    ) throws {
        let text = """
            {"version": 1, "connectors": [
                {"name": "a", "plugin": "${PLUGIN:-segment}", "enabled": "${ON:-true}"}]}
            """
        let connector = try #require(
            try Configuration(parsing: text, directory: "/etc", environment: .init(environment)).connectors.first
        )
        guard case .leaf(let leaf) = connector.kind else {
            Issue.record("it is not a leaf")
            return
        }
        #expect(leaf.plugin.name == plugin)
        #expect(connector.isEnabled == isEnabled)
    }

    @Test func `a disabled connector needs no variables`() {
        let text =
            #"{"name": "a", "enabled": "${ON}", "connectors": [{"name": "b", "plugin": "${NOPE}", "enabled": "${X}"}]}"#
        #expect(faults(connectors: text, environment: ["ON": "false"]).isEmpty)
    }

    @Test func `after names siblings, or any connector by its path`() {
        #expect(configuration.connectors[3].after == ["database", "analytics/segment"])
        #expect(configuration.connectors[3].children[1].after == ["geocoder/one", "crash"])
    }

    @Test func `every leaf gets its values from the manifest, the file and the environment`() throws {
        let environment = Configuration.Environment(["SEGMENT_WRITE_KEY": "sk-1234", "POSTHOG_KEY": "phc-99"])
        let resolved = try configuration.resolved(environment: environment, manifest: manifest(of:))
        #expect(resolved.leaves.count == 6)
        let segment = try #require(try resolved.leaves["analytics/segment"]?.get())
        #expect(
            segment.config.description
                == #"{"endpoint":"https://api.segment.io/v1","writeKey":"{{secret:writeKey}}","batch":20}"#
        )
        #expect(segment.secrets["writeKey"]?.reveal() == "sk-1234")
        #expect(segment.egress.map(\.description) == ["api.segment.io", "cdn.segment.com"])
        let posthog = try #require(try resolved.leaves["analytics/posthog"]?.get())
        #expect(posthog.config["apiKey"] == "{{secret:apiKey}}")
        #expect(resolved.redactor.redact("key phc-99, sk-1234") == "key •••, •••")
        let database = try #require(try resolved.leaves["database"]?.get())
        #expect(database.egress.map(\.description) == ["*.example.com:8443"])
    }
}

extension JSONObject {
    /// Compact JSON.
    var description: String { JSONValue.object(self).description }
}
