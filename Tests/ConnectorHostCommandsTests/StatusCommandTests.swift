// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// `connector-host status`, run as users run it.
@Suite struct StatusCommandTests {
    @Test func `if every gate opens, status prints a tree and a verdict, and exits with 0`() async throws {
        let workspace = try Workspace()
        try workspace.configure([
            [
                "name": "tools", "policy": "all",
                "connectors": [
                    ["name": "calculator", "plugin": .string(FixturePlugins.good("sync"))],
                    ["name": "timer", "plugin": .string(FixturePlugins.good("timer")), "required": false],
                ],
            ]
        ])
        let result = try await workspace.program.run("status")
        #expect(result.status == 0)
        #expect(result.error == "")
        #expect(result.lines[0].hasPrefix("✓ tools"))
        #expect(result.lines[1].hasPrefix("├─ ✓ calculator"))
        #expect(result.lines[1].contains("sync 1.2.0"))
        #expect(result.lines[1].contains("configured"))
        #expect(result.lines[2].hasPrefix("└─ ✓ timer (optional)"))
        #expect(result.lines[4].hasPrefix("ready: 2 of 2 gates open, "))
    }

    @Test func `a limit of the size of files that leaves no room for a plugin's copy is named`() async throws {
        let workspace = try Workspace()
        try workspace.configure([
            ["name": "gate", "plugin": .string(FixturePlugins.good("sync")), "probe": "off"]
        ])
        // Of 4 or 8 KiB, as the shell counts.
        let script = "ulimit -f 8; exec '\(Program.path)' status --no-attach"
        let result = try await Child(start: "/bin/sh", ["-c", script], workspace.program).finish()
        #expect(result.status == 1 && (result.output + result.error).contains("LimitFSIZE"), "\(result)")
    }

    @Test func `a plugin of this process that finds a directory unsafe is not said to lack a host or a sandbox`()
        async throws
    {
        let workspace = try Workspace()
        #expect(shell("mkdir '\(workspace.path)/data' && chmod 777 '\(workspace.path)/data'") == 0)
        try workspace.configure([
            [
                "name": "database", "plugin": .string("\(Program.buildDirectory)/libsqlite.so"),
                "config": ["file": "data/records.db"],
            ]
        ])
        let result = try await workspace.program.run("status")
        #expect(result.status == 1 && result.output.contains("with mode 0755 or less [denied]"), "\(result)")
        #expect(!result.output.contains("allow.hosts") && !result.output.contains("\"sandbox\""), "\(result)")
    }

    @Test func `a gate in several places is one row, which names the others`() async throws {
        let workspace = try Workspace()
        try workspace.configure([
            ["name": "calculator", "plugin": .string(FixturePlugins.good("sync"))],
            ["name": "tools", "policy": "first", "connectors": [["name": "adder", "same": "calculator"]]],
        ])
        let result = try await workspace.program.run("status")
        #expect(result.status == 0)
        #expect(result.lines[0].hasPrefix("✓ calculator"))
        #expect(result.lines[1].contains("also at tools/adder"))
        #expect(result.lines[2].hasPrefix("✓ tools"))
        #expect(result.output.contains("ready: 1 of 1 gate open, "))
    }

    /// A fixture that does not load, and the code of its error.
    static let broken: [(fixture: String, code: String)] = [
        ("absent", "not-found"), ("not-elf", "not-elf"), ("empty", "not-elf"), ("object", "not-elf"),
        ("truncated", "truncated"), ("wrong-architecture", "wrong-architecture"), ("32-bit", "wrong-architecture"),
        ("executable", "executable"), ("fixed-executable", "executable"), ("no-manifest", "no-manifest"),
        ("invalid-manifest", "invalid-manifest"), ("garbage-manifest", "invalid-manifest"),
        ("manifest-mismatch", "manifest-mismatch"), ("unsupported-abi", "unsupported-abi"),
        ("symbol-absent", "symbol-absent"), ("entry-absent", "symbol-absent"),
        ("signature-mismatch", "signature-mismatch"), ("missing-dependency", "missing-dependency"),
        ("missing-symbol", "missing-symbol"), ("missing-version", "missing-symbol-version"),
        ("missing-glibc-version", "missing-symbol-version"),
    ]

    @Test(arguments: broken)
    func `a broken plugin fails its gate with a code, and the others open`(fixture: String, code: String) async throws {
        let workspace = try Workspace()
        try workspace.configure([
            ["name": "broken", "plugin": .string(FixturePlugins.broken(fixture))],
            ["name": "calculator", "plugin": .string(FixturePlugins.good("sync"))],
        ])
        let result = try await workspace.program.run("status", "--json")
        #expect(result.status == 1)
        let document = try JSONValue(parsing: result.output)
        #expect(document["version"] == 1)
        #expect(document["ready"] == false)
        let broken = try #require(document["gates"]?[0])
        #expect(broken["path"] == "broken")
        #expect(broken["state"] == "failed")
        #expect(broken["error"]?["code"]?.string == code)
        #expect(broken["error"]?["message"]?.string?.isEmpty == false)
        #expect(document["gates"]?[1]?["state"] == "open")
    }

    @Test func `an optional gate that fails leaves the status at 0 and says what to do`() async throws {
        let workspace = try Workspace()
        try workspace.configure([
            ["name": "broken", "plugin": .string(FixturePlugins.broken("truncated")), "required": false],
            ["name": "calculator", "plugin": .string(FixturePlugins.good("sync"))],
        ])
        let result = try await workspace.program.run("status")
        #expect(result.status == 0)
        #expect(result.lines[0].hasPrefix("! broken (optional)"))
        #expect(result.output.contains("[truncated]"))
        #expect(result.output.contains("→ copy or build the file again"))
        #expect(result.output.contains("ready: 1 of 2 gates open"))
        // Status is one shot: what failed is in the report alone, and is not tried again.
        #expect(result.error.isEmpty)
        #expect(!result.output.contains("attempts"))
    }

