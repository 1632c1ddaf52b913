// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorManifest
    import ConnectorTestSupport
    import Glibc
    import Testing

    @testable import ConnectorHost
    @testable import ConnectorIsolation
    @testable import ConnectorPlatform

    /// A hostile plugin in a runner: what it tries is refused, the host is unharmed, and the report says what holds.
    @Suite(.timeLimit(.minutes(5)), .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
    struct RunnerSandboxTests {
        static func opened(_ sandbox: String, plugin: String = "hostile") async throws -> TestHost {
            let settings = #""probe": "off", "isolation": "process", "sandbox": \#(sandbox)"#
            let test = try TestHost(TestHost.leaf("gate", plugin: plugin, settings: settings))
            let report = await test.host.open()
            #expect(report.isReady, "\(report["gate"]?.error?.description ?? "")")
            return test
        }

        static func act(_ test: TestHost, _ name: String, _ argument: String = "") async throws -> Int32? {
            let arguments: JSONObject = [
                "name": .string(name), "argument": .string(argument), "host": .integer(Int64(getpid())),
            ]
            return try await test.call("gate", "act", arguments).integer.map(Int32.init)
        }

        @Test func `the report says what the sandbox enforces`() async throws {
            let test = try await Self.opened(#""default""#)
            let sandbox = try #require(test.host.report["gate"]?.sandbox)
            #expect(sandbox.hasPrefix("sandbox: filter, "))
            #expect(test.host.report["gate"]?.confinement == .whole, "\(sandbox)")
            #expect(!sandbox.contains("possible"))
            #expect(test.host.report.json["gates"]?.array?.first?["sandbox"]?.string == sandbox)
            await test.host.close()
        }

        @Test func `constructors run inside the sandbox`() async throws {
            let test = try await Self.opened(#""default""#)
            #expect(try await test.call("gate", "constructed").integer == 0)
            await test.host.close()
            let open = try await Self.opened(#""off""#)
            #expect(try await open.call("gate", "constructed").integer == 7)
            #expect(open.host.report["gate"]?.sandbox == "sandbox: off")
            #expect(open.host.report["gate"]?.confinement == GateReport.Confinement.none)
            await open.host.close()
        }

        @Test func `what a hostile plugin tries is refused, and the gate goes on`() async throws {
            let test = try await Self.opened(#""default""#)
            for (name, argument) in [
                ("exec", "/bin/true"), ("spawn", "/bin/true"), ("fork", ""), ("ptrace", ""), ("shm", ""),
                ("unshare", ""),
                ("signal-host", ""), ("signal-group", ""), ("signal-all", ""), ("send", "/dev/log"), ("dumpable", ""),
                ("outlive", ""), ("memfd", ""), ("call", "425"), ("nice-host", ""), ("in-flight", ""), ("inotify", ""),
                ("grows-down", "1"),
            ] {
                #expect(try await Self.act(test, name, argument) == EPERM, "\(name) \(argument)")
            }
            for family in 1..<46 {
                #expect(try await Self.act(test, "socket", "\(family)") == EPERM, "family \(family)")
            }
            for name in ["environ", "mem", "maps"] {
                let act = try await Self.act(test, "of-host", name)
                #expect(act == ENOENT || act == EACCES, "\(name)")
            }
            #expect(try await Self.act(test, "call", "463") == ENOSYS)
            #expect([EACCES, ENOENT].contains(try await Self.act(test, "read", "/etc/passwd")))
            #expect(try await Self.act(test, "write", "/tmp/x") == EACCES)
            #expect(test.host.report["gate"]?.state == .open)
            await test.host.close()
        }

        @Test func `the smallest memory limit is enough for a plugin that does little`() async throws {
            for plugin in [Fixtures.contract("hostile"), try BuiltProducts.library("settings-file")] {
                let settings = #""probe": "off", "isolation": "process", "sandbox": {"memory": 16777216}"#
                let test = try TestHost(TestHost.leaf("gate", plugin: plugin, settings: settings))
                let report = await test.host.open()
                #expect(report.isReady, "\(report["gate"]?.error?.description ?? "")")
                await test.host.close()
            }
        }

        @Test func `bombs of memory, threads and descriptors stay in the runner`() async throws {
            let before = try #require(ProcessMemory.privateBytes(of: getpid()))
            let test = try await Self.opened(#"{"memory": 134217728, "threads": 32}"#)
            #expect(try await Self.act(test, "memory", "4096") == ENOMEM)
            await test.host.close()
            let other = try await Self.opened(#"{"threads": 32}"#)
            #expect(try await Self.act(other, "descriptors", "100000") == EMFILE)
            if other.host.report["gate"]?.sandbox?.contains("no namespaces") == false {
                #expect(try await Self.act(other, "threads", "1000") == EAGAIN)
            }
            let after = try #require(ProcessMemory.privateBytes(of: getpid()))
            // Half of what the runner may take: the tests before this one may still be letting go of memory, or taking it.
            #expect(after - before < 64 << 20, "the host has grown by \(after - before) bytes")
            await other.host.close()
        }

        @Test func `a file that is named can be read, and another one cannot`() async throws {
            let test = try await Self.opened(#"{"read": ["/etc/passwd"]}"#)
            #expect(try await Self.act(test, "read", "/etc/passwd") == 0)
            #expect([EACCES, ENOENT].contains(try await Self.act(test, "read", "/etc/group")))
            await test.host.close()
        }

        @Test func `a plugin that may read everything sees none of the host's processes`() async throws {
            let test = try await Self.opened(#"{"read": ["/"]}"#)
            #expect(try await Self.act(test, "read", "/etc/passwd") == 0)
            #expect(try await Self.act(test, "read", "/proc/self/cmdline") == 0)
            if test.host.report["gate"]?.sandbox?.contains("no namespaces") == false {
                #expect(try await Self.act(test, "read", "/proc/\(getpid())/cmdline") == ENOENT)
            }
            await test.host.close()
        }

        @Test func `a sandbox that is required and does not hold fails the gate, and says why`() async throws {
            let settings =
                #""probe": "off", "isolation": "process", "sandbox": {"level": "required", "read": ["/nowhere"]}"#
            let test = try TestHost(TestHost.leaf("gate", plugin: "hostile", settings: settings))
            let report = await test.host.open()
            let error = try #require(report["gate"]?.error)
            #expect(report["gate"]?.state == .failed)
            #expect(error.message.contains("left out, since it cannot be opened: /nowhere"), "\(error)")
            await test.host.close()
        }

        /// Layers that a system lacks, and how the report names what is missing.
        private static let absences = [
            ("namespaces", "; no namespaces (the kernel refuses them: Operation not permitted)"),
            ("landlock", "; no landlock (the kernel has none: Function not implemented)"),
            ("landlock6", "; this ABI knows nothing of signals and abstract sockets"),
            ("seccomp", "; no filter (the kernel refuses it: Operation not permitted)"),
            ("seccomp", "make a socket, send to a socket by its name"),
            geteuid() == 0
                ? ("identity", "; no identity (root stays root: Operation not permitted)")
                : ("capabilities", "; no identity (capabilities stay: Operation not permitted)"),
            ("limits", "; no limits (a limit cannot be set: Operation not permitted)"),
            ("descriptors limits", "; no descriptors (descriptors cannot be closed: Operation not permitted)"),
        ]

        /// Writes a program that runs runners as on a system that lacks layers of the sandbox, and returns its path.
        static func runner(without layers: String, in directory: ScratchDirectory) throws -> String {
            let program = try RunnerProgram.find(
                path: nil,
                environment: { _ in nil },
                directory: ConnectorHost.Options.executableDirectory
            )
            let script = """
                #!/bin/sh
                exec '\(Fixtures.build)/tools/refusing' \(layers) -- '\(program.path)' "$@"
                """
            return try directory.write("runner", script, mode: 0o755)
        }

        @Test(arguments: absences)
        func `where a layer is missing, the gate opens and says what and why, unless the sandbox is required`(
            _ layers: String,
            _ fault: String
        ) async throws {
            let directory = ScratchDirectory()
            defer { directory.remove() }
            let path = try Self.runner(without: layers, in: directory)
            func opened(_ level: String) async throws -> GateReport {
                let settings = #""probe": "off", "isolation": "process", "sandbox": {"level": "\#(level)"}"#
                let test = try TestHost(
                    TestHost.leaf("gate", plugin: "values", settings: settings),
                    environment: [RunnerProgram.variable: path]
                )
                let report = await test.host.open()
                await test.host.close()
                return try #require(report["gate"])
            }
            let gate = try await opened("default")
            #expect(gate.state == .open, "\(gate.error?.description ?? "")")
            #expect(gate.sandbox?.contains(fault) == true, "\(gate.sandbox ?? "")")
            #expect(gate.confinement == .partial)
            let error = try #require(try await opened("required").error)
            #expect(error.code == .unsupported && error.message.contains(fault), "\(error)")
            #expect(error.fix == #"run the host where it does, or write "level": "default" in its "sandbox""#)
        }

        @Test func `a path that is not there is left out, and the rest of the sandbox holds`() async throws {
            let test = try await Self.opened(#"{"read": ["/nowhere", "/etc/passwd"]}"#)
            let gate = try #require(test.host.report["gate"])
            #expect(
                gate.sandbox?.contains("; left out, since it cannot be opened: /nowhere; ") == true,
                "\(gate.sandbox ?? "")"
            )
            #expect(gate.confinement == .partial)
            #expect(try await Self.act(test, "read", "/etc/passwd") == 0)
            #expect([EACCES, ENOENT].contains(try await Self.act(test, "read", "/etc/group")))
            await test.host.close()
        }

        @Test func `a bound on processor time that is required and cannot be kept fails the gate`() async throws {
            let settings =
                #""probe": "off", "isolation": "process", "sandbox": {"level": "required", "cpu": 0.5}"#
            let test = try TestHost(
                TestHost.leaf("gate", plugin: "hostile", settings: settings),
                environment: ["CONNECTOR_CGROUP": "/nowhere"]
            )
            let error = try #require(await test.host.open()["gate"]?.error)
            #expect(error.message.contains("cpu is not bounded (/nowhere is not a control group)"), "\(error)")
            await test.host.close()
        }

        /// The first one that opens narrows the sandbox for all.
        @Test func `plugins that share a runner load in its sandbox, one after another`() async throws {
            let common = #""probe": "off", "isolation": "process", "runner": "mine""#
            let test = try TestHost(
                TestHost.leaf("first", plugin: "crashes", settings: common),
                TestHost.leaf("second", plugin: "hostile", settings: common + #", "after": ["first"]"#)
            )
            let report = await test.host.open()
            #expect(report.isReady, "\(report["second"]?.error?.description ?? "")")
            #expect(test.host.dependencies.runners.runners.count == 1)
            #expect(try await test.call("second", "constructed").integer == 0)
            await test.host.close()
        }

        /// The kernel drops a descriptor for which there is no room: no later one may be taken for it.
        @Test func `a runner that has no room for a descriptor of the host ends, and says so`() async throws {
            let common = #""probe": "off", "isolation": "process", "runner": "mine""#
            let test = try TestHost(
                TestHost.leaf("gate", plugin: "hostile", settings: common),
                TestHost.leaf("second", plugin: "crashes", settings: common)
            )
            #expect(await test.host.open().isReady)
            try await test.host.close("second")
            #expect(try await Self.act(test, "descriptors", "100000") == EMFILE)
            let error = try #require(try await test.host.open("second")["second"]?.error)
            #expect(error.message.contains("it has used up its descriptors"), "\(error)")
            await test.host.close()
        }

        @Test func `connectors of one plugin with different sandboxes share no runner`() async throws {
            let common = #""probe": "off", "isolation": "process""#
            let test = try TestHost(
                TestHost.leaf("first", plugin: "crashes", settings: common),
                TestHost.leaf(
                    "second",
                    plugin: "crashes",
                    settings: common + #", "sandbox": {"read": ["/etc/passwd"]}"#
                ),
                TestHost.leaf("third", plugin: "crashes", settings: common)
            )
            _ = await test.host.open()
            #expect(test.host.dependencies.runners.runners.count == 2)
            await test.host.close()
        }
    }
#endif
