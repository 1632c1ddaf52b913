// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorManifest
    import Glibc
    import Testing

    /// What the commands say where the system refuses what they need, and what they make of the state in which they are started.
    @Suite(.timeLimit(.minutes(5))) struct RestrictedSystemTests {
        /// Runs the program where the kernel refuses a call, by a name in `absent.h`.
        private func lacking(
            _ layer: String,
            _ arguments: String...,
            in workspace: Workspace
        ) async throws -> Program.Result {
            try await start(lacking: layer, arguments, in: workspace).finish()
        }

        private func start(lacking layer: String, _ arguments: [String], in workspace: Workspace) throws -> Child {
            let words = [layer, "--", Program.path] + arguments
            return try Child(start: FixturePlugins.tool("refusing"), words, workspace.program)
        }

        /// Runs the program as one of a process that ignores the ends of its children.
        private func ignoringChildren(_ arguments: String..., in workspace: Workspace) async throws -> Program.Result {
            let words = ["--ignore-signal=CHLD", Program.path] + arguments
            return try await Child(start: "/usr/bin/env", words, workspace.program).finish()
        }

        /// A directory with one gate in a runner, which may kill itself: without a sandbox, it is not the first process of a namespace.
        private func isolated(_ plugin: String) throws -> Workspace {
            let workspace = try Workspace()
            try workspace.configure([
                [
                    "name": "gate", "plugin": .string(plugin), "probe": "off", "isolation": "process",
                    "sandbox": "off",
                ]
            ])
            return workspace
        }

        // MARK: Ends of children

        @Test func `a command that fails prints no secret, even if the program was started with SIGCHLD ignored`()
            async throws
        {
            let workspace = try Workspace()
            try workspace.write("#!/bin/sh\necho sealed\nexit 3\n", to: "key")
            shell("chmod +x '\(workspace.path)/key'")
            try workspace.configure([
                [
                    "name": "segment", "plugin": .string("\(Program.buildDirectory)/libsegment.so"),
                    "config": ["writeKey": ["secret": ["exec": ["./key"]]]],
                ]
            ])
            let result = try await ignoringChildren("status", in: workspace)
            #expect(result.status == 2 && "\(result)".contains("ended with status 3"), "\(result)")
        }

        @Test func `the end of a runner is known, even if the program was started with SIGCHLD ignored`() async throws {
            let workspace = try isolated(FixturePlugins.contract("crashes"))
            let result = try await ignoringChildren("call", "gate", "crash", "kill", in: workspace)
            #expect(result.status == 1 && result.error.contains("it was ended by SIGKILL"), "\(result)")
        }

        @Test func `the end of a runner that the system does not tell is not known`() async throws {
            let workspace = try isolated(FixturePlugins.contract("crashes"))
            let result = try await lacking("waits", "call", "gate", "crash", "kill", in: workspace)
            let text = "how it ended is not known (Operation not permitted)"
            #expect(result.status == 1 && result.error.contains(text), "\(result)")
        }

        // MARK: What the system refuses

        @Test(arguments: [
            ("memory-files", "permit memfd_create(2)"), ("messages", "permit sendmsg(2)"),
            ("threads", "permit clone3(2)"),
        ])
        func `a call that a container refuses is named, with what to permit`(layer: String, fix: String) async throws {
            let workspace = try isolated(FixturePlugins.good("sync"))
            let result = try await lacking(layer, "status", in: workspace)
            #expect(result.status == 1 && "\(result)".contains(fix), "\(result)")
            #expect("\(result)".contains("Operation not permitted"), "\(result)")
        }

        @Test func `where nothing can be learned about a sandbox, a command that learns fails and says why`()
            async throws
        {
            let workspace = try isolated(FixturePlugins.good("sync"))
            let result = try await lacking("seccomp", "status", "--learn", in: workspace)
            #expect(result.status == 1, "\(result)")
            #expect(
                result.error.hasSuffix("gate: nothing can be learned: Operation not permitted\n"),
                "\(result.error)"
            )
        }

        @Test func `a host that learns, and could not, fails when it is stopped`() async throws {
            let workspace = try isolated(FixturePlugins.good("sync"))
            let host = try start(lacking: "seccomp", ["run", "--learn"], in: workspace)
            while try await workspace.program.run("status", "--attach", "--json").status != 0 {}
            host.signal(SIGTERM)
            let result = try await host.finish()
            #expect(result.status == 1, "\(result)")
            #expect(result.error.contains("gate: nothing can be learned: Operation not permitted\n"), "\(result)")
        }

        @Test func `what the program makes is for its user to use, whatever the umask`() async throws {
            let workspace = try Workspace()
            let gate: JSONValue = [
                "name": "segment", "plugin": .string("\(Program.buildDirectory)/libsegment.so"),
                "config": ["writeKey": "key"],
            ]
            let file: JSONValue = ["version": 1, "state": "state", "connectors": [gate]]
            try workspace.write(file.serialized(), to: "connectors.json")
            let words = ["-c", #"umask 0777; exec "$0" send segment track event=Seen userId=u1"#, Program.path]
            let result = try await Child(start: "/bin/sh", words, workspace.program).finish()
            #expect(result.status == 0, "\(result)")
            for (name, mode) in [("state", 0o700), ("state/outbox.sqlite", 0o600)] as [(String, mode_t)] {
                var status = stat()
                #expect(unsafe lstat("\(workspace.path)/\(name)", &status) == 0)
                #expect(status.st_mode & 0o777 == mode, "\(name)")
            }
        }

        @Test func `a stack that is too small is an error, and not a crash`() async throws {
            let workspace = try Workspace()
            let words = ["-c", #"ulimit -s 128; exec "$0" status"#, Program.path]
            let result = try await Child(start: "/bin/sh", words, workspace.program).finish()
            #expect(result.status == 1, "\(result)")
            #expect(result.error.hasPrefix("error: connector-host needs a stack of 256 KiB: "), "\(result)")
        }
    }
#endif