    @Test func `one failed child below policy first leaves the status at 0, and is named`() async throws {
        let workspace = try Workspace()
        func connectors(_ required: JSONObject) -> JSONValue {
            let broken: JSONObject = ["name": "broken", "plugin": .string(FixturePlugins.broken("truncated"))]
            return [
                .object(JSONObject(unique: broken.members + required.members)),
                ["name": "calculator", "plugin": .string(FixturePlugins.good("sync"))],
            ]
        }
        try workspace.configure([["name": "tools", "policy": "first", "connectors": connectors([:])]])
        let result = try await workspace.program.run("status")
        #expect(result.status == 0, "\(result.output)")
        #expect(result.lines[0].hasPrefix("! tools") && result.lines[0].contains("degraded"))
        #expect(result.lines[1].hasPrefix("├─ ! broken "))
        #expect(result.output.contains("[truncated]"))
        #expect(!result.output.contains("(optional)"))
        #expect(result.output.contains("ready: 1 of 2 gates open"))
        try workspace.configure([["name": "tools", "policy": "first", "connectors": connectors(["required": true])]])
        #expect(try await workspace.program.run("status").status == 1)
    }

    @Test func `the remedy of a gate that did not open concerns its connector`() async throws {
        let workspace = try Workspace()
        let plugin = JSONValue.string(FixturePlugins.contract("calls"))
        try workspace.configure([["name": "calls", "plugin": plugin, "config": ["opens": "refuses"]]])
        let result = try await workspace.program.run("status")
        #expect(result.status == 1)
        #expect(result.output.contains("→ check the credentials in the connector's \"config\""))
    }

    @Test func `an error that a retry cannot mend is tried once, even if the vendor calls it a server error`()
        async throws
    {
        let workspace = try Workspace()
        try workspace.configure([
            [
                "name": "analytics", "plugin": "influxdb", "retry": ["attempts": 3],
                "config": ["endpoint": "http://127.0.0.1:8086", "database": "demo", "retentionPolicy": "monthly"],
            ]
        ])
        let result = try await workspace.program.run("status", "--simulate", "--json")
        #expect(result.status == 1)
        let gate = try JSONValue(parsing: result.output)["gates"]?[0]
        #expect(gate?["error"]?["code"] == "missing")
        #expect(gate?["error"]?["message"]?.string?.hasSuffix("retention policy not found: monthly") == true)
        #expect(gate?["attempts"] == 1)
    }

    @Test func `a gate that never opens fails when the time is up`() async throws {
        let workspace = try Workspace()
        try workspace.configure([
            ["name": "silent", "plugin": .string(FixturePlugins.misbehaving("never-opens"))],
            ["name": "calculator", "plugin": .string(FixturePlugins.good("sync"))],
        ])
        let result = try await workspace.program.run("status", "--timeout", "200ms", "--json")
        #expect(result.status == 1)
        let document = try JSONValue(parsing: result.output)
        #expect(document["gates"]?[0]?["error"]?["code"] == "timed-out")
        #expect(document["gates"]?[1]?["state"] == "open")
        let text = try await workspace.program.run("status", "--timeout", "200ms")
        // No server is to blame: the plugin has asked none.
        #expect(text.output.contains("forgot to complete the operation"))
        #expect(!text.output.contains("the server is slow"))
    }

    @Test func `a plugin that crashes takes the program down, as the documentation says`() async throws {
        let workspace = try Workspace()
        try workspace.configure([["name": "crash", "plugin": .string(FixturePlugins.misbehaving("crashes-in-open"))]])
        let result = try await workspace.program.run("status")
        #expect(result.status > 128)
        #expect(result.output == "")
    }

    @Test func `another file under the same name changes the next status`() async throws {
        let workspace = try Workspace()
        try workspace.configure([["name": "tool", "plugin": "./tool.so"]])
        for (fixture, plugin) in [("sync", "sync"), ("frozen-c", "frozen-c"), ("future", "future")] {
            #expect(shell("cp '\(FixturePlugins.good(fixture))' '\(workspace.path)/tool.so'") == 0)
            let result = try await workspace.program.run("status", "--json")
            #expect(try JSONValue(parsing: result.output)["gates"]?[0]?["plugin"]?["id"]?.string == plugin)
            #expect(result.status == 0)
        }
    }

    @Test func `a secret appears nowhere`() async throws {
        let workspace = try Workspace()
        try workspace.configure([
            [
                "name": "calculator", "plugin": .string(FixturePlugins.good("sync")),
                "config": ["key": "correct-horse-battery"],
            ]
        ])
        for arguments in [["status"], ["status", "--json"], ["status", "--log-level", "trace"], ["validate"]] {
            let child = try workspace.program.start(arguments)
            let result = try await child.finish()
            #expect(result.status == 0)
            #expect(!result.output.contains("correct-horse"))
            #expect(!result.error.contains("correct-horse"))
        }
    }

    @Test func `the example opens eight gates against the simulators`() async throws {
        let program = Program(directory: "/")
        let file = "\(FixturePlugins.root)/connectors.json"
        let result = try await program.run("status", "--simulate", "--json", "--config", file)
        #expect(result.status == 0, "\(result.output) \(result.error)")
        let gates = try #require(try JSONValue(parsing: result.output)["gates"]?.array).filter { $0["plugin"] != nil }
        #expect(gates.count == 8)
        #expect(gates.allSatisfy { $0["state"] == "open" })
        #expect(gates.allSatisfy { $0["evidence"]?.array?.isEmpty == false })
        #expect(result.error == "")
    }

}
