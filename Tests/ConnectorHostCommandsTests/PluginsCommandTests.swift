// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

/// `connector-host plugins` and `schema`, which look at files and run nothing.
@Suite struct PluginsCommandTests {
    @Test func `every file is shown, and the reason if it is not usable`() async throws {
        let workspace = try Workspace()
        #expect(shell("mkdir '\(workspace.path)/Plugins'") == 0)
        #expect(shell("cp '\(FixturePlugins.good("sync"))' '\(workspace.path)/Plugins'") == 0)
        #expect(shell("cp '\(FixturePlugins.broken("truncated"))' '\(workspace.path)/Plugins'") == 0)
        try workspace.configure([], plugins: ["Plugins"])
        let result = try await workspace.program.alone.run("plugins")
        #expect(result.status == 0)
        #expect(result.lines.contains { $0.hasPrefix("✓ sync") && $0.hasSuffix("Plugins/libsync.so") })
        #expect(result.lines.contains { $0.hasPrefix("✗ ") && $0.hasSuffix("Plugins/libtruncated.so") })
        #expect(result.output.contains("[truncated]"))
    }

    @Test func `with --json there is one document`() async throws {
        var program = Program(directory: "/").alone
        program.environment["CONNECTOR_PLUGIN_PATH"] = "\(FixturePlugins.build)/plugins:\(FixturePlugins.build)/broken"
        let result = try await program.run("plugins", "--json")
        #expect(result.status == 0)
        let document = try JSONValue(parsing: result.output)
        #expect(document["version"] == 1)
        let plugins = try #require(document["plugins"]?.array)
        let sync = try #require(plugins.first { $0["id"] == "sync" })
        #expect(sync["usable"] == true)
        #expect(sync["capabilities"] == ["calculator/1"])
        let mismatch = try #require(plugins.first { $0["id"] == "manifest-mismatch" })
        #expect(mismatch["usable"] == false)
        #expect(mismatch["error"]?["code"] == "manifest-mismatch")
    }

    @Test(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
    func `a directory that cannot be searched is told, although the plugin is found beside the program`() async throws {
        let workspace = try Workspace()
        try workspace.configure(
            [["name": "settings", "plugin": "settings-file", "config": ["defaults": ["theme": "light"]]]],
            plugins: ["nope", "connectors.json"]
        )
        var program = workspace.program
        program.environment["XDG_STATE_HOME"] = workspace.path
        let reasons = ["nope: No such file or directory", "connectors.json: Not a directory"]
        for arguments in [["validate"], ["plugins"], ["status"], ["lock"]] {
            let result = try await program.start(arguments).finish()
            #expect(result.status == 0, "\(arguments): \(result)")
            for reason in reasons {
                #expect(
                    result.lines.contains { $0.contains("warning: no plugin is found in ") && $0.contains(reason) },
                    "\(arguments): \(result)"
                )
            }
        }
        for command in ["validate", "plugins", "lock"] {
            let document = try JSONValue(parsing: try await program.run(command, "--json").output)
            let warnings = document["warnings"]?.array?.compactMap(\.string) ?? []
            for reason in reasons { #expect(warnings.contains { $0.contains(reason) }, "\(command): \(document)") }
        }
        try workspace.configure([], plugins: ["."])
        let valid = try JSONValue(parsing: try await program.run("validate", "--json").output)
        #expect(valid["warnings"] == [], "\(valid)")
    }

    // Other systems refuse such names.
    #if os(Linux)
        @Test(arguments: [
            "plugins", "schema", "lock", "inspect sync", "inspect --probe plugins/libsync.so", "test sync", "validate",
        ])
        func `directories that are not UTF-8 are refused by every command that would search them`(words: String)
            async throws
        {
            let workspace = try Workspace()
            #expect(shell("mkdir '\(workspace.path)/plugins'") == 0)
            #expect(shell("cp '\(FixturePlugins.good("sync"))' '\(workspace.path)/plugins'") == 0)
            try workspace.configure([["name": "a", "plugin": "sync"]], plugins: ["plugins"])
            let script = "export CONNECTOR_PLUGIN_PATH=\"$(printf '/x\\344')\"; exec \"$0\" \(words)"
            let program = workspace.program.alone
            let result = try await Child(start: "/bin/sh", ["-c", script, program.file], program).finish()
            // They also have other reasons why a plugin does not load here.
            let isVerdict = words.hasPrefix("inspect") || words.hasPrefix("test")
            #expect(result.status == (isVerdict ? 1 : 2), "\(result)")
            let told = "the environment variable CONNECTOR_PLUGIN_PATH is not UTF-8 text"
            #expect("\(result.output)\(result.error)".contains(told), "\(result)")
        }
    #endif

    @Test func `a configuration that is named must exist`() async throws {
        let workspace = try Workspace()
        #expect(try await workspace.program.alone.run("plugins").status == 0)
        let named = try await workspace.program.alone.run("plugins", "--config", "connectors.json")
        #expect(named.status == 2)
        #expect(named.error.contains("[not-found]"))
    }

    @Test func `the schema knows the fields of every plugin`() async throws {
        let workspace = try Workspace()
        try workspace.configure([], plugins: ["\(FixturePlugins.build)/plugins"])
        let result = try await workspace.program.run("schema")
        #expect(result.status == 0)
        let schema = try JSONValue(parsing: result.output)
        #expect(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema")
        #expect(result.output.contains("\"greeting\""))
        #expect(result.output.contains("\"sync\""))
    }

    @Test func `a schema of a damaged file is refused with the fault`() async throws {
        let workspace = try Workspace()
        try workspace.write("{", to: "connectors.json")
        let result = try await workspace.program.run("schema")
        #expect(result.status == 2)
        #expect(result.error.contains("connectors.json:1:2: error: "), "\(result.error)")
    }

    @Test func `the schema beside the example is the one that is printed`() async throws {
        let program = Program(directory: FixturePlugins.root)
        let result = try await program.run("schema")
        #expect(result.status == 0)
        #expect(result.output == (try readFile("connectors.schema.json")), "run: make schema")
    }

    @Test(arguments: ["manifest", "answers"])
    func `the other schemas beside the example are those that are printed`(format: String) async throws {
        let result = try await Program(directory: "/").run("schema", format)
        #expect(result.status == 0)
        #expect(result.output == (try readFile("\(format).schema.json")), "run: make schema")
        #expect(try await Program(directory: "/").run("schema", "nothing").status == 64)
    }
}
