// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

@Suite struct ConfigurationResolutionTests {
    @Test func `values follow the manifest's order, with the defaults filled in`() throws {
        let plan = try resolve(config: #"{"traits": {"a": [1, null]}, "writeKey": "key", "ratio": 0.5, "flush": "5s"}"#)
        #expect(
            plan.config.description == #"{"endpoint":"https://api.segment.io/v1","writeKey":"{{secret:writeKey}}","#
                + #""batch":20,"ratio":0.5,"flush":"5s","traits":{"a":[1,null]}}"#
        )
        #expect(plan.manifest.id == "segment")
    }

    @Test func `a member whose name begins with a dollar sign is a comment, among the fields, too`() throws {
        let plan = try resolve(config: #"{"$comment": ["the shop's"], "writeKey": "key", "$note": "${UNSET}"}"#)
        #expect(plan.config.names == ["endpoint", "writeKey", "batch"])
    }

    @Test func `a secret that is written as a shell's variable is a warning, which does not show it`() throws {
        let warning = #""writeKey" begins with "$", and is taken as it is written: a variable is written ${NAME}"#
        let plan = try resolve(config: ##"{"writeKey": "$SEGMENT", "host": "$HOST"}"##)
        #expect(plan.warnings == [warning])
        #expect(plan.secrets["writeKey"]?.reveal() == "$SEGMENT")
        for key in ["key", "$", "$1", "$a-b", "a$B", "$2y$10$abc"] {
            #expect(try resolve(config: #"{"writeKey": "\#(key)"}"#).warnings == [], "\(key)")
        }
        #expect(try resolve(config: #"{"writeKey": "${K}"}"#, environment: ["K": "$K"]).warnings == [])
    }

    @Test func `a variable on its own takes the type that its field declares`() throws {
        let plan = try resolve(
            config: """
                {"writeKey": "${K}", "batch": "${N}", "ratio": "${R:-0.25}", "gzip": "${B}", "host": "${N}", "traits": "${N}"}
                """,
            environment: ["K": "12345", "N": "7", "B": "true"]
        )
        #expect(plan.config["batch"] == 7)
        #expect(plan.config["ratio"] == 0.25)
        #expect(plan.config["gzip"] == true)
        #expect(plan.config["host"] == "7")
        #expect(plan.config["traits"] == "7")
        #expect(plan.secrets["writeKey"]?.reveal() == "12345")
    }

    @Test(arguments: [("N", "seven"), ("N", "1.5"), ("N", ""), ("N", "[1]"), ("N", " 7 8")])
    func `a variable that is not a number is refused without showing its value`(name: String, value: String) {
        #expect {
            try resolve(config: #"{"writeKey": "k", "batch": "${N}"}"#, environment: [name: value])
        } throws: { error in
            "\(error)" == "1:106: leaf: batch must be an integer, not a string [wrong-type]; "
                + "correct the environment variable that holds the value"
        }
    }

    @Test(arguments: [("a/b", "/etc/app/a/b"), ("${HOME}/b", "/home/ada/b"), ("../b", "/etc/app/../b")])
    func `a relative path starts at the directory of the file`(path: String, resolved: String) throws {
        let config = #"{"writeKey": "key", "cache": "\#(path)"}"#
        let plan = try resolve(config: config, directory: "/etc/app", environment: ["HOME": "/home/ada"])
        #expect(plan.config["cache"] == .string(resolved))
    }

    @Test func `a path below the working directory is absolute, since a runner has another one`() throws {
        let path = try #require(try resolve(config: #"{"writeKey": "key", "cache": "a/b"}"#).config["cache"]?.string)
        #expect(path.hasPrefix("/") && path.hasSuffix("/a/b"), "\(path)")
    }

    @Test func `a secret field is hidden however it is given`() throws {
        try withTemporaryDirectory { directory in
            let file = try directory.write("key", "from-file\n")
            let given: [(String, String)] = [
                (#""plain-key""#, "plain-key"), (#""${KEY}""#, "from-env"), (#"{"secret": "env:KEY"}"#, "from-env"),
                (#"{"secret": "file:\#(file)"}"#, "from-file"), (#"{"secret": "env:${WHICH}"}"#, "from-env"),
            ]
            for (value, expected) in given {
                let plan = try resolve(
                    config: #"{"writeKey": \#(value)}"#,
                    environment: ["KEY": "from-env", "WHICH": "KEY"]
                )
                #expect(plan.config["writeKey"] == "{{secret:writeKey}}")
                #expect(plan.secrets["writeKey"]?.reveal() == expected)
                #expect(!"\(plan)".contains(expected))
                var dumped = ""
                dump(plan, to: &dumped)
                #expect(!dumped.contains(expected))
            }
        }
    }

    @Test(arguments: [
        ("endpoint", #"{"secret": "env:DSN"}"#), ("host", #"{"secret": "env:DSN"}"#),
        ("batch", #"{"secret": "env:NUMBER"}"#),
        ("traits", #"{"secret": "env:DSN"}"#), ("traits", #"{"headers": [{"secret": "env:DSN"}]}"#),
        ("mode", #"{"secret": "env:DSN"}"#),
    ])
    func `a secret for a field that the plugin reads in clear is refused`(field: String, value: String) throws {
        let text = """
            {"version": 1, "connectors": [{"name": "a", "plugin": "segment", "config":
              {"writeKey": "key1", "\(field)": \(value)}}]}
            """
        let environment = Configuration.Environment(["DSN": "https://public@sentry.io/1", "NUMBER": "42"])
        #expect {
            try Configuration(parsing: text).resolved(environment: environment, manifest: manifest(of:))
        } throws: { error in
            let problems = (error as? ConfigurationErrors)?.errors ?? []
            return problems.count == 1 && problems[0].code == .invalidValue
                && problems[0].message.hasPrefix("the plugin segment receives \"\(field)\" in clear text")
                && !"\(problems)".contains("public") && !"\(problems)".contains("42")
        }
    }

    /// Whether a leaf has the same plan after a change of its settings, or of its surroundings.
    private func keepsPlan(
        _ plugin: String,
        _ settings: String,
        _ next: String? = nil,
        directory: String = "/a",
        environment: [String: String] = [:]
    ) throws -> Bool {
        func configuration(_ settings: String, directory: String) throws -> Configuration {
            let text = #"{"version": 1, "connectors": [{"name": "leaf", "plugin": "\#(plugin)", \#(settings)}]}"#
            return try Configuration(parsing: text, directory: directory, environment: .init([:]))
        }
        let variables = ["URL": "https://a.io", "KEY": "key1"]
        let first = try configuration(settings, directory: "/a")
            .resolved(environment: .init(variables), manifest: manifest(of:))
        let second = try configuration(next ?? settings, directory: directory).resolved(
            environment: .init(environment.isEmpty ? variables : environment),
            after: first,
            manifest: manifest(of:)
        )
        let (old, new) = try (#require(first.leaves["leaf"]).get(), #require(second.leaves["leaf"]).get())
        let again = try configuration(next ?? settings, directory: directory)
            .resolved(environment: .init(environment.isEmpty ? variables : environment), manifest: manifest(of:))
        #expect(try new.config == #require(again.leaves["leaf"]).get().config)
        #expect(try new.egress == #require(again.leaves["leaf"]).get().egress)
        return new.members.isCopy(of: old.members)
    }

    @Test func `a leaf with the same text keeps its plan`() throws {
        let endpoint = #""config": {"endpoint": "https://a.io"}"#
        #expect(try keepsPlan("sentry", endpoint))
        #expect(try keepsPlan("sentry", endpoint, endpoint + #", "timeout": "1s""#))
        #expect(try !keepsPlan("sentry", endpoint, #""config": {"endpoint": "https://b.io"}"#))
        #expect(try !keepsPlan("sentry", endpoint, endpoint + #", "allow": {"hosts": []}"#))
        #expect(try !keepsPlan("sentry", endpoint, directory: "/b"))
    }

    @Test func `a leaf with variables or secrets is read again each time`() throws {
        let variable = #""config": {"endpoint": "${URL}"}"#
        #expect(try !keepsPlan("sentry", variable))
        #expect(try !keepsPlan("sentry", variable, environment: ["URL": "https://b.io"]))
        #expect(try !keepsPlan("segment", #""config": {"writeKey": "key1"}"#))
        #expect(try !keepsPlan("segment", #""config": {"writeKey": {"secret": "env:KEY"}}"#))
        #expect(try !keepsPlan("segment", #""config": {"writeKey": "key1", "traits": ["${URL}"]}"#))
    }

    @Test func `an object with other keys beside secret is an ordinary value`() throws {
        let text = """
            {"version": 1, "connectors": [{"name": "b", "plugin": "segment", "config":
              {"writeKey": "key1", "traits": {"other": {"secret": 1, "x": 2}}}}]}
            """
        let resolved = try Configuration(parsing: text).resolved(environment: .init([:]), manifest: manifest(of:))
        let segment = try #require(try resolved.leaves["b"]?.get())
        #expect(segment.config["traits"]?["other"]?["x"] == 2)
        #expect(resolved.redactor.redact("sentry_key=public, key1") == "sentry_key=public, •••")
    }

    @Test(arguments: [
        (#"{"writeKey": "k"}"#, "", ["api.segment.io", "cdn.segment.com"]),
        (#"{"writeKey": "k", "endpoint": "http://LOCALHOST:8080/x"}"#, "", ["localhost:8080", "cdn.segment.com"]),
        (#"{"writeKey": "k", "endpoint": "http://u@[::1]:8080/x"}"#, "", ["[::1]:8080", "cdn.segment.com"]),
        (
            #"{"writeKey": "k"}"#, #", "allow": {"hosts": ["*.Example.com", "[::1]", "10.0.0.1:80"]}"#,
            ["*.example.com", "[::1]", "10.0.0.1:80"]
        ),
        (#"{"writeKey": "k"}"#, #", "allow": {"hosts": []}"#, []),
    ])
    func `a plugin may talk to the hosts of its manifest, unless the operator says others`(
        config: String,
        other: String,
        expected: [String]
    ) throws {
        #expect(try resolve(config: config, other: other).egress.map(\.description) == expected)
    }

    @Test func `a vendor is pointed elsewhere with its user and path`() throws {
        let text = """
            {"version": 1, "connectors": [
              {"name": "a", "plugin": "sentry", "config": {"endpoint": "https://KEY@sentry.io/1?x=y"}},
              {"name": "b", "plugin": "segment", "config": {"writeKey": "key1"}, "allow": {"hosts": ["*.com"]}},
              {"name": "c", "plugin": "broken"},
              {"name": "d", "plugin": "posthog", "config": {"endpoint": "https://eu.posthog.com", "apiKey": "k"}},
              {"name": "e", "plugin": "posthog", "config": {"endpoint": "https://eu.posthog.com", "apiKey": "k"}}]}
            """
        let base = try #require(URLParts("http://127.0.0.1:9999/"))
        let resolved = try Configuration(parsing: text).resolved(manifest: manifest(of:)).pointing { path, plan in
            switch path {
            case "d": return .none(ConnectorError(.notSimulated, "no simulator"))
            case "e": return .local
            default:
                var url = base
                url.rest += plan.manifest.id
                return .server(url)
            }
        }
        let plans = try ["a", "b", "e"].map { try #require(resolved.leaves[$0]).get() }
        #expect(
            plans.map { $0.config["endpoint"] } == [
                "http://KEY@127.0.0.1:9999/sentry/1?x=y", "http://127.0.0.1:9999/segment/v1", "https://eu.posthog.com",
            ]
        )
        // Whatever the file allows: while the gates are simulated, no real host can be reached.
        #expect(plans.map { $0.egress.map(\.description) } == [["127.0.0.1:9999"], ["127.0.0.1:9999"], []])
        #expect(throws: ConnectorError.self) { try resolved.leaves["c"]?.get() }
        #expect {
            try resolved.leaves["d"]?.get()
        } throws: { error in
            "\(error)" == "d: no simulator [not-simulated]"
        }
        // Healing reads the leaves again: it must not bring a real host back.
        let renewed = resolved.renew("b", .all).alternatives.first
        #expect(renewed?.egress.map(\.description) == ["127.0.0.1:9999"])
        #expect(resolved.renew("d", .all).alternatives.isEmpty)
    }

    @Test func `a simulator gets the vendor's own paths, and not those of a gateway before it`() throws {
        let text = """
            {"version": 1, "connectors": [
              {"name": "a", "plugin": "segment", "config": {"endpoint": "https://gateway/segment?x=y", "writeKey": "k"}}]}
            """
        let base = try #require(URLParts("http://127.0.0.1:9999/simulator"))
        let urls = [true: "http://127.0.0.1:9999/simulator/segment?x=y", false: "http://127.0.0.1:9999/simulator/v1"]
        for (keepsPaths, url) in urls {
            let resolved = try Configuration(parsing: text).resolved(manifest: manifest(of:)).pointing { _, _ in
                .server(base, keepsPaths: keepsPaths)
            }
            let plan = try #require(resolved.leaves["a"]).get()
            #expect(plan.config["endpoint"]?.string == url)
        }
    }

    @Test func `texts that are merely equivalent in Unicode are different settings and different secrets`() throws {
        func side(_ letter: String) throws(ConfigurationErrors) -> PlanSide {
            let config = #"{"writeKey": "k\#(letter)y", "host": "h\#(letter)st"}"#
            let text = #"{"version": 1, "connectors": [{"name": "leaf", "plugin": "segment", "config": \#(config)}]}"#
            return PlanSide(try Configuration(parsing: text).resolved(manifest: manifest(of:)), digest: "")
        }
        let plan = Plan(from: try side("\u{E9}"), to: try side("e\u{301}")) { $0 }
        #expect(plan.changes.map(\.path) == ["leaf"])
        #expect(plan.changes.first?.fields.map(\.name) == ["config.writeKey", "config.host"])
        #expect(Plan(from: try side("\u{E9}"), to: try side("\u{E9}")) { $0 }.changes.isEmpty)
    }

    @Test func `loading a file finds its own faults and the plugins' in one pass`() throws {
        try withTemporaryDirectory { directory in
            let file = try directory.write(
                "connectors.json",
                #"{"version": 1, "plugins": ["P"], "connectors": [{"name": "a", "plugin": "segment", "x": 1}]}"#
            )
            #expect {
                try Configuration.load(file: file, environment: .init([:])) { configuration in
                    #expect(configuration.pluginDirectories == ["\(directory.path)/P"])
                    return manifest(of:)
                }
            } throws: { error in
                (error as? ConfigurationErrors)?.errors.map(\.code) == [.missingValue, .unknownKey]
            }
        }
    }
}
