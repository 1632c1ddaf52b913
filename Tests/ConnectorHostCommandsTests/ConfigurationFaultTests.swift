// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// What the commands say about an invalid configuration.
@Suite struct ConfigurationFaultTests {
    private static let faulty = """
        {
          "version": 1,
          "connectors": [
            { "name": "a", "pluign": "segment" },
            { "name": "b", "plugin": "no-such-plugin", "after": ["c"] }
          ]
        }
        """

    @Test(arguments: ["status", "validate"])
    func `every fault is reported on standard error with its position, and the status is 2`(command: String)
        async throws
    {
        let workspace = try Workspace()
        try workspace.write(Self.faulty, to: "connectors.json")
        let result = try await workspace.program.run(command)
        #expect(result.status == 2)
        #expect(result.output == "")
        #expect(result.error.contains("connectors.json:4:20: error:"))
        #expect(result.error.contains("did you mean \"plugin\"?"))
        #expect(result.error.contains("[unknown-plugin]"))
        #expect(result.error.contains("[unknown-connector]"))
    }

    @Test(arguments: ["status", "validate"])
    func `with --json the faults are one document on standard output`(command: String) async throws {
        let workspace = try Workspace()
        try workspace.write(Self.faulty, to: "connectors.json")
        let result = try await workspace.program.run(command, "--json")
        #expect(result.status == 2)
        #expect(result.error == "")
        let document = try JSONValue(parsing: result.output)
        #expect(document["version"] == 1)
        let errors = try #require(document["errors"]?.array)
        #expect(errors.compactMap { $0["code"]?.string } == ["unknown-key", "unknown-plugin", "unknown-connector"])
        #expect(errors.first?["line"] == 4)
        #expect(errors.first?["column"] == 20)
        #expect(errors.first?["file"] == "connectors.json")
    }

    @Test func `a file that is a loop of links has a remedy that fits`() async throws {
        let workspace = try Workspace()
        #expect(shell("cd '\(workspace.path)' && ln -s other connectors.json && ln -s connectors.json other") == 0)
        let result = try await workspace.program.run("validate")
        #expect(result.status == 2 && result.error.contains("remove the loop of symbolic links"), "\(result)")
    }

    @Test func `a file that is missing, or not JSON, is an invalid configuration`() async throws {
        let workspace = try Workspace()
        let absent = try await workspace.program.run("status")
        #expect(absent.status == 2)
        #expect(absent.error.contains("connectors.json"))
        #expect(absent.error.contains("[not-found]"))
        try workspace.write("{ \"version\": 1, ", to: "broken.json")
        let broken = try await workspace.program.run("validate", "--config", "broken.json")
        #expect(broken.status == 2)
        #expect(broken.error.contains("[syntax]"))
    }

    @Test func `every reason why a plugin would not load is reported, and the status is 1`() async throws {
        let workspace = try Workspace()
        try workspace.configure([
            ["name": "calculator", "plugin": .string(FixturePlugins.good("sync"))],
            ["name": "broken", "plugin": .string(FixturePlugins.broken("truncated"))],
            ["name": "second", "plugin": .string(FixturePlugins.broken("truncated"))],
        ])
        let result = try await workspace.program.run("validate")
        #expect(result.status == 1)
        #expect(result.output.contains("error: broken: ") && result.output.contains(" (also for second)"))
        #expect(result.output.contains("✗ connectors.json is well formed: 3 gates, of which 2 would fail"))
        let document = try JSONValue(parsing: try await workspace.program.run("validate", "--json").output)
        #expect(document["valid"] == false)
        #expect(document["errors"]?[0]?["code"] == "truncated")
        #expect(document["failing"] == 2)
    }

