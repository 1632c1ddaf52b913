// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import ConnectorTestSupport
import Testing

@Suite struct ConfigurationSchemaTests {
    private static func schema(_ more: Manifest...) throws -> JSONValue {
        let known = try manifests.keys.sorted().map { try manifest(of: PluginSpecification($0)).get() }
        return ConfigurationSchema(manifests: known + more).json
    }

    @Test func `the schema follows the draft that editors know`() throws {
        let schema = try Self.schema()
        #expect(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema")
        #expect(schema["required"] == ["version"])
        #expect(schema["anyOf"] == [["required": ["connectors"]], ["required": ["include"]]])
        #expect(schema["properties"]?["include"]?["items"] == ["type": "string", "minLength": 1])
        #expect(schema["properties"]?["version"]?["const"] == 1)
        #expect(try JSONValue(parsing: schema.serialized(pretty: true)) == schema)
    }

    @Test func `healing may be switched off or have two waits`() throws {
        let heal = try Self.schema()["$defs"]?["connector"]?["properties"]?["heal"]?["anyOf"]
        #expect(heal?[0] == ["const": "off"])
        #expect(heal?[1]?["properties"]?.object?.names == ["initial", "max"])
        #expect(heal?[1]?["additionalProperties"] == false)
    }

    @Test func `every plugin is offered with its description`() throws {
        var described = try manifest(of: PluginSpecification("sentry")).get()
        described.id = "other"
        described.documentation = "Errors."
        let plugin = try Self.schema(described)["$defs"]?["connector"]?["properties"]?["plugin"]?["anyOf"]?.array
        #expect(plugin?.compactMap { $0["const"]?.string } == ["other", "posthog", "segment", "sentry"])
        #expect(plugin?.first?["description"] == "Errors.")
        #expect(plugin?.suffix(2).first?["pattern"] == "/")
        #expect(plugin?.last == ["$ref": "#/$defs/variable"])
    }

    @Test func `a field is described with its type, bounds, values and default`() throws {
        let fields = try #require(try Self.schema()["$defs"]?["plugin:segment"]?["properties"])
        #expect(fields["endpoint"]?["default"] == "https://api.segment.io/v1")
        #expect(fields["endpoint"]?["description"] == "Where events go.")
        #expect(fields["batch"]?["anyOf"]?[0] == ["type": "integer", "minimum": 1, "maximum": 100])
        #expect(fields["batch"]?["anyOf"]?[1] == ["$ref": "#/$defs/variable"])
        #expect(fields["mode"]?["anyOf"]?[0]?["enum"] == ["fast", "safe"])
        #expect(fields["writeKey"]?["anyOf"] == [["type": "string", "minLength": 1], ["$ref": "#/$defs/secret"]])
        #expect(fields["traits"] == [:])
        #expect(fields["cache"]?["anyOf"] == [["type": "string", "minLength": 1]])
    }

