// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Commands that ask the host that runs on their file.
@Suite(.timeLimit(.minutes(5))) struct AttachTests {
    /// A directory with one gate, whose state lies beside the file.
    private func workspace() throws -> Workspace {
        let workspace = try Workspace()
        let file: JSONValue = [
            "version": 1, "state": "state",
            "connectors": [["name": "gate", "plugin": .string(FixturePlugins.good("sync")), "probe": "off"]],
        ]
        try workspace.write(file.serialized(), to: "connectors.json")
        return workspace
    }

    /// Starts a host, and returns once it answers with an open gate.
    private func run(in workspace: Workspace) async throws -> Child {
        let child = try workspace.program.start(["run", "--json"])
        while try await workspace.program.run("status", "--attach", "--json").status != 0 {}
        return child
    }

    @Test func `status asks the host that runs on the file, and opens the gates itself if there is none`() async throws
    {
        let workspace = try workspace()
        let program = workspace.program
        let alone = try await program.run("status")
        #expect(alone.status == 0 && !alone.output.contains("reported by"))
        let missing = try await program.run("status", "--attach")
        #expect(missing.status == 1 && missing.error.contains("no host runs on connectors.json"))

        let child = try await run(in: workspace)
        let asked = try await program.run("status")
        #expect(asked.status == 0)
        #expect(asked.output.hasSuffix("ready: 1 of 1 gate open, reported by process \(child.identifier)\n"))
        let document = try JSONValue(parsing: try await program.run("status", "--json").output)
        #expect(document["gates"]?[0]?["state"] == "open")
        let opened = try await program.run("status", "--no-attach")
        #expect(opened.status == 0 && !opened.output.contains("reported by"))

        child.signal(15)
        #expect(try await child.finish().status == 0)
        #expect(try await program.run("status", "--attach").status == 1, "the socket is gone")
    }

    @Test func `a host that was killed leaves a socket that the next one replaces`() async throws {
        let workspace = try workspace()
        let first = try await run(in: workspace)
        first.signal(9)
        _ = try await first.finish()
        #expect(try await workspace.program.run("status", "--attach").status == 1)
        let second = try await run(in: workspace)
        second.signal(15)
        #expect(try await second.finish().status == 0)
    }

    @Test func `a host whose socket was removed makes another one, and says so`() async throws {
        let workspace = try workspace()
        let child = try await run(in: workspace)
        #expect(shell("rm '\(workspace.path)/state/control'") == 0)
        await child.error(until: "the socket of the API was removed, and is there again")
        #expect(try await workspace.program.run("status", "--attach").status == 0)
        child.signal(15)
        #expect(try await child.finish().status == 0)
    }

    @Test func `a host whose socket another one has takes it as soon as that one has ended`() async throws {
        let workspace = try workspace()
        try #require(shell("mkdir -m 700 '\(workspace.path)/state'") == 0)
        // As if this process listened.
        let lock = unsafe open("\(workspace.path)/state/control.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
        let child = try workspace.program.start(["run", "--json"])
        await child.error(until: "other commands cannot reach this host")
        #expect(try await workspace.program.run("status", "--attach").status == 1)
        close(lock)
        let log = await child.error(until: "serving the API")
        #expect(!log.contains("other commands cannot reach this host"), "\(log)")
        #expect(try await workspace.program.run("status", "--attach").status == 0)
        child.signal(15)
        #expect(try await child.finish().status == 0)
    }

    @Test func `a host on another file with the same state directory is not asked`() async throws {
        let workspace = try workspace()
        let child = try await run(in: workspace)
        #expect(shell("cp '\(workspace.path)/connectors.json' '\(workspace.path)/other.json'") == 0)
        let other = try await workspace.program.run("status", "--config", "other.json", "--attach")
        #expect(other.status == 1 && other.error.contains("no host runs on other.json"))
        child.signal(15)
        #expect(try await child.finish().status == 0)
    }

    @Test func `a host whose file has another state by now is asked, and the plan says that it must restart`()
        async throws
    {
        let workspace = try workspace()
        var program = workspace.program
        program.environment["XDG_STATE_HOME"] = "\(workspace.path)/home"
        let child = try program.start(["run", "--json"])
        while try await program.run("status", "--attach", "--json").status != 0 {}
        let file = try JSONValue(parsing: readFile(at: "\(workspace.path)/connectors.json"))
        var object = try #require(file.object)
        object["state"] = "other"
        try workspace.write(JSONValue.object(object).serialized(), to: "connectors.json")

        let plan = try await program.run("plan")
        #expect(plan.status == 3 && plan.output.contains("state: cannot change while the host runs"), "\(plan)")
        let status = try await program.run("status", "--attach")
        #expect(status.status == 0 && status.output.contains("reported by process \(child.identifier)"), "\(status)")
        let reload = try await program.run("reload")
        #expect(reload.status == 1 && !reload.error.contains("no host runs"), "\(reload)")

        let second = try program.start(["run", "--json"])
        let log = await second.error(until: "stop one of them")
        #expect(log.contains("another host runs on the same file"), "\(log)")
        for host in [second, child] {
            host.signal(15)
            #expect(try await host.finish().status == 0)
        }
        #expect(shell("find '\(workspace.path)/home' -name '*.work' | grep -q .") != 0)
    }

    @Test func `a host without a name is found after its file's link was replaced, and while the file is missing`()
        async throws
    {
        let workspace = try Workspace()
        var program = workspace.program
        program.environment["HOME"] = workspace.path
        func write(_ version: String, timeout: String) throws {
            let gate: JSONValue = [
                "name": "gate", "plugin": .string(FixturePlugins.good("sync")), "probe": "off",
                "timeout": .string(timeout),
            ]
            let file: JSONValue = ["version": 1, "connectors": [gate]]
            try workspace.write(file.serialized(), to: "mount/\(version)/connectors.json")
        }
        func run(_ script: String) -> Int32 { shell("cd '\(workspace.path)/mount' && \(script)") }
        try write("..1", timeout: "1s")
        #expect(run("ln -s ..1 ..data && ln -s ..data/connectors.json connectors.json") == 0)
        let file = ["--config", "mount/connectors.json"]
        let child = try program.start(["run", "--json"] + file)
        while try await program.start(["status", "--attach", "--json"] + file).finish().status != 0 {}

        try write("..2", timeout: "2s")
        #expect(run("ln -s ..2 next && mv -T next ..data && rm -r ..1") == 0)
        let plan = try await program.start(["plan"] + file).finish()
        #expect(plan.status == 3, "\(plan)")
        let reload = try await program.start(["reload"] + file).finish()
        #expect(reload.status == 0, "\(reload)")
        for script in ["true", "rm connectors.json", "cd .. && mv mount away"] {
            #expect(run(script) == 0)
            let status = try await program.start(["status", "--attach"] + file).finish()
            #expect(status.status == 0 && status.output.contains("by process \(child.identifier)"), "\(status)")
            let operations = try await program.start(["operations", "--attach"] + file).finish()
            #expect(operations.status == 0, "\(operations)")
        }
        child.signal(15)
        #expect(try await child.finish().status == 0)
        let folders = "'\(workspace.path)'/.local/state/connector-host/*.file"
        #expect(shell("test $(ls -d \(folders) | wc -l) = 1") == 0)
    }

    @Test func `a running host serves what Prometheus and an orchestrator ask for`() async throws {
        try #require(shell("command -v curl > /dev/null") == 0, "curl is needed")
        let workspace = try workspace()
        let child = try await run(in: workspace)
        func ask(_ path: String) -> Int32 {
            shell(
                "curl -sf --unix-socket '\(workspace.path)/state/control' http://localhost\(path) > '\(workspace.path)/answer'"
            )
        }
        for path in ["/livez", "/readyz", "/metrics", "/api/v1/openapi.json"] { #expect(ask(path) == 0, "\(path)") }
        // The last of them describes the others, and an article lists them.
        let paths = try #require(JSONValue(parsing: readFile(at: "\(workspace.path)/answer"))["paths"]?.object?.members)
        let served = paths.flatMap { path in
            path.value.object?.names.map { "\($0.uppercased()) \(path.name)" } ?? []
        }
        let listed = try readFile("Sources/ConnectorHost/ConnectorHost.docc/Observing.md")
            .matches(of: #/`((?:GET|POST) /[a-z0-9/.{}]*)/#).map { String($0.output.1) }
        #expect(served.sorted() == Set(listed).sorted() && served.count > 20)
        #expect(ask("/api/v2") != 0)
        #expect(
            ask("/metrics") == 0
                && shell(
                    "grep -q '^connector_gate_ready{connector_path=\"gate\",connector_required=\"true\"} 1$' '\(workspace.path)/answer'"
                ) == 0
        )
        child.signal(15)
        #expect(try await child.finish().status == 0)
    }

    @Test func `without a name and a state, other programs reach the socket by the path that the log has`() async throws
    {
        try #require(shell("command -v curl > /dev/null") == 0, "curl is needed")
        let workspace = try Workspace()
        try workspace.configure([["name": "gate", "plugin": .string(FixturePlugins.good("sync")), "probe": "off"]])
        var program = workspace.program
        program.environment["HOME"] = workspace.path
        let child = try program.start(["run", "--json"])
        let log = await child.error(until: "/control\n")
        let path = try #require(log.split(separator: "socket=").last?.prefix { $0 != "\n" })
        #expect(path.hasPrefix("\(workspace.path)/.local/state/connector-host/"), "\(log)")
        #expect(shell("curl -sf --unix-socket '\(path)' http://localhost/livez > /dev/null") == 0, "\(path)")
        child.signal(15)
        #expect(try await child.finish().status == 0)
    }

    @Test func `a simulated host answers commands with --simulate, and takes plans and reloads if no other host runs`()
        async throws
    {
        let workspace = try workspace()
        let program = workspace.program
        let missing = try await program.run("status", "--simulate", "--attach")
        #expect(missing.status == 1 && missing.error.contains("no simulated host runs on connectors.json"))
        let simulated = try program.start(["run", "--simulate", "--json"])
        while try await program.run("status", "--simulate", "--attach", "--json").status != 0 {}
        let asked = try await program.run("status", "--simulate")
        #expect(asked.output.contains("reported by process \(simulated.identifier)"))
        let divided = try await program.run("call", "gate", "divide", "6", "3", "--simulate", "--attach")
        #expect(divided.output == "2.0\n" || divided.output == "2\n", "\(divided)")
        // A command without --simulate means the real vendors.
        #expect(!(try await program.run("status").output.contains("reported by")))
        let other = try await program.run("status", "--attach")
        #expect(other.status == 1 && other.error.contains("only a simulated host runs on connectors.json"))
        let own = try await program.run("status", "--simulate", "--attach", "--answers", "gate=answers.json")
        #expect(own.status == 64)

        #expect(try await program.run("plan").status == 0)
        try change(workspace, to: "2s")
        #expect(try await program.run("plan").status == 3)
        let applied = try await program.run("apply")
        #expect(applied.status == 0 && applied.output.contains("active: 1 changed, 0 kept"), "\(applied)")
        // With a real host beside the simulated one, a reload goes to the real one.
        let real = try await run(in: workspace)
        try change(workspace, to: "3s")
        #expect(try await program.run("reload").status == 0)
        #expect(try await program.run("plan").status == 0)
        real.signal(15)
        #expect(try await real.finish().status == 0)
        #expect(try await program.run("plan").status == 3, "the simulated host has not taken up the last change")
        simulated.signal(15)
        #expect(try await simulated.finish().status == 0)
        #expect(try await program.run("plan").status == 1)
    }

    /// The commands of the README, while calls are made all the time.
    @Test func `a vendor is replaced under load by a plan that is applied as it was shown`() async throws {
        let workspace = try Workspace()
        func configure(_ order: [String], agent: String, settings: JSONObject = [:]) throws {
            let configs: [String: JSONValue] = [
                "photon": ["endpoint": "https://photon.komoot.io"],
                "nominatim": ["endpoint": "https://nominatim.openstreetmap.org", "userAgent": .string(agent)],
            ]
            let leaves = order.map { name -> JSONValue in
                var leaf: JSONObject = [
                    "name": .string(name), "plugin": .string("\(Program.buildDirectory)/lib\(name).so"),
                    "config": configs[name] ?? [:],
                ]
                for member in settings.members { leaf[member.name] = member.value }
                return .object(leaf)
            }
            let geocoder: JSONValue = ["name": "geocoder", "policy": "first", "connectors": .array(leaves)]
            let file: JSONValue = ["version": 1, "state": "state", "connectors": [geocoder]]
            try workspace.write(file.serialized(), to: "connectors.json")
        }
        let program = workspace.program
        try configure(["nominatim"], agent: "first/1.0 (ada@example.com)")
        let host = try program.start(["run", "--simulate", "--json"])
        while try await program.run("status", "--simulate", "--attach", "--json").status != 0 {}
        let load = Task {
            var count = 0
            while !Task.isCancelled {
                let query = ["geocode", "query=Berlin", "limit=1", "--simulate", "--attach"]
                let called = try await program.start(["call", "geocoder"] + query).finish()
                try #require(called.status == 0 && called.output.contains("Berlin"), "\(called)")
                count += 1
            }
            return count
        }
        for (order, agent) in [(["photon", "nominatim"], "first"), (["nominatim"], "second"), (["photon"], "second")] {
            try configure(order, agent: "\(agent)/1.0 (ada@example.com)")
            let plan = try await program.run("plan", "--json")
            #expect(plan.status == 3, "\(plan)")
            try workspace.write(plan.output, to: "plan.json")
            let applied = try await program.run("apply", "plan.json")
            #expect(applied.status == 0 && applied.output.contains("✓ active"), "\(applied)")
            #expect(try await program.run("plan").status == 0)
        }
        // A vendor that does not open changes nothing, and no call notices.
        try workspace.write("{", to: "nothing.json")
        try configure(["nominatim"], agent: "third", settings: ["simulate": "nothing.json"])
        let refused = try await program.run("reload")
        #expect(refused.status == 1 && refused.output.contains("geocoder/nominatim"), "\(refused)")
        load.cancel()
        #expect(try await load.value > 0)
        host.signal(15)
        #expect(try await host.finish().status == 0)
    }

    /// Gives the gate another timeout.
    private func change(_ workspace: Workspace, to timeout: String) throws {
        let file: JSONValue = [
            "version": 1, "state": "state",
            "connectors": [
                [
                    "name": "gate", "plugin": .string(FixturePlugins.good("sync")), "probe": "off",
                    "timeout": .string(timeout),
                ]
            ],
        ]
        try workspace.write(file.serialized(), to: "connectors.json")
    }
}
