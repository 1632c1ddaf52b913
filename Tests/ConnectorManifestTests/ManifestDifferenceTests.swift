// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// The keys in which two manifests differ.
@Suite struct ManifestDifferenceTests {
    private static let manifest: JSONObject = [
        "manifest": 1, "id": "a", "version": "1.0.0", "abi": [1, 1], "entry": "e",
        "capabilities": ["own/1": ["get": ["symbol": "g", "signature": "() -> string"]]],
    ]

    private static let changes: [(String, JSONValue)] = [
        ("id", "b"), ("version", "1.0.1"), ("abi", [1, 2]), ("entry", "f"), ("documentation", "A."), ("language", "c"),
        ("thread", "serial"), ("capabilities", ["own/1": ["get": ["symbol": "g", "signature": "() -> bytes"]]]),
        ("configuration", ["url": ["type": "url"]]), ("services", ["required": ["log/1"]]),
        ("services", ["optional": ["log/1"]]), ("uses", ["settings": "settings/1"]),
        ("scenes", ["news": ["components": ["log": ["events": ["news"]]]]]), ("egress", ["example.com"]),
        ("batch", ["count": 1]), ("batch", ["bytes": 1]), ("library", "liba.so"), ("swiftType", "A"),
        ("exclusive", true),
    ]

    @Test(arguments: changes)
    func `a manifest with another value of a key differs in that key`(key: String, value: JSONValue) throws {
        var object = Self.manifest
        object[key] = value
        let first = try Manifest(parsing: JSONValue.object(Self.manifest).utf8())
        let second = try Manifest(parsing: JSONValue.object(object).utf8())
        #expect(first.keys(differingFrom: second) == [key])
        #expect(second.keys(differingFrom: second) == [])
    }

    @Test func `each key is named once, and what is only written otherwise is no difference`() throws {
        var object = Self.manifest
        object["batch"] = ["count": 1, "bytes": 1]
        object["exclusive"] = true
        let first = try Manifest(parsing: JSONValue.object(Self.manifest).utf8())
        let second = try Manifest(parsing: JSONValue.object(object).utf8())
        #expect(first.keys(differingFrom: second) == ["batch", "exclusive"])
        object = Self.manifest
        object["exclusive"] = false
        object["thread"] = "any"
        object["$comment"] = "The same."
        #expect(first.keys(differingFrom: try Manifest(parsing: JSONValue.object(object).utf8())) == [])
    }
}
