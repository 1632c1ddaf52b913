// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The commands that change a host while it runs.
@Suite(.timeLimit(.minutes(5))) struct ReloadCommandTests {
    private func write(_ workspace: Workspace, _ replies: String, others: [JSONValue] = []) throws {
        let gate: JSONValue = [
            "name": "gate", "plugin": .string(FixturePlugins.contract("calls")), "probe": "off",
            "config": ["replies": .string(replies)],
        ]
        let file: JSONValue = ["version": 1, "state": "state", "connectors": .array([gate] + others)]
        try workspace.write(file.serialized(), to: "connectors.json")
    }

    private func answer(_ workspace: Workspace) async throws -> String {
        try await workspace.program.run("call", "gate", "answer", "value=0", "--attach").output
    }

    @Test func `a plan is shown, applied and refused, and SIGHUP reloads`() async throws {
        let workspace = try Workspace()
        try write(workspace, "1")
        let program = workspace.program
        let alone = try await program.run("plan")
        #expect(alone.status == 1 && alone.error.contains("no host runs on connectors.json"))
        let host = try program.start(["run", "--json"])
        while try await program.run("status", "--attach", "--json").status != 0 {}

        let nothing = try await program.run("plan")
        #expect(nothing.status == 0 && nothing.output == "nothing to do: 1 connector runs as the file says\n")
        try write(workspace, "2", others: [["name": "new", "plugin": .string(FixturePlugins.good("sync"))]])
        let plan = try await program.run("plan")
        #expect(plan.status == 3)
        #expect(plan.output.contains("~ gate  opens beside the one that runs\n    config.replies: 1 "))
        #expect(plan.output.contains("+ new  opens\n"))
        #expect(plan.output.hasSuffix("1 added, 1 changed, 0 kept\n"))
        let document = try await program.run("plan", "--json")
        #expect(document.status == 3)
        try workspace.write(document.output, to: "plan.json")
        let applied = try await program.run("apply", "plan.json")
        #expect(applied.status == 0 && applied.output.contains("active: 2 changed, 0 kept"))
        #expect(try await answer(workspace).contains("2"))

        let refused = try await program.run("apply", "plan.json")
        #expect(refused.status == 1 && refused.output.contains("the configuration that runs"))
        #expect(refused.output.hasSuffix("\nthe plan is now:\nnothing to do: 2 connectors run as the file says\n"))
        try workspace.write("{", to: "connectors.json")
        #expect(try await program.run("plan").status == 2)
        #expect(try await program.run("reload").status == 2)

        try write(workspace, "3")
        let reloaded = try await program.run("reload", "--json")
        #expect(reloaded.status == 0)
        #expect(try JSONValue(parsing: reloaded.output)["active"] == true)
        #expect(try await answer(workspace).contains("3"))
        try write(workspace, "4")
        host.signal(1)
        while try await !answer(workspace).contains("4") {}
        #expect(try await program.run("plan").status == 0)
        host.signal(15)
        #expect(try await host.finish().status == 0)
    }

    @Test(arguments: [
        (["run", "--json"], SIGHUP), (["run", "--json"], SIGTERM), (["console", "--web", "127.0.0.1:0"], SIGTERM),
    ])
    func `a signal that comes while a host starts is not lost`(
        _ words: [String],
        _ signal: Int32
    ) async throws {
        let workspace = try Workspace()
        func write(_ others: JSONValue...) throws {
            let secret: JSONValue = ["secret": ["exec": ["./key"], "timeout": "60s"]]
            let segment: JSONValue = [
                "name": "segment", "plugin": .string("\(Program.buildDirectory)/libsegment.so"), "probe": "off",
                "config": ["writeKey": secret],
            ]
            let file: JSONValue = ["version": 1, "state": "state", "connectors": .array([segment] + others)]
            try workspace.write(file.serialized(), to: "connectors.json")
        }
        let script = "#!/bin/sh\n: > begun\nwhile [ ! -e go ]; do sleep 0.05; done\necho key\n"
        try workspace.write(script, to: "key")
        shell("chmod +x '\(workspace.path)/key'")
        try write()
        let host = try workspace.program.start(words)
        while shell("[ -e '\(workspace.path)/begun' ]") != 0 {}
        try write(["name": "new", "plugin": .string(FixturePlugins.good("sync"))])
        host.signal(signal)
        shell(": > '\(workspace.path)/go'")
        if signal == SIGHUP {
            while try await !workspace.program.run("status", "--attach").output.contains("new") {}
            host.signal(SIGTERM)
        }
        let result = try await host.finish()
        #expect(result.status == 0 && (result.output.contains("\"queued\"") || words[0] == "console"), "\(result)")
    }

    @Test(.timeLimit(.minutes(2)))
    func `a program that prints a secret for a reload does not outlive the host`() async throws {
        let workspace = try Workspace()
        let script = "#!/bin/sh\n[ -e slow ] || exec echo key\necho $$ > new\nmv new process\nexec sleep 1000\n"
        try workspace.write(script, to: "key")
        shell("chmod +x '\(workspace.path)/key'")
        func configure(_ server: String) throws {
            let secret: JSONValue = ["secret": ["exec": ["./key"], "timeout": "60s"]]
            let segment: JSONValue = [
                "name": "segment", "plugin": .string("\(Program.buildDirectory)/libsegment.so"), "probe": "off",
                "config": ["writeKey": secret, "endpoint": .string("https://\(server).invalid")],
            ]
            let file: JSONValue = ["version": 1, "state": "state", "connectors": [segment]]
            try workspace.write(file.serialized(), to: "connectors.json")
        }
        try configure("first")
        let host = try workspace.program.start(["run", "--json"])
        while shell("[ -S '\(workspace.path)/state/control' ]") != 0 {}
        shell(": > '\(workspace.path)/slow'")
        try configure("second")
        host.signal(SIGHUP)
        while shell("[ -e '\(workspace.path)/process' ]") != 0 {}
        let process = try readFile(at: "\(workspace.path)/process").filter(\.isNumber)
        host.signal(SIGTERM)
        // It either waits for the reload, or has ended.
        await host.error(until: "exits immediately")
        host.signal(SIGTERM)
        let status = try await host.finish().status
        #expect(status == 0 || status == 143)
        while !hasEnded(process) { try await Task.checkedYield() }
    }

    @Test func `an image is swapped while its connector runs, or refused with the reason`() async throws {
        let workspace = try Workspace()
        shell(
            "mkdir -p '\(workspace.path)/plugins' && cp '\(FixturePlugins.good("sync"))' '\(workspace.path)/plugins/'"
        )
        // The same plugin with another text in it.
        shell(
            "sed 's/division by zero/division by Zero/' '\(workspace.path)/plugins/libsync.so' > '\(workspace.path)/next.so'"
        )
        shell("head -c 9000 '\(workspace.path)/next.so' > '\(workspace.path)/half.so'")
        let file: JSONValue = [
            "version": 1, "state": "state", "plugins": ["plugins"],
            "connectors": [["name": "gate", "plugin": "sync", "probe": "off"]],
        ]
        try workspace.write(file.serialized(), to: "connectors.json")
        let program = workspace.program.alone
        let alone = try await program.run("swap", "gate", "next.so")
        #expect(alone.status == 1 && alone.error.contains("no host runs on connectors.json"))
        let host = try program.start(["run", "--json"])
        while try await program.run("status", "--attach", "--json").status != 0 {}

        let refused = try await program.run("swap", "gate", "half.so")
        #expect(refused.status == 2 && refused.error.contains("half.so"))
        let swapped = try await program.run("swap", "gate", "next.so")
        #expect(swapped.status == 0, "\(swapped.error)")
        #expect(swapped.output.contains("~ gate  opens beside the one that runs\n    image: "))
        #expect(swapped.output.contains("active: 1 changed, 0 kept"))
        let call = try await program.run("call", "gate", "divide", "a=1", "b=0", "--attach")
        #expect(call.error.contains("division by Zero"))
        #expect(shell("cmp -s '\(workspace.path)/next.so' '\(workspace.path)/plugins/libsync.so'") == 0)
        let plugins = try await program.run("plugins")
        #expect(plugins.output.contains("loaded by process \(host.identifier), until it ends:"), "\(plugins)")
        #expect(
            plugins.lines.contains {
                $0.contains("plugins/libsync.so") && $0.contains("2 images in memory, ")
                    && $0.contains(", 1 of them in no use")
                    && $0.hasSuffix("gate")
            }
        )
        let loaded = try JSONValue(parsing: try await program.run("plugins", "--json").output)["loaded"]
        #expect(loaded?[0]?["images"]?.array?.map { $0["connectors"] } == [[], ["gate"]])
        let unknown = try await program.run("swap", "nobody", "next.so", "--json")
        #expect(unknown.status == 1 && unknown.output.contains("unknown-connector"))
        host.signal(15)
        #expect(try await host.finish().status == 0)
    }
}
