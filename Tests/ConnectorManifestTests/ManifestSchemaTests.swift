// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Foundation
import Testing

@testable import ConnectorManifest

/// The JSON Schema of a manifest accepts what the host accepts.
@Suite struct ManifestSchemaTests {
    private static let check = SchemaCheck(schema: ManifestSchema.json)

    /// The manifests of the adapters and of the examples, by path.
    private static let manifests: [String] = {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        return ["Plugins", "Examples", "Templates", "Tests/Fixtures"].flatMap { folder -> [String] in
            let found = FileManager.default.enumerator(atPath: "\(root)/\(folder)")
            let names = (found?.allObjects as? [String] ?? []).filter { $0.hasSuffix(".connector.json") }
            return names.filter { !$0.contains(".build") }.map { "\(root)/\(folder)/\($0)" }
        }
    }()

    /// A manifest with every key of its format.
    private static let whole = """
        {"$schema": "manifest.schema.json", "manifest": 1, "id": "rates", "version": "1.2.3", "abi": [1, 1],
         "entry": "rates_plugin", "documentation": "Rates.", "language": "c", "thread": "serial", "exclusive": true,
         "swiftType": "Rates", "batch": {"count": 10, "bytes": 1000}, "egress": ["{url}", "*.example.com"],
         "services": {"required": ["http/1"], "optional": ["log/1"]},
         "uses": {"settings": "settings/1", "places": {"capability": "geocoder/1", "optional": true}},
         "configuration": {"url": {"type": "url", "required": true, "documentation": "Where."},
            "key": {"secret": true}, "limit": {"type": "integer", "default": 5, "minimum": 1, "maximum": 9},
            "mode": {"values": ["fast", "safe"]}},
         "capabilities": {"geocoder/1": ["geocode"], "analytics/1": {"except": ["alias"]}, "sensor/1": {},
            "database/1": {"get": {"symbol": "rates_read", "prompt": true}},
            "rates/1": {"rate": {"symbol": "rates_rate", "signature": "(from: string) -> f64", "safe": true},
               "note": {"symbol": "rates_note", "signature": "(event: json) async", "delivered": true,
                  "documentation": "Notes."}}},
         "scenes": {"rates": {"title": "Rates", "components": {"table": {"title": "All", "as": "table",
            "operation": "rate", "arguments": {"from": "CHF"}, "every": "5s", "rows": "rates",
            "columns": [{"title": "Rate", "value": "rate.value", "number": true}]}, "news": {"events": ["rated"]}}}}}
        """

    @Test func `the schema accepts every manifest that is shipped`() throws {
        #expect(Self.manifests.count >= 20)
        for path in Self.manifests {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            guard Manifest.read(Array(text.utf8), file: path).problems.isEmpty else { continue }
            #expect(try Self.check.faults(in: JSONValue(parsing: text)) == [], "\(path)")
        }
    }

    @Test func `host and schema accept a manifest with every key, and both refuse a misspelled key`() throws {
        let (manifest, problems) = Manifest.read(Array(Self.whole.utf8), file: "whole")
        #expect(manifest != nil && problems.isEmpty, "\(problems)")
        let value = try JSONValue(parsing: Self.whole)
        #expect(try Self.check.faults(in: value) == [])
        let keys = try #require(ManifestSchema.json["properties"]?.object?.names)
        let written = try #require(value.object?.names)
        #expect(Set(keys).subtracting(written) == ["library", "lifecycle"])
        for key in keys where written.contains(key) {
            let text = Self.whole.replacing("\"\(key)\":", with: "\"\(key)x\":", maxReplacements: 1)
            #expect(try !Self.check.faults(in: JSONValue(parsing: text)).isEmpty, "\(key)")
            #expect(!Manifest.read(Array(text.utf8), file: "misspelt").problems.isEmpty, "\(key)")
        }
    }

    /// The whole manifest with another value at a path.
    private func whole(_ path: [String], _ value: JSONValue) throws -> JSONValue {
        func replacing(_ part: JSONValue, at path: ArraySlice<String>) -> JSONValue {
            guard let name = path.first, var object = part.object else { return value }
            object[name] = replacing(object[name] ?? [:], at: path.dropFirst())
            return .object(object)
        }
        return replacing(try JSONValue(parsing: Self.whole), at: path[...])
    }

    /// The objects of the whole manifest, by the path of each.
    private static let objects: [[String]] = [
        [], ["configuration"], ["configuration", "url"], ["services"], ["uses"], ["uses", "places"], ["batch"],
        ["capabilities"], ["capabilities", "analytics/1"], ["capabilities", "sensor/1"],
        ["capabilities", "database/1"], ["capabilities", "rates/1"], ["capabilities", "rates/1", "rate"],
        ["scenes"], ["scenes", "rates"], ["scenes", "rates", "components"], ["scenes", "rates", "components", "table"],
        ["scenes", "rates", "components", "table", "arguments"],
    ]

    @Test(arguments: objects)
    func `a key that begins with a dollar sign is ignored in every object`(path: [String]) throws {
        for note: JSONValue in ["A note.", Self.operation] {
            let noted = try whole(path + ["$comment"], note)
            let (manifest, problems) = Manifest.read(noted.utf8(), file: "noted")
            #expect(problems.map(\.message) == [])
            #expect(try manifest == Manifest(parsing: Array(Self.whole.utf8)))
            #expect(try Self.check.faults(in: noted) == [])
        }
    }

    private static let operation: JSONValue = ["symbol": "a", "signature": "()"]

    /// A path and a value for an operation of a capability of the plugin's own.
    private static func ownOperation(_ name: String) -> ([String], JSONValue) {
        (["capabilities", "rates/1", name], operation)
    }