    @Test func `the gates that a plugin uses are bound by the names in its manifest`() throws {
        var user = try manifest(of: PluginSpecification("sentry")).get()
        user.id = "user"
        user.uses = try [GateUse(name: "settings", capability: #require(CapabilityID("settings/1")))]
        let connector = try #require(try Self.schema(user)["$defs"]?["connector"])
        #expect(connector["properties"]?["with"]?["additionalProperties"]?["anyOf"]?[0] == ["type": "string"])
        let rules = connector["allOf"]?.array?.compactMap { $0["then"]?["properties"]?["with"] }
        #expect(rules?.count == 1)
        #expect(rules?.first?["properties"]?["settings"]?["description"] == "A connector that offers settings/1.")
        #expect(rules?.first?["additionalProperties"] == false)
    }

    @Test func `config is required where the plugin requires a field`() throws {
        let definitions = try #require(try Self.schema()["$defs"])
        #expect(definitions["plugin:segment"]?["required"] == ["writeKey"])
        #expect(definitions["plugin:segment"]?["additionalProperties"] == false)
        let rule = definitions["connector"]?["allOf"]?.array?.first {
            $0["if"]?["properties"]?["plugin"]?["const"] == "segment"
        }
        #expect(rule?["then"]?["required"] == ["config"])
        #expect(rule?["then"]?["properties"]?["config"] == ["$ref": "#/$defs/plugin:segment"])
        #expect(rule?["if"]?["properties"]?["enabled"] == ["const": true])
    }

    @Test func `the fields are those of the highest version, unless another one is pinned`() throws {
        var older = try manifest(of: PluginSpecification("sentry")).get()
        older.version = SemanticVersion(0, 9, 0)
        older.configuration = []
        let definitions = try #require(try Self.schema(older)["$defs"])
        #expect(definitions["plugin:sentry"]?["required"] == ["endpoint"])
        #expect(definitions["plugin:sentry@0.9.0"]?["properties"] == [:])
        let rules = definitions["connector"]?["allOf"]?.array?.filter {
            $0["if"]?["properties"]?["plugin"]?["const"] == "sentry"
        }
        #expect(
            rules?.map { $0["if"]?["properties"]?["version"] } == [["not": ["enum": ["0.9.0"]]], ["const": "0.9.0"]]
        )
    }

    /// A file with one connector that has further members.
    private static func file(_ members: String) -> String {
        #"{"version": 1, "connectors": [{"name": "a", "plugin": "Plugins/a.so", \#(members)}]}"#
    }

    private static func isAccepted(_ text: String) -> Bool { (try? Configuration(parsing: text)) != nil }

    @Test(arguments: [
        #""timeout": "8760h""#, #""timeout": "0031536000000ms""#, #""outbox": {"maxBytes": 1125899906842624}"#,
        #""outbox": {"pace": "4294967295/h"}"#, #""outbox": {"pace": "007/m"}"#,
        #""isolation": "process", "sandbox": {"memory": 1125899906842624}"#, #""version": "4294967295.0.1-rc.1""#,
        #""allow": {"hosts": ["a:65535", "*.example.com:1", "[::1]:00443"]}"#,
        #""isolation": "process", "runner": "\#(String(repeating: "r", count: 64))""#,
    ])
    func `what the host accepts the schema accepts, too`(members: String) throws {
        let text = Self.file(members)
        #expect(Self.isAccepted(text))
        let check = SchemaCheck(schema: ConfigurationSchema(manifests: []).json)
        #expect(try check.faults(in: JSONValue(parsing: text)) == [])
    }

    @Test(arguments: [
        #""timeout": "8761h""#, #""timeout": "31536000001ms""#, #""timeout": "0s""#,
        #""outbox": {"maxBytes": 1125899906842625}"#, #""outbox": {"pace": "4294967296/h"}"#,
        #""outbox": {"pace": "0/m"}"#, #""isolation": "process", "sandbox": {"memory": 1125899906842625}"#,
        #""version": "4294967296.0.0""#, #""version": "01.0.0""#, #""allow": {"hosts": ["a:65536"]}"#,
        #""allow": {"hosts": ["a:0"]}"#,
        #""isolation": "process", "runner": "\#(String(repeating: "r", count: 65))""#,
    ])
    func `what the host refuses the schema refuses, too`(members: String) throws {
        let text = Self.file(members)
        #expect(!Self.isAccepted(text))
        let check = SchemaCheck(schema: ConfigurationSchema(manifests: []).json)
        #expect(try !check.faults(in: JSONValue(parsing: text)).isEmpty)
    }

    @Test(arguments: [("60s", true), ("1m", true), ("61s", false), ("60001ms", false), ("1h", false)])
    func `a program that prints a secret may take a minute`(timeout: String, isRight: Bool) throws {
        let text = #"""
            {"version": 1, "connectors": [{"name": "a", "plugin": "segment", "enabled": true,
              "config": {"writeKey": {"secret": {"exec": ["pass", "show", "x"], "timeout": "\#(timeout)"}}}}]}
            """#
        #expect(try SchemaCheck(schema: Self.schema()).faults(in: JSONValue(parsing: text)).isEmpty == isRight)
    }

    @Test func `every key has a meaning, and every duration a default`() {
        func check(_ keys: JSONValue?, _ path: String) {
            for key in keys?.object?.members ?? [] {
                let here = "\(path).\(key.name)"
                let meaning = key.value["description"]?.string ?? ""
                #expect(!meaning.isEmpty, "\(here)")
                if key.value["$ref"] == "#/$defs/duration" { #expect(meaning.contains("by default, "), "\(here)") }
                check(key.value["properties"], here)
                for choice in key.value["anyOf"]?.array ?? [] { check(choice["properties"], here) }
            }
        }
        let schema = ConfigurationSchema(manifests: []).json
        check(schema["properties"], "")
        check(schema["$defs"]?["connector"]?["properties"], "connector")
    }

    @Test func `a schema without plugins still knows the form`() {
        let schema = ConfigurationSchema(manifests: []).json
        #expect(schema["$defs"]?["connector"]?["allOf"]?.array?.count == 1)
        #expect(schema["$defs"]?["connector"]?["properties"]?["policy"]?["enum"]?.array?.count == 7)
    }
}
