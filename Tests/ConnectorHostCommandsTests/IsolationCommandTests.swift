// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorManifest
    import ConnectorPlatform
    import Glibc
    import Testing

    /// Plugins that end their process, and what the commands make of it.
    @Suite(.timeLimit(.minutes(5))) struct IsolationCommandTests {
        private func program(_ plugin: String, _ settings: JSONObject) throws -> Program {
            let workspace = try Workspace()
            var connector: JSONObject = [
                "name": "bad", "plugin": .string(FixturePlugins.misbehaving(plugin)), "probe": "off",
            ]
            for member in settings.members { connector[member.name] = member.value }
            try workspace.configure([.object(connector)])
            var program = workspace.program
            program.environment["XDG_STATE_HOME"] = workspace.path + "/state"
            return program
        }

        @Test func `after a constructor has aborted the host, the second start opens the plugin in a runner`()
            async throws
        {
            let program = try program("aborts-in-host", ["isolation": "auto"])
            let first = try await program.run("status")
            #expect(first.status == 134, "\(first.output) \(first.error)")
            let second = try await program.run("status")
            #expect(second.status == 0, "\(second.output) \(second.error)")
            #expect(second.output.contains("(in a runner)") && second.output.contains("in a runner until "))
            #expect(second.output.contains("sandbox: filter"))
            let third = try JSONValue(parsing: try await program.run("status", "--json").output)
            let gate = try #require(third["gates"]?[0])
            #expect(gate["isolation"] == "process" && gate["state"] == "open")
            #expect(gate["promotion"]?["reason"]?.string?.contains("SIGABRT") == true, "\(gate)")
            #expect(gate["sandbox"]?.string?.hasPrefix("sandbox: filter") == true)
            #expect(third["runners"]?[0]?["connectors"] == ["bad"])
        }

        @Test func `after a call has crashed the host in a system library, its gate opens in a runner`() async throws {
            let workspace = try Workspace()
            try workspace.write(
                """
                {"manifest": 1, "id": "texts", "version": "1.0.0", "abi": [1, 1], "library": "libc.so.6",
                 "capabilities": {"texts/1": {"length": {"symbol": "strlen", "signature": "(text: handle?) -> u64"}}}}
                """,
                to: "texts.connector.json"
            )
            try workspace.configure([["name": "texts", "plugin": "./texts.connector.json", "isolation": "auto"]])
            var program = workspace.program
            program.environment["XDG_STATE_HOME"] = workspace.path + "/state"
            #expect(try await program.run("call", "texts", "length").status == 139)
            let status = try JSONValue(parsing: try await program.run("status", "--json").output)
            let gate = try #require(status["gates"]?[0])
            #expect(gate["isolation"] == "process" && gate["state"] == "open", "\(gate)")
            #expect(gate["promotion"]?["reason"]?.string?.contains("SIGSEGV") == true, "\(gate)")
        }

        /// Makes the kernel run no program from memory, in a PID namespace of its own, and then runs a program.
        private static let forbidding = #"echo 2 > /proc/sys/vm/memfd_noexec && exec "$0" "$@""#
        private static let namespaces = ["--user", "--map-root-user", "--pid", "--mount-proc", "--kill-child"]
        /// Whether this user may do that, and the kernel knows it.
        private static let mayForbid =
            shell("unshare \(namespaces.joined(separator: " ")) sh -c '\(forbidding)' true 2> /dev/null") == 0

        @Test(.enabled(if: mayForbid, "the kernel cannot forbid programs in memory here"))
        func `where the kernel runs no program from memory, a runner is followed by another one all the same`()
            async throws
        {
            let workspace = try Workspace()
            let file: JSONValue = [
                "version": 1, "state": "state", "plugins": [],
                "connectors": [
                    [
                        "name": "gate", "plugin": .string(FixturePlugins.contract("crashes")), "probe": "off",
                        "isolation": "process", "sandbox": "off",
                    ]
                ],
            ]
            try workspace.write(file.serialized(), to: "connectors.json")
            let arguments = Self.namespaces + ["sh", "-c", Self.forbidding, Program.path, "run", "--json"]
            let host = try Child(start: "/usr/bin/unshare", arguments, workspace.program)
            func runner() async throws -> JSONValue? {
                let status = try await workspace.program.run("status", "--attach", "--json")
                guard status.status == 0 else { return nil }
                return try JSONValue(parsing: status.output)["runners"]?[0]?["process"]
            }
            var first: JSONValue?
            while first == nil { first = try await runner() }
            #expect(try await workspace.program.run("call", "--attach", "gate", "crash", "kill").status != 0)
            var second = first
            while second == nil || second == first { second = try await runner() }
            // unshare blocks SIGTERM; its death ends the host.
            host.signal(SIGKILL)
            _ = try await host.finish()
        }

        @Test func `whatever a hostile plugin does in a runner, the host has less than 20 MB`() async throws {
            let workspace = try Workspace()
            let file: JSONValue = [
                "version": 1, "state": "state", "plugins": [],
                "connectors": [
                    [
                        "name": "gate", "plugin": .string(FixturePlugins.contract("hostile")), "probe": "off",
                        "isolation": "process", "sandbox": ["memory": 134_217_728, "threads": 32],
                    ]
                ],
            ]
            try workspace.write(file.serialized(), to: "connectors.json")
            let host = try workspace.program.start(["run", "--json"])
            while try await workspace.program.run("status", "--attach", "--json").status != 0 {}
            for (name, argument) in [
                ("exec", "/bin/true"), ("spawn", "/bin/true"), ("fork", "none"), ("ptrace", "none"),
                ("signal-host", "none"), ("socket", "2"), ("unshare", "none"), ("memfd", "none"),
                ("in-flight", "none"), ("write", "/tmp/x"), ("descriptors", "100000"), ("memory", "4096"),
            ] {
                let arguments = ["call", "--attach", "gate", "act", name, argument, "\(host.identifier)"]
                let act = try await workspace.program.start(arguments).finish()
                // The number of an error.
                let error = Int32(act.output.dropLast())
                #expect(act.status == 0 && error.map { $0 > 0 } == true, "\(name): \(act)")
            }
            let memory = try #require(ProcessMemory.privateBytes(of: host.identifier))
            #expect(memory < 20_000_000, "the host has \(memory) bytes")
            host.signal(SIGTERM)
            #expect(try await host.finish().status == 0)
        }

        @Test func `a plugin finds its directory only if its sandbox names it, and a failure says so`() async throws {
            let workspace = try Workspace()
            let owner = geteuid() == 0 ? "nobody" : "\(geteuid())"
            // The runner's user must be able to go there.
            #expect(shell("cd '\(workspace.path)' && chmod 755 . && mkdir -m 700 data && chown \(owner) data") == 0)
            func configure(_ settings: JSONObject) throws {
                var connector: JSONObject = [
                    "name": "database", "plugin": .string("\(Program.buildDirectory)/libsqlite.so"),
                    "isolation": "process", "config": ["file": "data/records.db"],
                ]
                for member in settings.members { connector[member.name] = member.value }
                try workspace.configure([.object(connector)])
            }
            try configure([:])
            let refused = try await workspace.program.run("status")
            #expect(refused.status == 1 && refused.output.contains("\"sandbox\""), "\(refused.output)")
            #expect(refused.output.contains("sandbox: filter"), "\(refused.output)")
            try configure(["sandbox": ["write": ["data"]]])
            let opened = try await workspace.program.run("status")
            // Without namespaces, a host that is root cannot show its own directory to the runner's user.
            let isAllowed = geteuid() != 0 || !opened.output.contains("no namespaces")
            #expect(opened.status == (isAllowed ? 0 : 1), "\(opened.output)")
        }

        @Test func `a plugin that behaves stays in the host`() async throws {
            let program = try program("opens-late", ["isolation": "auto"])
            for _ in 0..<2 {
                let gate = try JSONValue(parsing: try await program.run("status", "--json").output)["gates"]?[0]
                #expect(gate?["isolation"] == nil && gate?["promotion"] == nil)
            }
        }

        @Test func `a command learns the sandbox that a plugin needs`() async throws {
            let workspace = try Workspace()
            let plugin = JSONValue.string("\(FixturePlugins.build)/contract/libhostile.so")
            try workspace.configure([["name": "bad", "plugin": plugin, "probe": "off"]])
            let program = workspace.program
            let learned = try await program.run(
                "call",
                "bad",
                "act",
                "name=read",
                "argument=/etc/passwd",
                "host=0",
                "--learn"
            )
            #expect(learned.status == 0 && learned.output == "0\n", "\(learned.output) \(learned.error)")
            // Its constructor starts a program and makes a socket.
            #expect(learned.error.contains("bad: no setting of the sandbox allows execve: it starts a process\n"))
            let settings = #"bad: "sandbox": {"read":["/etc/passwd"],"network":true}"# + "\n"
            #expect(learned.error.hasSuffix(settings), "\(learned.error)")
            try workspace.configure([["name": "good", "plugin": .string(FixturePlugins.good("sync")), "probe": "off"]])
            let nothing = try await program.run("status", "--learn")
            #expect(nothing.output.contains("sandbox: learning"), "\(nothing.output)")
            #expect(
                nothing.error.hasSuffix("good: needs nothing that the default sandbox refuses\n"),
                "\(nothing.error)"
            )
            try workspace.configure([
                [
                    "name": "good", "plugin": .string(FixturePlugins.good("sync")), "probe": "off",
                    "isolation": "process", "sandbox": ["network": true],
                ]
            ])
            let allowed = try await program.run("status", "--learn")
            #expect(
                allowed.error.hasSuffix("good: needs nothing that its \"sandbox\" in the file refuses\n"),
                "\(allowed.error)"
            )
            let attached = try await program.run("status", "--learn", "--attach")
            #expect(attached.status == 64)
        }

        @Test func `inspect --probe opens a plugin in a runner that is thrown away`() async throws {
            let program = Program(directory: "/")
            let good = try await program.run("inspect", FixturePlugins.good("sync"), "--probe")
            #expect(good.status == 0, "\(good.output) \(good.error)")
            #expect(good.output.contains("opens in a runner (") && good.output.contains("sandbox: filter"))
            let bad = try await program.run(
                "inspect",
                FixturePlugins.misbehaving("crashes-in-constructor"),
                "--probe",
                "--json"
            )
            #expect(bad.status == 1)
            let shown = try await program.run(
                "inspect",
                FixturePlugins.misbehaving("crashes-in-constructor"),
                "--probe"
            )
            #expect(shown.output.hasSuffix("would not load here\n"), "\(shown.output)")
            let probe = try JSONValue(parsing: bad.output)["probe"]
            #expect(probe?["outcome"] == "fails" && probe?["error"]?["code"] == "crashed", "\(bad.output)")
            let refuses = try await program.run("inspect", FixturePlugins.misbehaving("refuses-to-open"), "--probe")
            #expect(refuses.status == 0, "\(refuses.output)")
            #expect(refuses.output.contains("loads in a runner, but does not open there"))
            // There is no connector whose settings could be changed.
            #expect(refuses.output.contains("the key was revoked"), "\(refuses.output)")
            #expect(!refuses.output.contains("the connector's"), "\(refuses.output)")
        }

        @Test func `a signal ends a probe, and removes its directory`() async throws {
            let workspace = try Workspace()
            var program = workspace.program
            program.environment["TMPDIR"] = workspace.path + "/tmp"
            shell("mkdir '\(workspace.path)/tmp'")
            let child = try program.start(["inspect", FixturePlugins.misbehaving("never-opens"), "--probe"])
            while shell("ls '\(workspace.path)/tmp' | grep -q connector-probe") != 0 { shell("sleep 0.05") }
            child.signal(15)
            #expect(try await child.finish().status == 143)
            #expect(shell("rmdir '\(workspace.path)/tmp'") == 0, "its directory is still there")
        }

        @Test func `plugins --probe opens each usable plugin`() async throws {
            let workspace = try Workspace()
            for image in [FixturePlugins.good("sync"), FixturePlugins.misbehaving("crashes-in-open")] {
                #expect(shell("cp '\(image)' '\(workspace.path)/'") == 0)
            }
            var program = workspace.program.alone
            program.environment["CONNECTOR_PLUGIN_PATH"] = workspace.path
            let result = try await program.run("plugins", "--probe", "--json")
            #expect(result.status == 1, "\(result.error)")
            let plugins = try #require(try JSONValue(parsing: result.output)["plugins"]?.array)
            func outcome(_ id: String) -> JSONValue? { plugins.first { $0["id"]?.string == id }?["probe"]?["outcome"] }
            #expect(outcome("sync") == "opens")
            #expect(outcome("crashes-in-open") == "fails")
        }
    }
#endif
