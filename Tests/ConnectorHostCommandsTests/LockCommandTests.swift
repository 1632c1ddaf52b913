// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// `connector-host lock`.
@Suite(.timeLimit(.minutes(5))) struct LockCommandTests {
    /// A workspace with a copy of a fixture in `plugins`.
    private func workspace() throws -> Workspace {
        let workspace = try Workspace()
        try install("sync", workspace)
        try workspace.configure([["name": "a", "plugin": "sync"]], plugins: ["plugins"])
        return workspace
    }

    private func install(_ name: String, _ workspace: Workspace, as file: String = "sync", change: String = "true")
        throws
    {
        let target = "\(workspace.path)/plugins/lib\(file).so"
        let copy = "mkdir -p \"$(dirname '\(target)')\" && cp '\(FixturePlugins.good(name))' '\(target).new'"
        #expect(shell("\(copy) && \(change) '\(target).new' && mv '\(target).new' '\(target)'") == 0)
    }

    /// Appends a byte, which the dynamic linker ignores.
    private let grow = "printf x >>"

    private func lock(_ workspace: Workspace) throws -> String {
        try readFile(at: "\(workspace.path)/connectors.lock.json")
    }

    @Test func `once a lock is written, nothing but what it lists is loaded`() async throws {
        let workspace = try workspace()
        let program = workspace.program
        let missing = try await program.run("lock", "--check")
        #expect(missing.status == 1)
        #expect(missing.output.contains("there is no connectors.lock.json"))
        let written = try await program.run("lock")
        #expect(written.status == 0)
        #expect(written.output.contains("sync 1.2.0  added"))
        #expect(written.output.contains("wrote connectors.lock.json: 1 plugin for linux-"))
        let text = try lock(workspace)
        #expect(text.contains("\"add\": \"(a: i64, b: i64) -> i64\""))
        for arguments in [["lock"], ["lock", "--check"], ["validate"], ["status"], ["call", "a", "add", "1", "2"]] {
            #expect(try await program.start(arguments).finish().status == 0, "\(arguments)")
        }
        #expect(try lock(workspace) == text)
        try install("sync", workspace, change: grow)
        for arguments in [["lock"], ["lock", "--check"], ["validate"], ["status"], ["call", "a", "add", "1", "2"]] {
            #expect(try await program.start(arguments).finish().status == 1, "\(arguments)")
        }
        #expect(try lock(workspace) == text)
        let status = try await program.run("status", "--json")
        let error = try JSONValue(parsing: status.output)["gates"]?[0]?["error"]
        #expect(error?["code"] == "not-locked")
        #expect(error?["fix"]?.string?.contains("connector-host lock --update sync") == true)
    }

    @Test func `a plugin that is not what the lock lists is not usable, and no probe runs it`() async throws {
        let workspace = try workspace()
        let program = workspace.program.alone
        #expect(try await program.run("lock").status == 0)
        func listed(_ options: [String]) async throws -> JSONValue {
            let result = try await program.start(["plugins", "--json"] + options).finish()
            #expect(result.status == 0, "\(result)")
            let plugins = try JSONValue(parsing: result.output)["plugins"]?.array
            return try #require(plugins?.first { $0["id"] == "sync" })
        }
        let locked = try await listed([])
        #expect(locked["usable"] == true, "\(locked)")
        #expect(try await program.run("inspect", "sync").status == 0)
        try install("sync", workspace, change: grow)
        let refused = try await listed(["--probe"])
        #expect(refused["usable"] == false && refused["error"]?["code"] == "not-locked", "\(refused)")
        #expect(refused["probe"] == nil, "\(refused)")
        for file in ["sync", "plugins/libsync.so"] {
            let result = try await program.run("inspect", file, "--probe", "--json")
            #expect(result.status == 1, "\(result)")
            let document = try JSONValue(parsing: result.output)
            #expect(document["problems"]?[0]?["code"] == "not-locked" && document["probe"] == nil, "\(document)")
        }
        // Nobody knows what a damaged lock admits.
        try workspace.write("{", to: "connectors.lock.json")
        #expect(try await program.run("plugins", "--probe").status == 2)
        let inspected = try await program.run("inspect", "sync", "--probe", "--json")
        #expect(inspected.status == 1 && !inspected.output.contains("\"outcome\""), "\(inspected)")
    }

    @Test func `an id is tested only if the lock admits its plugin, and a file before it is locked`() async throws {
        let workspace = try workspace()
        let program = workspace.program.alone
        let rule = ["--only", "manifest"]
        #expect(try await program.run("lock").status == 0)
        #expect(try await program.start(["test", "sync"] + rule).finish().status == 0)
        try install("sync", workspace, change: grow)
        let refused = try await program.start(["test", "sync"] + rule).finish()
        #expect(refused.status == 1 && refused.error.contains("[not-locked]"), "\(refused)")
        #expect(try await program.start(["test", "plugins/libsync.so"] + rule).finish().status == 0)
        try workspace.write("{", to: "connectors.lock.json")
        let damaged = try await program.start(["test", "sync"] + rule).finish()
        #expect(damaged.status == 1 && damaged.error.contains("connectors.lock.json"), "\(damaged)")
    }

    @Test func `an update shows what has changed, and needs --yes where there is no terminal`() async throws {
        let workspace = try workspace()
        #expect(try await workspace.program.run("lock").status == 0)
        let text = try lock(workspace)
        try install("sync", workspace, change: grow)
        let refused = try await workspace.program.run("lock", "--update", "sync")
        #expect(refused.status == 1)
        #expect(refused.output.contains("changes digest: "))
        #expect(refused.error.contains("there is no terminal to ask on"))
        let refusal = try await workspace.program.run("lock", "--update", "sync", "--json")
        #expect(refusal.status == 1)
        #expect(try JSONValue(parsing: refusal.output)["errors"]?[0]?["code"] == "denied")
        #expect(try lock(workspace) == text)
        let accepted = try await workspace.program.run("lock", "--update", "sync", "--yes", "--json")
        #expect(accepted.status == 0)
        let document = try JSONValue(parsing: accepted.output)
        #expect(document["written"] == true)
        #expect(document["plugins"]?[0]?["state"] == "updated")
        #expect(document["plugins"]?[0]?["connectors"] == ["a"])
        #expect(document["plugins"]?[0]?["changes"]?.array?.map { $0["subject"] } == ["size", "digest"])
        #expect(try lock(workspace) != text)
        #expect(try await workspace.program.run("status").status == 0)
        #expect(try await workspace.program.run("lock", "--update", "sync").status == 0)
        #expect(try await workspace.program.run("lock", "--update", "snyc").status == 1)
    }

    @Test func `an update keeps the lock's permissions, and a link that leads to it`() async throws {
        let workspace = try workspace()
        #expect(try await workspace.program.run("lock").status == 0)
        let text = try lock(workspace)
        func run(_ command: String) -> Int32 { shell("cd '\(workspace.path)' && \(command)") }
        #expect(run("mkdir checkout && mv connectors.lock.json checkout/lock.json") == 0)
        #expect(run("ln -s checkout/lock.json connectors.lock.json && chmod 644 checkout/lock.json") == 0)
        try install("sync", workspace, change: grow)
        #expect(run("umask 077 && '\(Program.path)' lock --update sync --yes > updated.log") == 0)
        #expect(run("test -L connectors.lock.json && test $(stat -c %a checkout/lock.json) = 644") == 0)
        let updated = try lock(workspace)
        #expect(updated != text)
        #expect(try readFile(at: "\(workspace.path)/checkout/lock.json") == updated)
        // Without a lock before, the umask counts.
        #expect(run("rm connectors.lock.json && umask 027 && '\(Program.path)' lock > written.log") == 0)
        #expect(run("test $(stat -c %a connectors.lock.json) = 640") == 0)
    }

    @Test func `a change of the lock alone shows in the plan, and a reload takes it unless another image runs`()
        async throws
    {
        let workspace = try workspace()
        let program = workspace.program
        let host = try program.start(["run", "--json"])
        while try await program.run("status", "--attach", "--json").status != 0 {}
        #expect(try await program.run("lock").status == 0)
        let text = try lock(workspace)
        let made = try await program.run("plan")
        #expect(made.status == 3 && made.output.contains("~ lock: 1 plugin, was not set"))
        let plan = try await program.run("plan", "--json")
        try workspace.write(plan.output, to: "plan.json")
        // A lock of another image, so that the running one is not in it.
        let digest = try #require(text.firstMatch(of: /"sha256": "([0-9a-f]{64})"/)?.output.1)
        try workspace.write(text.replacing(digest, with: String(repeating: "0", count: 64)), to: "connectors.lock.json")
        let moved = try await program.run("apply", "plan.json")
        #expect(moved.status == 1 && moved.output.contains("connectors.lock.json"))
        let refused = try await program.run("reload", "--json")
        #expect(refused.status == 1)
        let reload = try JSONValue(parsing: refused.output)
        #expect(reload["phase"] == "load" && reload["errors"]?[0]?["code"] == "not-locked")
        #expect(try await program.run("call", "a", "add", "1", "2", "--attach").status == 0)

        try workspace.write(text, to: "connectors.lock.json")
        #expect(try await program.run("reload").status == 0)
        #expect(try await program.run("plan").status == 0)
        // From now on the lock refuses another image.
        try install("sync", workspace, change: grow)
        #expect(try await program.run("reload").status == 1)
        #expect(try await program.run("lock", "--update", "sync", "--yes").status == 0)
        let updated = try await program.run("plan")
        #expect(updated.output.contains("~ lock.sync: 1.2.0 \(digest.prefix(16)) "))
        #expect(try await program.run("reload").status == 0)
        #expect(shell("rm '\(workspace.path)/connectors.lock.json'") == 0)
        #expect(try await program.run("plan").output.contains("~ lock: not set, was 1 plugin"))
        #expect(try await program.run("reload").status == 0)
        host.signal(15)
        #expect(try await host.finish().status == 0)
    }

    @Test(.enabled(if: shell("command -v script > /dev/null") == 0, "script(1) is not installed"))
    func `on a terminal an update asks, and only a yes counts as one`() async throws {
        let workspace = try workspace()
        #expect(try await workspace.program.run("lock").status == 0)
        let text = try lock(workspace)
        try install("sync", workspace, change: grow)
        // script(1) gives the command a terminal.
        func update(_ answer: String) -> Int32 {
            let program = "\(Program.path) lock --update sync"
            return shell("cd '\(workspace.path)' && echo \(answer) | script -qec '\(program)' answer.log > shown.log")
        }
        #expect(update("n") == 1)
        #expect(try lock(workspace) == text)
        #expect(try readFile(at: "\(workspace.path)/shown.log").contains("Lock this? [y/N]"))
        #expect(update("yes") == 0)
        #expect(try lock(workspace) != text)
    }

    @Test func `entries of another platform are kept byte for byte`() async throws {
        let workspace = try workspace()
        #expect(try await workspace.program.run("lock").status == 0)
        let own = try lock(workspace)
        let foreign = own.replacing("\"platform\": \"linux-", with: "\"platform\": \"elsewhere-")
        try workspace.write(foreign, to: "connectors.lock.json")
        let check = try await workspace.program.run("lock", "--check")
        #expect(check.status == 1)
        #expect(try await workspace.program.run("lock").status == 0)
        let both = try lock(workspace)
        #expect(Set(foreign.split(separator: "\n").dropLast(2)).isSubset(of: both.split(separator: "\n") + ["    }"]))
        #expect(try JSONValue(parsing: both)["plugins"]?.array?.count == 2)
        #expect(try await workspace.program.run("lock", "--check").status == 0)
    }

    @Test func `a lock that does not mark optional uses is up to date`() async throws {
        let workspace = try Workspace()
        let source = "const void *x_entry(void) { return 0; } int x_run(void *i, void *e) { return 0; }"
        let folder = "'\(workspace.path)/plugins'"
        #expect(shell("mkdir \(folder) && echo '\(source)' | cc -shared -fPIC -x c - -o \(folder)/libx.so") == 0)
        try workspace.write(
            """
            {"manifest": 1, "id": "x", "version": "1.0.0", "abi": [1, 1], "entry": "x_entry",
             "uses": {"more": {"capability": "files/1", "optional": true}},
             "capabilities": {"own/1": {"run": {"symbol": "x_run", "signature": "()"}}}}
            """,
            to: "plugins/libx.connector.json"
        )
        try workspace.configure([["name": "a", "plugin": "x"]], plugins: ["plugins"])
        #expect(try await workspace.program.run("lock").status == 0)
        let text = try lock(workspace)
        let plain = text.replacing(/\{\s*"capability": "files\/1",\s*"optional": true\s*\}/, with: "\"files/1\"")
        #expect(plain != text)
        try workspace.write(plain, to: "connectors.lock.json")
        let check = try await workspace.program.run("lock", "--check", "--json")
        #expect(check.status == 0)
        #expect(try JSONValue(parsing: check.output)["plugins"]?[0]?["changes"] == [])
    }

    @Test func `a damaged lock is invalid configuration, with line and column`() async throws {
        let workspace = try workspace()
        try workspace.write("{\"lock\": 1,\n  \"plugins\": [{\"id\": 3}]}", to: "connectors.lock.json")
        for arguments in [["lock"], ["lock", "--check"], ["status"], ["validate"]] {
            let result = try await workspace.program.start(arguments).finish()
            #expect(result.status == 2)
            #expect(result.error.contains("connectors.lock.json:2:"), "\(result.error)")
            #expect(result.error.contains("write it again with connector-host lock"))
        }
    }

    @Test(arguments: [["--check", "--update", "a"], ["--yes"]])
    func `options that exclude each other are wrong usage`(_ arguments: [String]) async throws {
        #expect(try await Program(directory: "/").start(["lock"] + arguments).finish().status == 64)
    }
}
