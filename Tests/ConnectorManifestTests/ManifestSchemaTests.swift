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

    @Test func `a foreign library may have a life cycle, and may not use gates`() throws {
        let foreign: JSONValue = [
            "manifest": 1, "id": "m", "version": "1.0.0", "abi": [1, 1], "library": "m.so.6",
            "lifecycle": ["open": "start"],
            "capabilities": [
                "math/1": [
                    "start": [
                        "symbol": "a", "signature": "() -> i32", "status": "negative", "codes": ["5": "unavailable"],
                    ],
                    "check": ["symbol": "b", "signature": "()", "status": "zero", "statusType": "u8"],
                ]
            ],
        ]
        #expect(try Self.check.faults(in: foreign) == [])
        var object = try #require(foreign.object)
        object["uses"] = ["settings": "settings/1"]
        #expect(try !Self.check.faults(in: .object(object)).isEmpty)
        object["uses"] = nil
        let misspelt = try JSONValue(parsing: foreign.serialized().replacing("unavailable", with: "unavailabel"))
        #expect(try !Self.check.faults(in: misspelt).isEmpty)
        object["entry"] = "m_plugin"
        #expect(try !Self.check.faults(in: .object(object)).isEmpty)
    }
}
