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
                "a/b: retry.max is shorter than the initial wait [invalid-value]",
                "a/b: heal.max is shorter than the initial wait [invalid-value]",
            ]
        )
    }

    @Test(arguments: [Double.nan, .infinity]) func `a number that no file can have is refused`(number: Double) {
        let config: JSONObject = ["writeKey": "k", "ratio": .number(number), "traits": ["a": [.number(number)]]]
        #expect(
            faults(Connector("a", plugin: "segment", config: config)) == [
                "a: ratio has the number \(number), which JSON cannot write [invalid-value]",
                "a: traits has the number \(number), which JSON cannot write [invalid-value]",
            ]
        )
        var canary = CanaryPolicy()
        canary.share = number
        let children = ["b", "c"].map { Connector($0, plugin: "segment", config: ["writeKey": "k"]) }
        let shared = faults(Connector("a", policy: .canary(canary), connectors: children))
        #expect(shared.count == 1 && shared.first?.contains("is \(number), outside 0 to 100") == true, "\(shared)")
    }

    @Test func `what is nested too deeply for a file or a plugin is refused before it is read`() {
        let deep = (0..<5000).reduce(JSONValue.null) { value, _ in [value] }
        #expect(
            faults(Connector("a", plugin: "segment", config: ["writeKey": deep])) == [
                "a: config is nested deeper than 128 levels [invalid-value]"
            ]
        )
        let leaf = Connector("a", plugin: "segment", config: ["writeKey": "k"])
        let tree = (0..<5000).reduce(leaf) { child, _ in Connector("a", connectors: [child]) }
        let found = faults(tree)
        #expect(found.count == 1 && found.first?.contains("connectors nest deeper than 32 levels") == true, "\(found)")
    }

    @Test func `times of more than a year are refused, as in a file`() throws {
        let year = Duration.seconds(31_536_000)
        _ = try Configuration(connectors: [Connector("a", plugin: "broken", timeout: year)])
        let leaf = Connector("a", plugin: "broken", timeout: year + .seconds(1), heal: HealPolicy(max: year * 2))
        #expect(
            faults(leaf) == [
                "a: timeout is 31536001.0 seconds; it must be at most 8760 hours [invalid-value]",
                "a: heal.max is 63072000.0 seconds; it must be at most 8760 hours [invalid-value]",
            ]
        )
    }

    @Test func `a delivery that a file may not have is refused in Swift too, and the error names the setting`() throws {
        func policy(_ change: (inout DeliveryPolicy) -> Void) -> DeliveryPolicy {
            var policy = DeliveryPolicy()
            change(&policy)
            return policy
        }
        let pace = "it must be a number of events a second, greater than zero"
        let wrong: [(DeliveryPolicy, String)] = [
            (policy { $0.pace = 0 }, "delivery.pace is 0.0; \(pace)"),
            (policy { $0.pace = -1 }, "delivery.pace is -1.0; \(pace)"),
            (policy { $0.pace = .nan }, "delivery.pace is nan; \(pace)"),
            (policy { $0.pace = .infinity }, "delivery.pace is inf; \(pace)"),
            (policy { $0.maximumBytes = 0 }, "delivery.maximumBytes is 0, outside 1 to 1125899906842624"),
            (
                policy { $0.maximumBytes = .min },
                "delivery.maximumBytes is -9223372036854775808, outside 1 to 1125899906842624"
            ),
            (policy { $0.batchCount = 0 }, "delivery.batchCount is 0, outside 1 to 100000"),
            (policy { $0.batchBytes = -1 }, "delivery.batchBytes is -1, outside 1 to 1073741824"),
            (
                policy { $0.batchAge = .seconds(-1) },
                "delivery.batchAge is -1.0 seconds; it must not be less than zero"
            ),
            (
                policy { $0.maximumAge = .zero },
                "delivery.maximumAge is 0.0 seconds; it must be greater than zero"
            ),
            (
                policy { $0.initialWait = .zero },
                "delivery.initialWait is 0.0 seconds; it must be greater than zero"
            ),
            (
                policy { ($0.initialWait, $0.longestWait) = (.seconds(2), .seconds(1)) },
                "delivery.longestWait is shorter than the initial wait"
            ),
        ]
        for (delivery, message) in wrong {
            let leaf = Connector("b", plugin: "broken", delivery: delivery)
            #expect(faults(Connector("a", connectors: [leaf])) == ["a/b: \(message) [invalid-value]"])
        }
        let unbounded = Connector("a", plugin: "broken", delivery: policy { $0.whenFull = .dropOldest })
        #expect(
            faults(unbounded) == [
                "a: delivery.whenFull needs delivery.maximumBytes: an outbox without it is never full [missing-value]"
            ]
        )
        let slow = Connector("a", plugin: "segment", delivery: policy { $0.pace = 1e-300 })
        #expect(try Configuration(connectors: [slow]).connectors.first?.delivery?.pace == 1e-300)
    }

    @Test func `an isolation that a file may not have is refused in Swift too`() {
        let sandboxes: [(SandboxSettings, String)] = [
            (SandboxSettings(read: ["shop"]), "sandbox.read has \"shop\"; it must be an absolute path"),
            (SandboxSettings(write: [""]), "sandbox.write has \"\"; it must be an absolute path"),
            (SandboxSettings(memory: 5), "sandbox.memory is 5, outside 16777216 to 1125899906842624"),
            (SandboxSettings(cpu: .nan), "sandbox.cpu is nan, outside 0.01 to 1024"),
            (SandboxSettings(threads: 1), "sandbox.threads is 1, outside 8 to 65536"),
        ]
        for (sandbox, message) in sandboxes {
            let leaf = Connector("a", plugin: "broken", isolation: Isolation(.process, sandbox: sandbox))
            #expect(faults(leaf) == ["a: isolation.\(message) [invalid-value]"])
        }
        let misnamed = faults(Connector("a", plugin: "broken", isolation: Isolation(.process, runner: "A b")))
        #expect(
            misnamed.first?.hasPrefix("a: isolation.runner is \"A b\"; it must be 1 to 64 lower-case letters") == true
        )
        #expect(
            faults(Connector("a", plugin: "broken", isolation: Isolation(.none, runner: "b"))) == [
                #"a: a runner is named, and the isolation is "none" here: the plugin runs in the host's process "#
                    + #"[invalid-value]; make the isolation "process" here, or remove the runner"#
            ]
        )
        let required = Isolation(.none, sandbox: SandboxSettings(level: .required))
        #expect(
            faults(Connector("a", plugin: "broken", isolation: required)) == [
                #"a: the sandbox is required, and the isolation is "none" here: a plugin in the host's process has none "#
                    + #"[invalid-value]; make the isolation "process" here, or do not require the sandbox"#
            ]
        )
    }

    @Test func `what a file says of isolation for others is valid when its connectors are used in Swift`() throws {
        let text = #"""
            {"version": 1, "isolation": "process", "sandbox": "required",
            "connectors": [{"name": "a", "plugin": "segment", "isolation": "none"}]}
            """#
        let file = try Configuration(parsing: text, environment: .init([:]))
        #expect(try Configuration(connectors: file.connectors).connectors.map(\.path) == ["a"])
    }

    @Test func `an appended connector may be another place of a leaf of the file, and of nothing else`() throws {
        let file = try Configuration(parsing: #"{"version": 1, "connectors": [{"name": "a", "plugin": "segment"}]}"#)
        #expect(try file.appending([Connector("x", same: "a")]).connectors.count == 2)
        let error = #expect(throws: ConfigurationErrors.self) { try file.appending([Connector("x", same: "typo")]) }
        #expect(error?.errors.map(\.code) == [.unknownConnector])
    }

    @Test func `an invalid setting of an appended connector has no position, as no file has it`() throws {
        let file = try Configuration(parsing: #"{"version": 1, "connectors": [{"name": "a", "plugin": "segment"}]}"#)
        let added = Connector("b", plugin: "segment", timeout: .zero)
        let error = #expect(throws: ConfigurationErrors.self) { try file.appending([added]) }
        #expect(
            error?.errors.map(\.description) == [
                "b: timeout is 0.0 seconds; it must be greater than zero [invalid-value]"
            ]
        )
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
