// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorTestSupport
    import Glibc
    import Testing

    @testable import ConnectorPlatform

    /// A process whose sandbox asks its parent about what it refuses.
    @Suite struct SandboxRefusalTests {
        @Test(
            arguments: [
                ("exec", "/bin/true", EPERM, SandboxRefusal(call: "execve", reason: "starts a process")),
                ("write", "/tmp/x", EACCES, SandboxRefusal(call: "openat", reason: "writes files", setting: "write")),
                ("socket", "2", EPERM, SandboxRefusal(call: "socket", reason: "reaches others", setting: "network")),
                // No setting allows Unix sockets.
                ("socket", "1", EPERM, SandboxRefusal(call: "socket", reason: "reaches others")),
                ("inotify", "", EPERM, SandboxRefusal(call: "inotify_init1", reason: "watches files", setting: "read")),
                ("sockets", "100", EPERM, SandboxRefusal(call: "socket", reason: "reaches others", setting: "network")),
                (
                    "signal-host", "", EPERM,
                    SandboxRefusal(call: "kill", reason: "has an argument that reaches further")
                ),
            ] as [(String, String, Int32, SandboxRefusal)]
        )
        func `a refused call fails as it does without a parent that is asked, which learns of it once`(
            act: String,
            argument: String,
            error: Int32,
            refusal: SandboxRefusal
        ) throws {
            let output = try SandboxedProcess(reporting: act, argument).finishRefusing()
            #expect(output.act == error)
            #expect(output.refusals == [refusal])
            #expect(output.layer("filter") == "1 2 0 ")
        }

        @Test func `what is allowed, and what does not exist, is not asked about`() throws {
            let output = try SandboxedProcess(reporting: "thread", "then", "call", "463", "then", "call", "435")
                .finishRefusing()
            #expect(output.lines.filter { $0.hasPrefix("act: ") } == ["act: 0", "act: \(ENOSYS)", "act: \(ENOSYS)"])
            #expect(output.refusals == [])
        }

        @Test func `every attempt of the sandbox's proof is refused by the parent`() throws {
            let output = try SandboxedProcess(reporting: "prove").finishRefusing()
            let attempts = output.lines.filter { $0.contains(": ") }
            #expect(attempts.count == 18)
            #expect(attempts.filter { $0.hasSuffix(": 0") } == [])
            #expect(output.refusals.contains { $0.call == "socket" } && output.refusals.contains { $0.call == "bpf" })
        }

        @Test func `nothing is allowed where the parent has closed the listener`() throws {
            let acts = ["socket", "2", "then", "write", "/tmp/x", "then", "exec", "/bin/true", "then", "listener"]
            let process = try SandboxedProcess(reporting: acts)
            let output = process.finishRefusing(closesAtOnce: true)
            let found = output.lines.filter { $0.hasPrefix("act: ") }
            #expect(found == ["act: \(ENOSYS)", "act: \(ENOSYS)", "act: \(ENOSYS)", "act: \(EPERM)"])
        }

        /// Whoever has a listener may allow calls.
        @Test func `a plugin cannot make a listener of its own, not even while it is loaded`() throws {
            #expect(try SandboxedProcess("--broad", "listener").finish().act == EPERM)
            #expect(try SandboxedProcess(reporting: "--broad", "listener").finishRefusing().act == EPERM)
            let closed = try SandboxedProcess(reporting: "--broad", "listener").finishRefusing(closesAtOnce: true)
            #expect([EPERM, ENOSYS].contains(try #require(closed.act)))
        }

        @Test func `where no filter can ask, the calls are refused, and the parent is told why`() throws {
            let output = try SandboxedProcess(reporting: "--without", "listener", "socket", "2").finishRefusing()
            #expect(output.act == EPERM)
            #expect(output.unreported == EINVAL)
            #expect(output.layer("filter") == "1 2 0 ")
        }

        @Test func `where there is no filter, nothing is said about what it refuses`() throws {
            let output = try SandboxedProcess(reporting: "--without", "seccomp", "nothing").finishRefusing()
            #expect(output.act == 0)
            #expect(output.unreported == nil)
        }

        @Test func `where there are no namespaces, the process itself sends the listener`() throws {
            let output = try SandboxedProcess(reporting: "--without", "namespaces", "socket", "2").finishRefusing()
            #expect(output.act == EPERM)
            #expect(output.refusals.map(\.call) == ["socket"])
        }
    }
#endif
