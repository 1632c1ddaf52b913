// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// The rules by which one image of a plugin can take the place of another.
@Suite struct PluginComparisonTests {
    private static let base: JSONObject = [
        "manifest": 1, "id": "a", "version": "1.0.0", "abi": [1, 1], "entry": "entry",
        "services": ["required": ["http/1"], "optional": ["storage/1"]], "egress": ["a.example"],
        "capabilities": ["own/1": ["f": ["symbol": "f", "signature": "(x: i64) -> i64"]]],
        "uses": ["preferences": "settings/1"],
        "configuration": [
            "key": ["type": "string", "required": true, "secret": true], "size": ["type": "integer", "minimum": 1],
            "mode": ["type": "string", "values": ["a", "b"]],
        ],
    ]

    private func comparison(_ change: (inout JSONObject) -> Void) throws -> PluginComparison {
        var changed = Self.base
        change(&changed)
        let manifests = try [Self.base, changed].map { try Manifest(parsing: JSONValue.object($0).utf8()) }
        return PluginComparison(try locked(Self.base), manifests[0], try locked(changed), manifests[1])
    }

    private func locked(_ manifest: JSONObject) throws -> LockedPlugin {
        let manifest = try Manifest(parsing: JSONValue.object(manifest).utf8())
        return LockedPlugin(manifest, platform: "p", size: 1, sha256: "a", sidecar: nil, dependencies: [])
    }

    private func effects(_ change: (inout JSONObject) -> Void) throws -> [String] {
        try comparison(change).changes.map { "\($0.effect) \($0.subject) \($0.name)" }
    }

    @Test func `an image is compatible with itself`() throws {
        let comparison = try comparison { _ in }
        #expect(comparison.changes.isEmpty)
        #expect(comparison.isCompatible)
    }

    @Test func `another id, signature, or a missing operation breaks callers`() throws {
        #expect(try effects { $0["id"] = "b" } == ["breaks id id"])
        #expect(
            try effects { $0["capabilities"] = ["own/1": ["f": ["symbol": "f", "signature": "(x: i32) -> i64"]]] }
                == ["breaks operation own/1 f"]
        )
        #expect(
            try effects { $0["capabilities"] = ["own/2": ["f": ["symbol": "f", "signature": "(x: i64) -> i64"]]] }
                == ["breaks capability own/1", "wants capability own/2"]
        )
        #expect(
            try effects { $0["capabilities"] = ["own/1": ["g": ["symbol": "g", "signature": "()"]]] }
                == ["breaks operation own/1 f", "none operation own/1 g"]
        )
        // The same signature, spelled differently.
        #expect(
            try effects { $0["capabilities"] = ["own/1": ["f": ["symbol": "f", "signature": "( x:i64 )->i64"]]] } == []
        )
    }

    @Test func `new hosts and services are reported as wanted, and break nothing`() throws {
        let comparison = try comparison { changed in
            changed["egress"] = ["a.example", "b.example"]
            changed["services"] = ["required": ["http/1", "clock/1"]]
            changed["version"] = "1.1.0"
        }
        #expect(comparison.isCompatible)
        #expect(comparison.changes.filter { $0.effect == .wants }.map(\.name) == ["clock/1", "b.example"])
        #expect(comparison.changes.map(\.name) == ["clock/1", "b.example", "version", "storage/1"])
    }

    @Test func `a new or different use of a gate breaks files`() throws {
        #expect(try effects { $0["uses"] = nil } == ["breaks uses preferences"])
        #expect(try effects { $0["uses"] = ["preferences": "files/1"] } == ["breaks uses preferences"])
        #expect(try effects { $0["uses"] = ["preferences": "settings/1", "x": "files/1"] } == ["breaks uses x"])
    }

    @Test func `a new optional use of a gate is reported as wanted, and breaks nothing`() throws {
        let optional: JSONValue = ["capability": "settings/1", "optional": true]
        #expect(try effects { $0["uses"] = ["preferences": "settings/1", "more": optional] } == ["wants uses more"])
        #expect(try effects { $0["uses"] = ["preferences": optional] } == ["none uses preferences"])
        // A file need not have bound a use that was optional.
        let capability = try #require(CapabilityID("settings/1"))
        var (before, after) = (try locked(Self.base), try locked(Self.base))
        before.uses = [GateUse(name: "preferences", capability: capability, isOptional: true)]
        after.uses = [GateUse(name: "preferences", capability: capability)]
        let change = PluginChange(.breaks, .uses, "preferences", from: "settings/1, optional", to: "settings/1")
        #expect(PluginComparison(before, after).changes == [change])
    }

    @Test func `a field that accepts less than before, or is newly required, breaks files`() throws {
        func fields(_ change: (inout JSONObject) -> Void) throws -> [String] {
            try effects { changed in
                guard case .object(var fields)? = changed["configuration"] else { return }
                change(&fields)
                changed["configuration"] = .object(fields)
            }
        }
        #expect(try fields { $0["size"] = nil } == ["breaks field size"])
        #expect(try fields { $0["size"] = ["type": "integer", "minimum": 2] } == ["breaks field size"])
        #expect(try fields { $0["size"] = ["type": "number"] } == ["none field size"])
        #expect(try fields { $0["size"] = ["type": "string"] } == ["breaks field size"])
        #expect(try fields { $0["mode"] = ["type": "string", "values": ["a"]] } == ["breaks field mode"])
        #expect(try fields { $0["mode"] = ["type": "string", "values": ["a", "b", "c"]] } == ["none field mode"])
        #expect(try fields { $0["mode"] = ["type": "string", "required": true] } == ["breaks field mode"])
        #expect(try fields { $0["key"] = ["type": "string", "required": true] } == ["breaks field key"])
        #expect(try fields { $0["new"] = ["type": "string"] } == ["none field new"])
        #expect(try fields { $0["new"] = ["type": "string", "required": true] } == ["breaks field new"])
    }

    @Test func `an image for fewer ABI versions breaks hosts`() throws {
        #expect(try effects { $0["abi"] = [1, 2] } == ["none abi abi"])
        #expect(try effects { $0["abi"] = [2, 2] } == ["breaks abi abi"])
    }
}
