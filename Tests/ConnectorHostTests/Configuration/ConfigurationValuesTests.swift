// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import Testing

/// Configurations made in Swift, beside the files that say the same.
@Suite struct ConfigurationValuesTests {
    private func faults(_ connectors: Connector..., environment: [String: String] = [:]) -> [String] {
        let environment = Configuration.Environment(environment)
        do throws(ConfigurationErrors) {
            _ = try Configuration(connectors: connectors, environment: environment)
                .resolved(environment: environment, manifest: manifest(of:))
            return []
        } catch {
            return error.errors.map(\.description)
        }
    }

    @Test func `variables may come from a function, and from a dictionary before others`() {
        let environment = Configuration.Environment { name in name == "A" ? "1" : nil }
        #expect(environment["A"] == "1" && environment["B"] == nil)
        let merged = environment.merging(["B": "2"]).merging(["B": "3"])
        #expect(merged["A"] == "1" && merged["B"] == "3" && merged["C"] == nil)
        #expect(environment.merging(["A": "4"])["A"] == "4")
    }

    @Test func `a configuration made in Swift equals that of the file`() throws {
        let made = try Configuration(
            connectors: [
                Connector(
                    "analytics",
                    connectors: [
                        Connector("segment", plugin: "segment", config: ["writeKey": "${SEGMENT_WRITE_KEY}"]),
                        Connector(
                            "posthog",
                            plugin: "posthog",
                            version: SemanticVersion(1, 2, 3),
                            config: ["endpoint": "https://eu.posthog.com", "apiKey": ["secret": "env:POSTHOG_KEY"]],
                            isRequired: false
                        ),
                    ]
                ),
                Connector(
                    "crash",
                    plugin: "./lib/libsentry.so",
                    config: ["endpoint": "https://KEY@sentry.io/1"],
                    timeout: .seconds(5),
                    probeInterval: nil
                ),
                Connector(
                    "database",
                    plugin: "segment",
                    config: ["writeKey": "abcdef"],
                    retry: RetryPolicy(attempts: 5, initial: .milliseconds(100), max: .seconds(2)),
                    allowedHosts: [try #require(HostRule("*.example.com:8443"))]
                ),
                Connector(
                    "geocoder",
                    policy: .first,
                    connectors: [
                        Connector("one", plugin: "segment", config: ["writeKey": "abcdef"]),
                        Connector("two", plugin: "segment", config: ["writeKey": "abcdef"], after: ["one", "crash"]),
                    ],
                    after: ["database", "analytics/segment"]
                ),
            ],
            plugins: ["Plugins", "${EXTRA:-/opt/plugins}"],
            directory: "/etc/app",
            environment: .init([:])
        )
        let read = try Configuration(parsing: exampleText, directory: "/etc/app", environment: .init([:]))
        #expect(made.directory == read.directory)
        #expect(made.pluginDirectories == read.pluginDirectories)
        #expect(made.allConnectors.map(\.path) == read.allConnectors.map(\.path))
        for (made, read) in zip(made.allConnectors, read.allConnectors) {
            #expect(made.isRequired == read.isRequired && made.isEnabled == read.isEnabled)
            #expect(made.after == read.after && made.policy == read.policy)
            #expect(made.timeout == read.timeout && made.retry == read.retry && made.heal == read.heal)
            #expect(made.probeInterval == read.probeInterval && made.allowedHosts == read.allowedHosts)
            #expect(made.propagatesTrace == read.propagatesTrace)
            #expect(made.cacheBytes == read.cacheBytes)
        }
        let environment = Configuration.Environment(["SEGMENT_WRITE_KEY": "sk-1234", "POSTHOG_KEY": "phc-99"])
        let resolved = try made.resolved(environment: environment, manifest: manifest(of:))
        #expect(try resolved.leaves["analytics/segment"]?.get().secrets["writeKey"]?.reveal() == "sk-1234")
        #expect(try resolved.leaves["analytics/posthog"]?.get().config["apiKey"] == "{{secret:apiKey}}")
    }

    @Test func `times in Swift may be shorter than a file can express`() throws {
        let leaf = Connector("a", plugin: "segment", timeout: .microseconds(250), heal: nil)
        let connector = try #require(try Configuration(connectors: [leaf]).connectors.first)
        #expect(connector.timeout == .microseconds(250))
        #expect(connector.heal == nil)
    }

    @Test func `what a file may not say is refused in Swift too, with the connector's path and no position`() {
        let wrong = Connector("a", connectors: [Connector("b", plugin: "segment", config: ["batch": "many"])])
        #expect(
            faults(wrong) == [
                #"a/b: the plugin segment requires "writeKey" in "config" [missing-value]; set "writeKey": The source's key."#,
                "a/b: batch must be an integer, not a string [wrong-type]",
            ]
        )
        #expect(
            faults(Connector("a", plugin: "broken"), Connector("a", plugin: "broken")) == [
                #"a: the name "a" is already used by another connector beside this one [duplicate-name]; "#
                    + "rename one of them"
            ]
        )
        #expect(
            faults(Connector("A b", plugin: "broken")) == [
                "the name \"A b\" must be 1 to 64 lower-case letters, digits, '-', '_' and '.', of which the first is a letter or digit "
                    + "[invalid-value]"
            ]
        )
        #expect(
            faults(Connector("a", connectors: [])) == ["a: a composite needs at least one connector [missing-value]"]
        )
        #expect(
            faults(Connector("a", policy: .all(quorum: 2), connectors: [Connector("b", plugin: "broken")])) == [
                "a: quorum is 2, outside 1 to 1 [invalid-value]"
            ]
        )
        #expect(
            faults(Connector("a", plugin: "${NOPE}")) == [
                "a: the environment variable NOPE is not set [missing-variable]; set it, or write ${NOPE:-default}"
            ]
        )
        #expect(
            faults(Connector("a", plugin: "segmnt")) == [
                #"a: there is no plugin "segmnt" [unknown-plugin]; did you mean "segment"?"#
            ]
        )
    }

    @Test func `times and attempts that make no sense are refused`() {
        let leaf = Connector(
            "b",
            plugin: "broken",
            timeout: .zero,
            retry: RetryPolicy(attempts: 0, initial: .seconds(2), max: .seconds(1)),
            heal: HealPolicy(initial: .seconds(2), max: .seconds(1)),
            probeInterval: .seconds(-1)
        )
        #expect(
            faults(Connector("a", connectors: [leaf])) == [
                "a/b: timeout is 0.0 seconds; it must be greater than zero [invalid-value]",
                "a/b: probeInterval is -1.0 seconds; it must be greater than zero [invalid-value]",
                "a/b: retry.attempts is 0, outside 1 to 1000 [invalid-value]",
                "a/b: retry: the maximum wait is shorter than the initial one [invalid-value]",
                "a/b: heal: the maximum wait is shorter than the initial one [invalid-value]",
            ]
        )
    }

    @Test func `an appended connector may be another place of a leaf of the file, and of nothing else`() throws {
        let file = try Configuration(parsing: #"{"version": 1, "connectors": [{"name": "a", "plugin": "segment"}]}"#)
        #expect(try file.appending([Connector("x", same: "a")]).connectors.count == 2)
        let error = #expect(throws: ConfigurationErrors.self) { try file.appending([Connector("x", same: "typo")]) }
        #expect(error?.errors.map(\.code) == [.unknownConnector])
    }

    @Test func `two connectors may not have had the same path before, whichever came with the file`() throws {
        let leaf = #"{"name": "a", "plugin": "segment", "was": "old"}"#
        let file = try Configuration(parsing: "{\"version\": 1, \"connectors\": [\(leaf)]}")
        var second = Connector("b", plugin: "segment")
        second.was = "old"
        let error = #expect(throws: ConfigurationErrors.self) { try file.appending([second]) }
        #expect(error?.errors.map(\.code) == [.duplicateName])
        #expect(error?.errors.first?.connector == "b")
    }

    @Test func `a circle of connectors made in Swift that wait for each other is a fault`() {
        let circle = faults(
            Connector("a", plugin: "broken", after: ["b"]),
            Connector("b", plugin: "broken", after: ["a"])
        )
        #expect(circle.count == 1)
        #expect(circle.first?.hasPrefix("a: connectors wait for each other: a → b → a") == true)
    }
}
