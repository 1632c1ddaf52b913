// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// `connector-host inspect`.
@Suite struct InspectCommandTests {
    @Test func `a plugin that would load is shown with everything it needs, and the status is 0`() async throws {
        let program = Program(directory: "/")
        let result = try await program.run("inspect", FixturePlugins.good("sync"))
        #expect(result.status == 0)
        #expect(result.output.contains("sync 1.2.0"))
        #expect(result.output.contains("add(a: i64, b: i64) -> i64"))
        #expect(result.output.contains("libc.so.6"))
        #expect(result.output.contains("GLIBC_"))
        #expect(result.lines.dropLast().last == "would load here")
        let document = try JSONValue(
            parsing: try await program.run("inspect", FixturePlugins.good("sync"), "--json").output
        )
        #expect(document["version"] == 1)
        #expect(document["loadable"] == true)
        #expect(document["manifest"]?["id"] == "sync")
        #expect(document["sha256"]?.string?.utf8.count == 64)
        #expect(document["language"] == "c")
        #expect(document["problems"] == [])
    }

    @Test(arguments: StatusCommandTests.broken)
    func `a plugin that would not load is shown with its problem, and the status is 1`(fixture: String, code: String)
        async throws
    {
        let result = try await Program(directory: "/").run("inspect", FixturePlugins.broken(fixture), "--json")
        #expect(result.status == 1)
        let document = try JSONValue(parsing: result.output)
        #expect(document["loadable"] == false)
        let codes = try #require(document["problems"]?.array).compactMap { $0["code"]?.string }
        #expect(codes.contains(code), "\(codes)")
    }

    @Test func `a plugin in the directories of the file is found by its id`() async throws {
        let workspace = try Workspace()
        shell("mkdir '\(workspace.path)/plugins' && cp '\(FixturePlugins.good("sync"))' '\(workspace.path)/plugins/'")
        try workspace.configure([], plugins: ["plugins"])
        let found = try await workspace.program.run("inspect", "sync")
        #expect(found.status == 0 && found.output.contains("sync 1.2.0"), "\(found)")
        let unknown = try await workspace.program.run("inspect", "sink")
        #expect(unknown.status == 1 && unknown.output.contains("there is no file sink"), "\(unknown)")
        #expect(unknown.output.contains("there is no plugin \"sink\""), "\(unknown)")
        #expect(unknown.output.contains("did you mean \"sync\"?"), "\(unknown)")
        shell("mkdir '\(workspace.path)/sync' '\(workspace.path)/sink'")
        let beside = try await workspace.program.run("inspect", "sync")
        #expect(beside.status == 0 && beside.output.contains("sync 1.2.0"), "\(beside)")
        let folder = try await workspace.program.run("inspect", "sink")
        #expect(folder.status == 1 && folder.output.contains("sink is a directory"), "\(folder)")
        #expect(folder.output.contains("did you mean \"sync\"?"), "\(folder)")
    }

    @Test func `an id is looked for where the named file says, and a broken file is told`() async throws {
        let workspace = try Workspace()
        shell("mkdir '\(workspace.path)/plugins' && cp '\(FixturePlugins.good("sync"))' '\(workspace.path)/plugins/'")
        try workspace.write(#"{"version": 1, "plugins": ["plugins"], "connectors": []}"#, to: "other.json")
        let found = try await workspace.program.run("inspect", "sync", "--config", "other.json")
        #expect(found.status == 0 && found.output.contains("sync 1.2.0"), "\(found)")
        let absent = try await workspace.program.run("inspect", "sync", "--config", "absent.json")
        #expect(absent.status == 1 && absent.output.contains("absent.json"), "\(absent)")
        #expect(try await workspace.program.run("inspect", "sync").output.contains("there is no plugin \"sync\""))
        try workspace.write("{", to: "connectors.json")
        for arguments in [["inspect", "sync"], ["test", "sync"]] {
            let broken = try await workspace.program.start(arguments).finish()
            #expect(broken.status == 1, "\(arguments): \(broken)")
            #expect((broken.output + broken.error).contains("connectors.json:1:2: "), "\(arguments): \(broken)")
        }
    }

    @Test func `inspect runs no code of the plugin`() async throws {
        let result = try await Program(directory: "/").run(
            "inspect",
            FixturePlugins.misbehaving("crashes-in-constructor")
        )
        #expect(result.status == 0)
    }
}