    /// A path and a value for a component of the scene that shows an operation.
    private static func component(_ key: String, _ value: JSONValue) -> ([String], JSONValue) {
        var members: JSONObject = ["operation": "rate", "arguments": ["from": "CHF"]]
        members[key] = value
        return (["scenes", "rates", "components", "table"], .object(members))
    }

    private static let refused: [([String], JSONValue)] = [
        (["version"], "01.0.0"), (["version"], "1.0.0-01"), (["version"], "1.0.0-a..b"), (["abi"], [1, 4_294_967_296]),
        (["egress"], ["*"]), (["egress"], ["a b"]), (["egress"], ["https://example.com"]), (["library"], " "),
        (["uses", "settings"], "Settings/1"), (["uses", "places"], ["capability": "geocoder"]),
        (["capabilities", "other/99999999999"], ["a": operation]),
        (["capabilities", "other/4294967296"], ["a": operation]),
        (["uses", "settings"], "settings/4294967296"), (["uses", "places"], ["capability": "geocoder/4294967296"]),
        (["version"], "4294967296.0.0"), (["version"], "1.0.4294967296"), (["egress"], ["example.com:65536"]),
        (["configuration", "x"], ["type": "duration", "default": "8761h"]),
        ownOperation(""), ownOperation("a/b"), ownOperation("a b"), ownOperation("a\nb"), ownOperation("a\u{202E}b"),
        ownOperation("a\u{200B}b"), ownOperation(String(repeating: "x", count: 256)),
        (["configuration", "x"], ["type": "integer", "default": "x"]), (["configuration", "x"], ["default": 1]),
        (["configuration", "x"], ["type": "url", "values": ["x"]]), (["configuration", "x"], ["minimum": 1]),
        (["configuration", "x"], ["required": true, "default": "x"]),
        (["configuration", "x"], ["type": "url", "secret": true]),
        (["scenes", "rates", "title"], "a\nb"),
        (["scenes", "rates", "title"], .string(String(repeating: "x", count: 81))),
        component("every", "0s"), component("every", "999ms"), component("every", "2h"), component("rows", "a..b"),
        component("as", "details"), component("as", "chart"), component("columns", [["value": "a."]]),
        (["scenes", "rates", "components", "news"], ["events": ["rated"], "every": "5s"]),
    ]

    @Test(arguments: refused)
    func `what the host refuses the schema refuses, too`(path: [String], value: JSONValue) throws {
        let wrong = try whole(path, value)
        #expect(!Manifest.read(wrong.utf8(), file: "wrong").problems.isEmpty)
        #expect(try !Self.check.faults(in: wrong).isEmpty)
    }

    private static let accepted: [([String], JSONValue)] = [
        (["capabilities", "other/4294967295"], ["a": operation]), (["uses", "settings"], "own/1000000000"),
        (["version"], "4294967295.0.10"), (["configuration", "x"], ["type": "duration", "default": "0031536000s"]),
        (["configuration", "x"], ["type": "duration", "default": "0ms"]), (["egress"], ["a:1", "a:0065535"]),
        (["version"], "1.0.0-0.a-1.x"), (["egress"], ["{url}", "*.example.com", "example.com:8080", "[::1]:443"]),
        ownOperation("get.All-é"), ownOperation(String(repeating: "x", count: 255)), (["scenes", "$a"], "A note."),
        (["scenes", "rates", "title"], .string(String(repeating: "e\u{301}", count: 80))),
        (["configuration", "x"], ["type": "number", "default": 1, "minimum": 0.5]),
        (["configuration", "x"], ["type": "json", "default": nil, "values": [1, "x", nil], "maximum": 2]),
        component("every", "003600s"), component("every", "1000ms"),
    ]

    @Test(arguments: accepted)
    func `what the host accepts the schema accepts, too`(path: [String], value: JSONValue) throws {
        let right = try whole(path, value)
        #expect(Manifest.read(right.utf8(), file: "right").problems.map(\.message) == [])
        #expect(try Self.check.faults(in: right) == [])
    }

    @Test func `a foreign library may have a life cycle, and may not use gates`() throws {
        let foreign: JSONValue = [
            "manifest": 1, "id": "m", "version": "1.0.0", "abi": [1, 1], "library": "m.so.6",
            "lifecycle": ["open": "start"],
            "capabilities": [
                "math/1": [
                    "start": [
                        "symbol": "a", "signature": "() -> i32", "status": "negative",
                        "codes": [
                            "5": "unavailable", "+6": "denied", "-9223372036854775808": "denied",
                            "9223372036854775807": "denied", "$comment": "The others are failures.",
                        ],
                    ],
                    "check": ["symbol": "b", "signature": "()", "status": "zero", "statusType": "u8"],
                ]
            ],
        ]
        #expect(try Self.check.faults(in: foreign) == [])
        #expect(Manifest.read(foreign.utf8(), file: "foreign").problems.map(\.message) == [])
        var object = try #require(foreign.object)
        object["uses"] = ["settings": "settings/1"]
        #expect(try !Self.check.faults(in: .object(object)).isEmpty)
        object["uses"] = nil
        let misspelt = try JSONValue(parsing: foreign.serialized().replacing("unavailable", with: "unavailabel"))
        #expect(try !Self.check.faults(in: misspelt).isEmpty)
        let tooLarge = foreign.serialized().replacing("9223372036854775807", with: "9223372036854775808")
        #expect(!Manifest.read(Array(tooLarge.utf8), file: "foreign").problems.isEmpty)
        #expect(try !Self.check.faults(in: JSONValue(parsing: tooLarge)).isEmpty)
        object["entry"] = "m_plugin"
        #expect(try !Self.check.faults(in: .object(object)).isEmpty)
    }
}
