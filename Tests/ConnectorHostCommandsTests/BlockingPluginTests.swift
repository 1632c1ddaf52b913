// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The program ends even if a function of a plugin never returns, and names the function.
@Suite(.timeLimit(.minutes(5))) struct BlockingPluginTests {
    private func program(_ plugin: String, _ config: JSONObject = [:]) throws -> Program {
        let workspace = try Workspace()
        try workspace.configure([
            [
                "name": "bad", "plugin": .string(FixturePlugins.misbehaving(plugin)), "config": .object(config),
                "timeout": "300ms", "probe": "off",
            ],
            ["name": "good", "plugin": .string(FixturePlugins.good("sync")), "probe": "off"],
        ])
        return workspace.program
    }

    @Test func `a constructor that blocks is named, the report is printed, and the program ends`() async throws {
        let result = try await program("blocks-in-constructor").run("status")
        #expect(result.status == 1)
        #expect(result.output.contains("a constructor of /"))
        #expect(result.output.contains("libblocks-in-constructor.so did not return within "))
        #expect(!result.output.contains("the server is slow"))
        #expect(result.error.contains("libblocks-in-constructor.so does not return; exiting anyway"))
    }

    @Test func `a destructor that blocks is named, and the program ends with its status`() async throws {
        let result = try await program("blocks-in-destructor").run("status")
        #expect(result.status == 0)
        #expect(result.error.contains("a destructor of the plugin blocks-in-destructor 1.0.0 does not return"))
    }

    @Test(arguments: ["create", "open"])
    func `a function that blocks while the gate opens is named, and not taken for a slow server`(
        _ function: String
    ) async throws {
        let result = try await program("blocks-in-life", ["where": .string(function)]).run("status")
        #expect(result.status == 1)
        #expect(result.output.contains("\(function) of /"))
        #expect(result.output.contains("libblocks-in-life.so did not return within "))
        #expect(result.output.contains("fix the plugin"))
        #expect(!result.output.contains("the server is slow"))
        #expect(result.lines.contains { $0.contains("good") && $0.contains("configured") })
    }

    @Test(arguments: ["close", "destroy"])
    func `a function that blocks while the gate closes is named, and the program ends`(
        _ function: String
    ) async throws {
        let result = try await program("blocks-in-life", ["where": .string(function)]).run("status")
        #expect(result.status == 0)
        #expect(result.error.contains("function=\(function)"), "\(result.error)")
    }

    @Test(arguments: ["hold", "begin", "holdPromptly", "beginPromptly"])
    func `a call of an operation that blocks ends at its timeout, and so does the program`(_ operation: String)
        async throws
    {
        let workspace = try Workspace()
        try workspace.configure([
            ["name": "bad", "plugin": .string(FixturePlugins.contract("blocks")), "timeout": "300ms", "probe": "off"]
        ])
        let result = try await workspace.program.run("call", "bad", operation, "--timeout", "200ms")
        #expect(result.status == 1)
        #expect(result.error.contains("\(operation) did not return within "))
        #expect(result.error.contains("fix the plugin"))
    }

    /// A connector whose timeout is longer than the test may take.
    private func patient(_ plugin: String, _ config: JSONObject = [:]) throws -> Program {
        let workspace = try Workspace()
        try workspace.configure([
            ["name": "bad", "plugin": .string(plugin), "config": .object(config), "timeout": "1h", "probe": "off"]
        ])
        return workspace.program
    }

    @Test(arguments: ["hold", "begin", "linger"])
    func `a call names the function that does not return, and the program waits for no gate`(
        _ operation: String
    ) async throws {
        let program = try patient(FixturePlugins.contract("blocks"))
        let result = try await program.run("call", "bad", operation, "--timeout", "200ms")
        #expect(result.status == (operation == "linger" ? 0 : 1))
        #expect(result.error.contains("\(operation) (blocks_\(operation))"), "\(result.error)")
        #expect(result.error.contains("blocks 1.0.0"))
        #expect(result.error.contains("holds a thread of the host"))
    }

    @Test func `a cancellation that does not return is named, and the program waits for no gate`() async throws {
        let program = try patient(FixturePlugins.contract("frees-on-cancel"), ["cancel": "blocks"])
        let result = try await program.run("call", "bad", "wait", "--timeout", "200ms")
        #expect(result.status == 1)
        #expect(result.error.contains("function=cancel"), "\(result.error)")
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `after one signal the program says what it waits for, and a second one ends it`(
        _ signal: Int32
    ) async throws {
        let program = try patient(FixturePlugins.misbehaving("blocks-in-life"), ["where": "close"])
        let child = try program.start(["status"])
        _ = await child.output(until: "configured")
        child.signal(signal)
        let error = await child.error(until: "exits immediately")
        #expect(error.contains("waiting for close of the plugin blocks-in-life 1.0.0 to return"), "\(error)")
        #expect(error.contains("for the connector bad"))
        child.signal(signal)
        #expect(try await child.finish().status == 128 + signal)
    }
}
