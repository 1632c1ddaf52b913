// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Testing

    /// What a sandbox would have refused, as settings.
    @Suite struct LearningTests {
        private static func learn(_ arguments: String...) throws -> (text: Substring?, act: Int32?) {
            let output: SandboxedProcess.Output =
                switch arguments.count {
                case 1: try SandboxedProcess("--learn", arguments[0]).finish()
                case 2: try SandboxedProcess("--learn", arguments[0], arguments[1]).finish()
                default:
                    try SandboxedProcess(arguments[0], arguments[1], "--learn", arguments[2], arguments[3]).finish()
                }
            return (output.lines.last { $0.hasPrefix("\"sandbox\"") || $0.hasPrefix("no setting") }, output.act)
        }

        @Test func `a file that is read, one that is written, and a socket are learned, and happen`() throws {
            #expect(try Self.learn("read", "/etc/passwd") == ("\"sandbox\": {\"read\": [\"/etc/passwd\"]}", 0))
            #expect(try Self.learn("socket", "2") == ("\"sandbox\": {\"network\": true}", 0))
            let written = try Self.learn("write", "/tmp/learned-by-a-test")
            #expect(written == ("\"sandbox\": {\"write\": [\"/tmp\"]}", 0))
            #expect(try Self.learn("remove", "/tmp/learned-by-a-test").text == "\"sandbox\": {\"write\": [\"/tmp\"]}")
        }

        @Test func `what the settings say already stays, and is not learned again`() throws {
            #expect(try Self.learn("--read", "/etc", "read", "/etc/passwd").text == nil)
            let text = try Self.learn("--read", "/srv", "read", "/etc/passwd").text
            #expect(text == "\"sandbox\": {\"read\": [\"/srv\", \"/etc/passwd\"]}")
        }

        @Test func `what no setting allows is named`() throws {
            #expect(
                try Self.learn("shm").text
                    == "no setting of the sandbox allows shmget: it shares memory or messages by number"
            )
            #expect(
                try Self.learn("spawn", "/bin/true").text
                    == "no setting of the sandbox allows execve: it starts a process"
            )
        }

        @Test func `nothing is learned from what every plugin may do`() throws {
            #expect(try Self.learn("thread") == (nil, 0))
            #expect(try Self.learn("read", "/etc/ld.so.cache") == (nil, 0))
            #expect(try Self.learn("read", "/proc/self/stat") == (nil, 0))
        }
    }
#endif
