// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorTestSupport
    import Glibc
    import Testing

    /// What hostile code tries, in C, as a child process: with and without namespaces.
    @Suite struct HostileActTests {
        @Test(arguments: [false, true])
        func `every attempt of the sandbox's proof is refused`(inNamespaces: Bool) throws {
            let output = try SandboxedProcess("prove", inNamespaces: inNamespaces).finish()
            #expect(output.end == .exit(0))
            let attempts = output.lines.filter { $0.contains(": ") }
            #expect(attempts.count == 18)
            #expect(attempts.filter { $0.hasSuffix(": 0") } == [])
        }

        /// Root gives up its identity. Another user keeps it, and maps it in a namespace of users.
        @Test(.enabled(if: geteuid() == 0, "only root can become another user"), arguments: [false, true])
        func `every attempt is refused where the host is not root`(inNamespaces: Bool) throws {
            // Another user may not be able to enter the directory of the build.
            let directory = try SandboxLayerTests.directory()
            defer { SandboxLayerTests.remove(directory) }
            let program = "\(directory)/sandboxed"
            try #require(GuardedProcess.run(["/bin/cp", Fixtures.tool("sandboxed"), program]))
            let user = ["--reuid", "65533", "--regid", "65533", "--clear-groups", program]
            let options = SandboxedProcess.options(inNamespaces: inNamespaces)
            let output = try SandboxedProcess(
                "/usr/bin/setpriv",
                user + options + ["prove"],
                hasSuccessor: inNamespaces
            )
            .finish()
            #expect(output.end == .exit(0))
            #expect(output.layer("identity") == "1 65533 0 ")
            if inNamespaces { #expect(output.layer("namespaces") == "1 0 0 ") }
            let attempts = output.lines.filter { $0.contains(": ") }
            #expect(attempts.count == 18)
            #expect(attempts.filter { $0.hasSuffix(": 0") } == [])
        }

        /// Otherwise a refusal would prove nothing. Nothing stops root; other users may not load programs into the kernel anyway.
        @Test(.enabled(if: geteuid() == 0, "needs root")) func `outside the sandbox the same attempts are possible`()
            throws
        {
            let output = try SandboxedProcess("--outside", "prove").finish()
            let refused = output.lines.filter { $0.contains(": ") && !$0.hasSuffix(": 0") }
            #expect(refused == [])
        }

        @Test(
            arguments: [
                ("exec", "/bin/true"), ("spawn", "/bin/true"), ("fork", ""), ("ptrace", ""), ("shm", ""),
                ("unshare", ""),
                ("signal-host", ""), ("signal-group", ""), ("signal-all", ""), ("signal-thread-of-host", ""),
                ("signal-by-owner", ""), ("nice-host", ""), ("limits-of-host", ""), ("dumpable", ""), ("outlive", ""),
                ("memfd", ""), ("send", "/dev/log"), ("in-flight", ""), ("inotify", ""), ("grows-down", "1"),
            ],
            [false, true]
        )
        func `calls that reach beyond the process are refused`(
            act: (name: String, argument: String),
            inNamespaces: Bool
        ) throws {
            #expect(try SandboxedProcess(act.name, act.argument, inNamespaces: inNamespaces).finish().act == EPERM)
        }

        @Test func `sockets of every family are refused`() throws {
            for family in 1..<46 {
                #expect(try SandboxedProcess("socket", "\(family)").finish().act == EPERM, "family \(family)")
            }
        }

        @Test func `with the network, only internet and netlink sockets are allowed`() throws {
            for family in [AF_INET, AF_INET6, AF_NETLINK] {
                let act = try SandboxedProcess("--network", "socket", "\(family)").finish().act
                #expect(act != EPERM, "family \(family)")
            }
            for family in [AF_UNIX, AF_PACKET, 38, 40] {
                #expect(
                    try SandboxedProcess("--network", "socket", "\(family)").finish().act == EPERM,
                    "family \(family)"
                )
            }
        }

        @Test func `with the network, the other namespaces hold`() throws {
            let output = try SandboxedProcess("--network", "read", "/etc/nsswitch.conf", inNamespaces: true).finish()
            #expect(output.act == 0)
            #expect(output.layer("namespaces") == "1 0 0 ")
        }

        @Test(arguments: ["environ", "mem", "maps", "root", "cwd", "fd/0"], [false, true])
        func `nothing about the host can be read in proc`(name: String, inNamespaces: Bool) throws {
            let act = try SandboxedProcess("of-host", name, inNamespaces: inNamespaces).finish().act
            #expect(act == (inNamespaces ? ENOENT : EACCES))
        }

        @Test func `calls that are newer than the table do not exist`() throws {
            // setxattrat to file_setattr, some that no kernel has, clone3, openat2, and one of x32.
            for number in [463, 466, 469, 500, 1000, 435, 437, 0x4000_0000] {
                #expect(try SandboxedProcess("call", "\(number)").finish().act == ENOSYS, "call \(number)")
            }
        }

        @Test func `io_uring and calls that read other processes are refused`() throws {
            for number in [425, 426, 427, 434, 438, 440, 424] {
                #expect(try SandboxedProcess("call", "\(number)").finish().act == EPERM, "call \(number)")
            }
        }

        @Test func `memory beyond the bound cannot be allocated, private or shared`() throws {
            let bound = "\(64 << 20)"
            #expect(try SandboxedProcess("--memory", bound, "memory", "32").finish().act == 0)
            #expect(try SandboxedProcess("--memory", bound, "memory", "4096").finish().act == ENOMEM)
            #expect(try SandboxedProcess("--memory", bound, "shared-memory", "4096").finish().act == EPERM)
        }

        @Test func `a thread bomb ends at the bound`() throws {
            let output = try SandboxedProcess("--threads", "8", "threads", "1000", inNamespaces: true).finish()
            #expect(output.act == EAGAIN)
            #expect(output.layer("limits") == "1 0 0 ")
        }

        @Test func `a descriptor bomb ends at the bound`() throws {
            #expect(try SandboxedProcess("descriptors", "100000").finish().act == EMFILE)
        }

        /// The kernel counts those of a user, and the sender's limit counts: others have at least the usual one, 1024.
        @Test func `with the network, descriptors in flight end where others of the user still send`() throws {
            let output = try SandboxedProcess("--network", "in-flight").finish()
            #expect(output.act == ETOOMANYREFS)
            let count = try #require(output.value("in flight: "))
            #expect((1...1024).contains(count))
        }

        @Test func `with the network, a socket that is closed in the host does not linger`() throws {
            #expect(try SandboxedProcess("--network", "linger").finish().act == EPERM)
        }
    }
#endif
