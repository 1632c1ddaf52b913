// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHostCommands

/// `connector-host diff`.
@Suite struct DiffCommandTests {
    @Test func `an image is compatible with itself`() async throws {
        let sync = FixturePlugins.good("sync")
        let result = try await Program(directory: "/").run("diff", sync, sync)
        #expect(result.status == 0)
        #expect(result.lines.first == "sync 1.2.0 → sync 1.2.0")
        #expect(result.output.contains("✓ compatible"))
    }

    @Test func `another plugin is not compatible, and the connectors that break are named`() async throws {
        let workspace = try Workspace()
        try workspace.configure([
            ["name": "first", "plugin": "sync"],
            ["name": "group", "connectors": [["name": "second", "plugin": "sync"]]],
            ["name": "user", "plugin": "uses", "with": ["inner": "group"]],
        ])
        let images = [FixturePlugins.good("sync"), FixturePlugins.good("timer")]
        let result = try await workspace.program.run("diff", images[0], images[1])
        #expect(result.status == 1)
        #expect(result.output.contains("breaks id: sync → timer"))
        #expect(result.output.contains("not compatible"))
        #expect(result.output.contains("breaks first"))
        #expect(result.output.contains("breaks group/second"))
        #expect(result.output.contains("breaks user, which calls group"))
        let document = try JSONValue(
            parsing: try await workspace.program.run("diff", images[0], images[1], "--json").output
        )
        #expect(document["version"] == 1)
        #expect(document["compatible"] == false)
        #expect(
            document["changes"]?.array?.contains { $0["effect"] == "breaks" && $0["subject"] == "capability" } == true
        )
        #expect(document["connectors"]?.array?.compactMap { $0["path"]?.string } == ["first", "group/second", "user"])
    }

    @Test(arguments: [(["b"], "1 change breaks"), (["b", "own/2"], "2 changes break")])
    func `the verdict counts the breaking changes`(change: [String], verdict: String) throws {
        let manifests = try [["a", "own/1"], change + ["own/1"]].map { words in
            let text = #"{"manifest": 1, "id": "\#(words[0])", "version": "1.0.0", "abi": [1, 1], "entry": "e", "#
            let operations = #"{"f": {"symbol": "f", "signature": "()"}}"#
            return try Manifest(
                parsing: Array("\(text)\"capabilities\": {\"\(words[1])\": \(operations)}}".utf8),
                file: ""
            )
        }
        let locked = manifests.map { manifest in
            LockedPlugin(manifest, platform: "p", size: 1, sha256: "a", sidecar: nil, dependencies: [])
        }
        let comparison = PluginComparison(locked[0], manifests[0], locked[1], manifests[1])
        let document = DiffDocument(old: locked[0], new: locked[1], comparison: comparison, users: [])
        let lines = document.lines(TextStyle(isColoured: false, isUnicode: true))
        #expect(lines.last == "✗ not compatible: \(verdict) callers or files")
    }

    @Test func `a file without a manifest is status 2`() async throws {
        let good = FixturePlugins.good("sync")
        for other in [FixturePlugins.broken("no-manifest"), "/absent.so"] {
            let result = try await Program(directory: "/").run("diff", good, other)
            #expect(result.status == 2)
            #expect(result.output == "")
            #expect(result.error.contains(other))
        }
    }
}
