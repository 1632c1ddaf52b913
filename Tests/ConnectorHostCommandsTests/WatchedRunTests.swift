// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

/// `connector-host run --watch`.
@Suite(.timeLimit(.minutes(5))) struct WatchedRunTests {
    private func text(_ replies: String) -> String {
        let gate: JSONValue = [
            "name": "gate", "plugin": .string(FixturePlugins.contract("calls")), "probe": "off",
            "config": ["replies": .string(replies)],
        ]
        return (["version": 1, "state": "state", "connectors": [gate]] as JSONValue).serialized()
    }

    private func answer(_ program: Program, becomes text: String) async throws {
        while try await !program.run("call", "gate", "answer", "value=0", "--attach").output.contains(text) {}
    }

    @Test func `a file that is missing at first is awaited, and every change of it is taken up`() async throws {
        let workspace = try Workspace()
        let program = workspace.program
        let host = try program.start(["run", "--watch"])
        await host.error(until: "waiting for the file")
        try workspace.write(text("1"), to: "connectors.json")
        try await answer(program, becomes: "1")
        try workspace.write(text("2"), to: "new")
        #expect(shell("cd '\(workspace.path)' && mv new connectors.json") == 0)
        try await answer(program, becomes: "2")
        try workspace.write("{", to: "connectors.json")
        await host.error(until: "reload changed nothing")
        try workspace.write(text("2"), to: "connectors.json")
        await host.error(until: "the file says what runs again")
        try workspace.write(text("3"), to: "connectors.json")
        try await answer(program, becomes: "3")
        let status = try JSONValue(parsing: try await program.run("status", "--attach", "--json").output)
        #expect(status["configuration"]?["watching"]?["events"] == true)
        host.signal(15)
        #expect(try await host.finish().status == 0)
    }

    @Test func `SIGHUP ends a host whose terminal was closed, and lets others reload`() async throws {
        let workspace = try Workspace()
        try workspace.write(text("1"), to: "connectors.json")
        var program = workspace.program
        program.isOnTerminal = true
        let host = try program.start(["run", "--json"])
        try await answer(workspace.program, becomes: "1")
        try workspace.write(text("2"), to: "connectors.json")
        host.signal(1)
        try await answer(workspace.program, becomes: "2")
        host.closeTerminal()
        // A program that another test starts at this moment may still have the terminal.
        while !hasEnded("\(host.identifier)") {
            host.signal(1)
            try await Task.checkedYield()
        }
        // Its answer has nobody to read it.
        let result = try await host.finish()
        #expect(result.status == 1 && result.error.contains("stopping; delivering waiting events"), "\(result)")
    }

    @Test func `SIGHUP does not end a host that awaits its file, and SIGTERM ends it like one that runs`()
        async throws
    {
        let workspace = try Workspace()
        let host = try workspace.program.start(["run", "--watch", "--json"])
        await host.error(until: "waiting for the file")
        host.signal(1)
        try workspace.write(text("1"), to: "connectors.json")
        try await answer(workspace.program, becomes: "1")
        host.signal(15)
        #expect(try await host.finish().status == 0)
        shell("rm '\(workspace.path)/connectors.json'")
        let waiting = try workspace.program.start(["run", "--watch", "--json"])
        await waiting.error(until: "waiting for the file")
        waiting.signal(15)
        let result = try await waiting.finish()
        #expect(result.status == 0)
        #expect(try JSONValue(parsing: result.output) == ["version": 1, "queued": 0])
    }
}
