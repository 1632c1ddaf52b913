// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost

/// A connector's text, and what is to be said about it.
struct Fault: Sendable, CustomTestStringConvertible {
    let connectors: String
    let expected: [String]

    init(_ connectors: String, _ expected: String...) {
        self.connectors = connectors
        self.expected = expected
    }

    var testDescription: String { expected.first ?? connectors }
}

@Suite struct ConfigurationFaultTests {
    @Test func `every fault is found in one pass, in the order of the file`() {
        let text = """
            {
              "version": 1,
              "conectors": [],
              "connectors": [
                { "name": "analytics", "connectors": [
                  { "name": "segment",
                    "pluign": "segment" },
                  { "name": "posthog", "plugin": "posthogg", "config": { "apiKey": "${KEY}" } } ] },
                { "name": "crash", "plugin": "segment", "after": ["analytics/sgment"],
                  "config": { "writekey": "x", "batch": 1000 } },
                { "name": "crash", "plugin": "sentry", "timeout": "5 s" }
              ]
            }
            """
        #expect(
            faults(text) == [
                #"c.json:3:3: unknown key "conectors" [unknown-key]; did you mean "connectors"?"#,
                #"c.json:7:9: analytics/segment: unknown key "pluign" [unknown-key]; did you mean "plugin"?"#,
                #"c.json:8:38: analytics/posthog: there is no plugin "posthogg" [unknown-plugin]; did you mean "posthog"?"#,
                #"c.json:8:72: analytics/posthog: the environment variable KEY is not set [missing-variable]; "#
                    + "set it, or write ${KEY:-default}",
                #"c.json:9:55: crash: "after" names "analytics/sgment", which does not exist "#
                    + #"[unknown-connector]; did you mean "analytics/segment"?"#,
                #"c.json:10:19: crash: the plugin segment has no configuration field "writekey" [unknown-key]; did you mean "writeKey"?"#,
                #"c.json:10:45: crash: batch must be at most 100 [invalid-value]"#,
                #"c.json:11:15: crash: the name "crash" is already used by the connector at c.json:9:15 [duplicate-name]; "#
                    + "rename one of them",
                #"c.json:11:34: crash: the plugin sentry requires "endpoint" in "config" [missing-value]"#,
                #"c.json:11:55: crash: timeout is "5 s"; it must be a duration such as "250ms" or "5s" [invalid-value]"#,
            ]
        )
    }

    @Test(arguments: [
        ("", #"c.json:1:1: expected a value, found the end [syntax]"#),
        ("[]", "c.json:1:1: the text must be an object, not an array [wrong-type]"),
        ("{\"version\": 1}", "c.json:1:1: connectors is missing; it must be an array [missing-value]"),
        ("{\"connectors\": []}", "c.json:1:1: version is missing [missing-value]; write \"version\": 1"),
        (
            "{\"version\": \"1\", \"connectors\": []}",
            "c.json:1:13: version must be an integer, not a string [wrong-type]"
        ),
        (
            "{\"version\": 2, \"connectors\": []}",
            "c.json:1:13: the file has version 2, but this host supports only version 1 [invalid-value]; "
                + "write \"version\": 1, or use a newer host"
        ),
        (
            "{\"version\": 1, \"reload\": true, \"connectors\": []}",
            "c.json:1:26: reload must be \"atomic\" or \"each\", not a boolean [wrong-type]"
        ),
        (
            "{\"version\": 1, \"connectors\": {}}",
            "c.json:1:30: connectors must be an array, not an object [wrong-type]"
        ),
        (
            "{\"version\": 1, \"plugins\": [1], \"connectors\": []}",
            "c.json:1:28: plugins[0] must be a string, not an integer [wrong-type]"
        ),
        (
            "{\"version\": 1, \"plugins\": [\"\"], \"connectors\": []}",
            "c.json:1:28: plugins[0] must be the path of a directory [invalid-value]"
        ),
        (
            "{\"version\": 1, \"plugins\": [\"${HOME_}\"], \"connectors\": []}",
            "c.json:1:28: the environment variable HOME_ is not set [missing-variable]; "
                + "set it, or write ${HOME_:-default}"
        ),
        (
            "{\"version\": 1, \"connectors\": [ ], }",
            "c.json:1:33: expected a name in double quotes after this comma, found '}' [syntax]; remove the comma"
        ),
    ])
    func `the file itself is checked`(text: String, expected: String) {
        #expect(faults(text) == [expected])
    }

    @Test(arguments: [
        Fault("7", "c.json:1:31: connectors[0] must be an object, not an integer [wrong-type]"),
        Fault(
            #"{"plugin": "broken"}"#,
            "c.json:1:31: connectors[0].name is missing; it must be a string [missing-value]"
        ),
        Fault(
            #"{"name": "Ä", "plugin": "broken"}"#,
            "c.json:1:40: the name \"Ä\" must be \(identifierRule) [invalid-value]"
        ),
        Fault(
            #"{"name": "a"}"#,
            #"c.json:1:31: a: a connector needs a "plugin", or "connectors" below it [missing-value]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "connectors": [{"name": "b", "plugin": "broken"}]}"#,
            "c.json:1:45: a: a connector has either a plugin or child connectors, not both [invalid-value]; "
                + "move the plugin into a separate connector below this one"
        ),
        Fault(
            #"{"name": "a", "connectors": []}"#,
            "c.json:1:59: a: a composite needs at least one connector [missing-value]"
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "policy": "all"}"#,
            #"c.json:1:65: a: "policy" is for composites only, and this connector has a plugin [unknown-key]"#
        ),
        Fault(
            #"{"name": "a", "timeout": "1s", "connectors": [{"name": "b", "plugin": "broken"}]}"#,
            #"c.json:1:45: a: "timeout" is for connectors with a plugin only, and this one has child connectors [unknown-key]"#
        ),
        Fault(
            #"{"name": "a", "policy": "frist", "connectors": [{"name": "b", "plugin": "broken"}]}"#,
            #"c.json:1:55: a: unknown policy "frist" [invalid-value]; did you mean "first"?"#
        ),
        Fault(
            #"{"name": "a", "policy": "first", "quorum": 1, "connectors": [{"name": "b", "plugin": "broken"}]}"#,
            #"c.json:1:64: a: the policy "first" has no quorum; only "all" does [invalid-value]"#
        ),
        Fault(
            #"{"name": "a", "quorum": 2, "connectors": [{"name": "b", "plugin": "broken"}]}"#,
            "c.json:1:55: a: quorum is 2, outside 1 to 1 [invalid-value]"
        ),
        Fault(
            #"{"name": "a", "plugin": "Sen try"}"#,
            #"c.json:1:55: a: "Sen try" is neither a plugin's id nor a path, which contains a slash [invalid-value]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "version": "1.2"}"#,
            #"c.json:1:76: a: the version "1.2" must be complete, such as 1.2.3 [invalid-value]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "isolation": true}"#,
            #"c.json:1:78: a: isolation must be "process", "auto" or "none", not a boolean [wrong-type]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "writeKey": "x"}"#,
            #"c.json:1:65: a: unknown key "writeKey" [unknown-key]; if it is a setting of the plugin, write it into "config""#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "allow.hosts": ["api.example.com"]}"#,
            #"c.json:1:65: a: unknown key "allow.hosts" [unknown-key]; write "allow": {"hosts": …}"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "outbox.batch.count": 1}"#,
            #"c.json:1:65: a: unknown key "outbox.batch.count" [unknown-key]; write "outbox": {"batch": {"count": …}}"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "outbox": {"batch.age": "1s"}}"#,
            #"c.json:1:76: a: unknown key "batch.age" [unknown-key]; write "batch": {"age": …}"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "timeout.max": "1s"}"#,
            #"c.json:1:65: a: unknown key "timeout.max" [unknown-key]; "#
                + #"if it is a setting of the plugin, write it into "config""#
        ),
        Fault(
            #"{"name": "a", "plugin": "Segment"}"#,
            #"c.json:1:55: a: "Segment" is neither a plugin's id nor a path, which contains a slash [invalid-value]; "#
                + #"did you mean "segment"?"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "runner": "r"}"#,
            #"c.json:1:75: a: a runner is named, and the isolation is "none" here: the plugin runs in the host's process "#
                + #"[invalid-value]; make the isolation "process" here, or remove the runner"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "timeout": 5}"#,
            #"c.json:1:76: a: timeout must be a duration such as "250ms" or "5s", not an integer [wrong-type]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "timeout": "0s"}"#,
            #"c.json:1:76: a: timeout is "0s"; it must be a duration from "1ms" to "8760h" [invalid-value]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "probe": "never"}"#,
            #"c.json:1:74: a: probe is "never"; it must be a duration such as "30s", or "off" [invalid-value]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "retry": {"attempts": 0}}"#,
            "c.json:1:87: a: retry.attempts is 0, outside 1 to 1000 [invalid-value]"
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "retry": {"initial": "2s", "max": "1s"}}"#,
            "c.json:1:99: a: retry.max is shorter than the initial wait [invalid-value]"
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "heal": {"initial": "2m", "max": "1m", "attempts": 3}}"#,
            "c.json:1:98: a: heal.max is shorter than the initial wait [invalid-value]",
            #"c.json:1:104: a: unknown key "attempts" [unknown-key]; known: initial, max"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "heal": {"initial": "soon"}}"#,
            #"c.json:1:85: a: heal.initial is "soon"; it must be a duration such as "250ms" or "5s" [invalid-value]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "heal": "never"}"#,
            #"c.json:1:73: a: heal must be "off" or an object, not "never" [invalid-value]; "#
                + #"write {"initial": "1s", "max": "60s"}, or "off""#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "heal": false}"#,
            #"c.json:1:73: a: heal must be "off" or an object, not a boolean [wrong-type]; "#
                + #"write {"initial": "1s", "max": "60s"}, or "off""#
        ),
        Fault(
            #"{"name": "a", "heal": "off", "connectors": [{"name": "b", "plugin": "broken"}]}"#,
            #"c.json:1:45: a: "heal" is for connectors with a plugin only, and this one has child connectors [unknown-key]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "${NOPE}", "enabled": "${NEITHER}"}"#,
            "c.json:1:55: a: the environment variable NOPE is not set [missing-variable]; set it, or write ${NOPE:-default}",
            "c.json:1:77: a: the environment variable NEITHER is not set [missing-variable]; "
                + "set it, or write ${NEITHER:-default}"
        ),
        Fault(
            #"{"name": "a", "plugin": "${A:-Sen try}", "enabled": "${ON:-maybe}"}"#,
            #"c.json:1:55: a: "Sen try" is neither a plugin's id nor a path, which contains a slash [invalid-value]; "#
                + "correct the environment variable in ${A:-Sen try}",
            #"c.json:1:83: a: enabled must be true or false, but ${ON:-maybe} is "maybe" [invalid-value]; "#
                + #"set the environment variable to "true" or "false""#
        ),
        Fault(
            #"{"name": "a", "plugin": "${", "enabled": "true"}"#,
            #"c.json:1:55: a: "${" has no "}"; write "$${" for the characters themselves [invalid-value]"#,
            "c.json:1:72: a: enabled must be true or false, not a string [wrong-type]"
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "enabled": "no", "required": 1}"#,
            "c.json:1:76: a: enabled must be true or false, not a string [wrong-type]",
            "c.json:1:94: a: required must be true or false, not an integer [wrong-type]"
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "allow": {"hosts": ["a b"], "host": 1}}"#,
            #"c.json:1:85: a: "a b" is not a host [invalid-value]; "#
                + #"write a name such as "api.example.com", "*.example.com" or "example.com:8080""#,
            #"c.json:1:93: a: unknown key "host" [unknown-key]; did you mean "hosts"?"#
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "was": "old"}, {"name": "b", "plugin": "broken", "was": "old"}"#,
            #"c.json:1:121: b: "was" names "old", which is already the former path of the connector at c.json:1:72 "#
                + "[duplicate-name]; remove one of them"
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "record": "/tmp/x.json"}, "#
                + #"{"name": "b", "plugin": "broken", "record": "/tmp/x.json"}"#,
            #"c.json:1:135: b: "record" names "/tmp/x.json", which already has the recording of the connector at c.json:1:75 "#
                + "[duplicate-name]; remove one of them"
        ),
        Fault(
            #"{"name": "a", "plugin": "broken", "outbox": {"pace": "+100/s"}}"#,
            #"c.json:1:84: a: pace is "+100/s"; it must be a number of events in a time, such as "100/s" or "30/m" [invalid-value]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "${A:-x${B:-y}}"}"#,
            "c.json:1:55: a: the default of A cannot contain another variable [invalid-value]"
        ),
    ])
    func `the form of a connector is checked`(fault: Fault) {
        #expect(faults(connectors: fault.connectors) == fault.expected)
    }

    @Test func `a disabled connector needs no plugin, variable or secret, but must have the right form`() {
        let disabled = """
            {"name": "a", "enabled": false, "connectors": [
                {"name": "b", "plugin": "nope", "config": {"x": "${NOPE}", "y": {"secret": "file:nope"}}}]}
            """
        #expect(faults(connectors: disabled).isEmpty)
        let sandboxed = """
            {"name": "a", "enabled": false, "connectors": [
                {"name": "b", "plugin": "nope", "sandbox": {"read": ["${NOPE}"], "write": ["${NOPE}/cache"]}}]}
            """
        #expect(faults(connectors: sandboxed).isEmpty)
        #expect(
            faults(connectors: #"{"name": "b", "plugin": "nope", "enabled": false, "probe": 5}"#) == [
                #"c.json:1:90: b: probe must be a duration or "off", not an integer [wrong-type]"#
            ]
        )
    }

    @Test func `a plugin that cannot be used is a failure of its gate, not a fault of the file`() throws {
        let text = """
            {"version": 1, "connectors": [{"name": "a", "plugin": "broken", "config": {"anything": 1}},
             {"name": "b", "plugin": "segment", "config": {"writeKey": "k"}}]}
            """
        let resolved = try Configuration(parsing: text, file: "c.json").resolved(manifest: manifest(of:))
        guard case .failure(let error) = resolved.leaves["a"] else {
            Issue.record("a broken plugin has a plan")
            return
        }
        #expect(error.description == "c.json:1:55: a: the file ends early [truncated]")
        #expect(throws: Never.self) { try resolved.leaves["b"]?.get() }
    }

    @Test func `a sequence whose connectors take the same events is a fault at its policy`() {
        let track = #""analytics/1": {"track": {"symbol": "t", "signature": "(event: json) async"}}"#
        let geocode = #""geocoder/1": {"geocode": {"symbol": "g", "signature": "(request: json) async -> json"}}"#
        func manifest(_ plugin: PluginSpecification) -> Result<Manifest, ConnectorError> {
            let text = """
                {"manifest": 1, "id": "\(plugin.name)", "version": "1.0.0", "abi": [1, 1], "entry": "plugin_entry",
                 "capabilities": {\(plugin.name == "places" ? geocode : track)}}
                """
            return Result { () throws(ConnectorError) in try Manifest(parsing: Array(text.utf8)) }
        }
        func faults(_ policy: String, _ children: String) -> [ConnectorError] {
            let group = #"{"name": "group", "policy": "\#(policy)", "connectors": [\#(children)]}"#
            do throws(ConfigurationErrors) {
                let configuration = try Configuration(parsing: #"{"version": 1, "connectors": [\#(group)]}"#)
                _ = try configuration.resolved(manifest: manifest)
                return []
            } catch {
                return error.errors
            }
        }
        let (one, two) = (#"{"name": "one", "plugin": "segment"}"#, #"{"name": "two", "plugin": "posthog"}"#)
        let nested = #"{"name": "nested", "policy": "first", "connectors": [\#(two)]}"#
        for children in ["\(one), \(two)", "\(one), \(nested)"] {
            let found = faults("sequence", children)
            #expect(found.map(\.code) == [.invalidValue])
            #expect(found.first?.connector == "group" && found.first?.message.contains("analytics/1") == true)
            #expect(found.first?.position?.column == 59)
            #expect(faults("all", children).isEmpty)
        }
        let disabled = #"{"name": "off", "plugin": "posthog", "enabled": false}"#
        let places = #"{"name": "places", "plugin": "places"}"#
        #expect(faults("sequence", "\(one), \(disabled), \(places)").isEmpty)
    }

    @Test func `the nesting of connectors is limited`() {
        var text = #"{"name": "x", "plugin": "broken"}"#
        for _ in 0..<32 { text = #"{"name": "x", "connectors": [\#(text)]}"# }
        let found = faults(connectors: text)
        #expect(found.count == 1)
        #expect(found.first?.contains("connectors nest deeper than 32 levels [invalid-value]") ?? false)
    }

    @Test func `every member that holds an object by the schema may be meant by a name with a dot`() {
        func objects(in schema: JSONValue?) -> Set<String> {
            var names: Set<String> = []
            for member in schema?["properties"]?.object?.members ?? [] {
                for form in [member.value] + (member.value["anyOf"]?.array ?? [])
                where form["type"] == "object" || form["$ref"] == "#/$defs/answers" {
                    names.formUnion(objects(in: form).union([member.name]))
                }
            }
            return names
        }
        let schema = ConfigurationSchema(manifests: []).json
        let found = objects(in: schema).union(objects(in: schema["$defs"]?["connector"]))
        #expect(found == ConfigurationReader.objectNames)
    }

    @Test func `a runner that a composite names is for those of its leaves that have one`() throws {
        let text = #"""
            {"version": 1, "connectors": [{"name": "a", "runner": "shared", "connectors": [
                {"name": "b", "plugin": "segment"}, {"name": "c", "plugin": "segment", "isolation": "process"}
            ]}]}
            """#
        let configuration = try Configuration(parsing: text, environment: Configuration.Environment([:]))
        #expect(configuration.connectors[0].children.map(\.isolation.kind) == [.none, .process])
        // What was read from a file is also valid in Swift.
        _ = try Configuration(connectors: configuration.connectors)
    }

    @Test func `the number of listed faults is limited`() {
        let many = (0..<2000).map { "\"k\($0)\": 1" }.joined(separator: ",")
        #expect(faults("{\"version\": 1, \"connectors\": [], \(many)}").count == JSONReader.problemLimit)
    }

    @Test func `a file that is absent, too large or a directory is one fault`() throws {
        #expect {
            try Configuration.read(file: "/nowhere/connectors.json")
        } throws: { error in
            "\(error)" == "there is no file /nowhere/connectors.json [not-found]; check the path"
        }
        try withTemporaryDirectory { directory in
            let path = try directory.write("c.json", String(repeating: " ", count: Configuration.sizeLimit + 1))
            #expect {
                try Configuration.read(file: path)
            } throws: { error in
                "\(error)" == "\(path) has more than 4096 KiB [too-large]; check that it is the right file"
            }
            #expect {
                try Configuration.read(file: directory.path)
            } throws: { error in
                "\(error)" == "\(directory.path) is a directory [unreadable]; check that it is the right path"
            }
            try directory.write("connectors.json", "{}")
            #expect {
                try Configuration.read(file: "\(directory.path)/conectors.json")
            } throws: { error in
                "\(error)".hasSuffix("[not-found]; did you mean \(directory.path)/connectors.json?")
            }
        }
    }
}