    @Test func `validate warns of a file of authorities and of a proxy that cannot be used`() async throws {
        let workspace = try Workspace()
        try workspace.configure([["name": "calculator", "plugin": .string(FixturePlugins.good("sync"))]])
        var program = workspace.program
        program.environment["XDG_STATE_HOME"] = workspace.path
        program.environment["SSL_CERT_FILE"] = "/nonexistent/ca.pem"
        program.environment["https_proxy"] = "socks5://proxy"
        let document = try JSONValue(parsing: try await program.run("validate", "--json").output)
        #expect(document["valid"] == true)
        let warnings = document["warnings"]?.array?.compactMap(\.string) ?? []
        #expect(
            warnings.contains { warning in
                warning.hasPrefix("SSL_CERT_FILE names /nonexistent/ca.pem,") && warning.contains("No such file")
            },
            "\(warnings)"
        )
        #expect(warnings.contains { $0.hasSuffix("correct https_proxy") }, "\(warnings)")
    }

    @Test func `a path that leads to no plugin is a fault at its place, with the path that was meant`() async throws {
        let workspace = try Workspace()
        shell("mkdir '\(workspace.path)/P' && cp '\(FixturePlugins.good("sync"))' '\(workspace.path)/P/libhello.so'")
        let text = """
            {"version": 1, "connectors": [
              {"name": "a", "plugin": "./P/libhelo.so"},
              {"name": "b", "plugin": "./P"}
            ]}
            """
        try workspace.write(text, to: "connectors.json")
        let result = try await workspace.program.run("validate")
        #expect(result.status == 1)
        let missing = "connectors.json:2:27: error: a: there is no file ./P/libhelo.so [not-found]"
        #expect(result.output.contains(missing) && result.output.contains("did you mean ./P/libhello.so?"), "\(result)")
        #expect(result.output.contains("connectors.json:3:27: error: b: ./P is a directory [unreadable]"), "\(result)")
        let document = try JSONValue(parsing: try await workspace.program.run("validate", "--json").output)
        let errors = try #require(document["errors"]?.array)
        #expect(errors.map { $0["file"] } == ["connectors.json", "connectors.json"])
        #expect(errors.map { $0["line"] } == [2, 3] && errors.map { $0["column"] } == [27, 27])
        // So it is where the plugins are locked.
        let locked = try await workspace.program.run("lock")
        #expect((locked.output + locked.error).contains("connectors.json:2:27: "), "\(locked)")
    }

    @Test func `a gate whose file of answers is missing would fail with --simulate alone`() async throws {
        let workspace = try Workspace()
        try workspace.configure([
            ["name": "calculator", "plugin": .string(FixturePlugins.good("sync")), "simulate": "missing.json"]
        ])
        let result = try await workspace.program.run("validate")
        #expect(result.status == 1)
        #expect(result.output.contains("there is no file missing.json"), "\(result.output)")
        let end = "✗ connectors.json is well formed: 1 gate, of which 1 would fail with --simulate\n"
        #expect(result.output.hasSuffix(end), "\(result.output)")
        let document = try JSONValue(parsing: try await workspace.program.run("validate", "--json").output)
        #expect(document["valid"] == false && document["failing"] == 0)
        let simulated = try await workspace.program.run("validate", "--simulate")
        #expect(simulated.status == 1)
        #expect(simulated.output.hasSuffix("is well formed: 1 gate, of which 1 would fail\n"), "\(simulated.output)")
    }

    @Test(arguments: [
        "symbol-absent", "missing-dependency", "missing-symbol", "signature-mismatch", "garbage-manifest",
    ])
    func `validate says the same about a plugin as inspect`(fixture: String) async throws {
        let workspace = try Workspace()
        let plugin = FixturePlugins.broken(fixture)
        try workspace.configure([["name": "broken", "plugin": .string(plugin)]])
        let validated = try JSONValue(parsing: try await workspace.program.run("validate", "--json").output)
        let inspected = try JSONValue(parsing: try await workspace.program.run("inspect", plugin, "--json").output)
        let messages = try #require(inspected["problems"]?.array).map { $0["message"] }
        #expect(try #require(validated["errors"]?.array).map { $0["message"] } == messages)
        #expect(!messages.isEmpty)
    }

    @Test func `validate answers a document of the same form for a file with faults and for one without`() async throws
    {
        let workspace = try Workspace()
        try workspace.write(Self.faulty, to: "connectors.json")
        let faulty = try await workspace.program.run("validate", "--json")
        #expect(try JSONValue(parsing: faulty.output)["valid"] == false)
        try workspace.write("{", to: "connectors.json")
        #expect(try JSONValue(parsing: try await workspace.program.run("validate", "--json").output)["valid"] == false)
        try workspace.configure([["name": "calculator", "plugin": .string(FixturePlugins.good("sync"))]])
        #expect(try JSONValue(parsing: try await workspace.program.run("validate", "--json").output)["valid"] == true)
    }

    @Test func `faults beyond a limit are only counted`() async throws {
        let workspace = try Workspace()
        try workspace.configure(.array((0..<300).map { ["name": .string("a\($0)"), "plugin": "none"] }))
        let text = try await workspace.program.run("validate")
        #expect(text.error.hasSuffix("\nand 200 more\n"))
        let document = try JSONValue(parsing: try await workspace.program.run("status", "--json").output)
        #expect(document["errors"]?.array?.count == 100)
        #expect(document["omitted"] == 200)
    }

    @Test func `validating runs no code of a plugin`() async throws {
        let workspace = try Workspace()
        try workspace.configure([
            ["name": "crash", "plugin": .string(FixturePlugins.misbehaving("crashes-in-constructor"))]
        ])
        #expect(try await workspace.program.run("validate").status == 0)
        #expect(try await workspace.program.alone.run("plugins").status == 0)
    }

    @Test func `a fault in an included file has its position in that file`() async throws {
        let workspace = try Workspace()
        try workspace.write(#"{"version": 1, "include": ["teams/search.json"]}"#, to: "connectors.json")
        try workspace.write(Self.faulty, to: "teams/search.json")
        let result = try await workspace.program.run("validate")
        #expect(result.status == 2)
        #expect(result.error.contains("teams/search.json:4:20: error:"))
        let document = try JSONValue(parsing: try await workspace.program.run("status", "--json").output)
        #expect(document["errors"]?[0]?["file"] == "teams/search.json")
    }

    @Test func `validate lists the files of the example, each with its gates`() async throws {
        let program = Program(directory: "\(FixturePlugins.root)/Examples/Include")
        let result = try await program.run("validate")
        #expect(result.output == "✓ connectors.json is valid: 3 gates\n    includes teams/search.json: 2 gates\n")
        let document = try JSONValue(parsing: try await program.run("validate", "--json").output)
        #expect(document["includes"] == [["file": "teams/search.json", "gates": 2]])
    }

    @Test func `the gates of included files open, with plugins beside the file that names them`() async throws {
        let workspace = try Workspace()
        try workspace.write(#"{"version": 1, "include": ["teams/search.json"]}"#, to: "connectors.json")
        shell(
            "mkdir -p '\(workspace.path)/teams' && cp '\(FixturePlugins.good("sync"))' '\(workspace.path)/teams/lib.so'"
        )
        let text = #"{"version": 1, "connectors": [{"name": "calculator", "plugin": "./lib.so"}]}"#
        try workspace.write(text, to: "teams/search.json")
        let result = try await workspace.program.run("status")
        #expect(result.status == 0, "\(result.error)")
        #expect(result.output.hasPrefix("✓ calculator "))
    }
}
