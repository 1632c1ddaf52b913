// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import CSandbox
    import ConnectorTestSupport
    import Glibc
    import Testing

    /// What a sandbox would have refused, as settings.
    @Suite struct LearningTests {
        /// Everything that was learned, line by line.
        private static func lines(_ arguments: [String]) throws -> [Substring] {
            lessons(try SandboxedProcess(["--learn"] + arguments).finish().lines)
        }

        /// The last thing that was learned, and the outcome of what was done.
        private static func learn(_ arguments: String...) throws -> (text: Substring?, act: Int32?) {
            try learn(arguments)
        }

        private static func learn(_ arguments: [String]) throws -> (text: Substring?, act: Int32?) {
            let output = try SandboxedProcess(["--learn"] + arguments).finish()
            return (lessons(output.lines).last, output.act)
        }

        private static func lessons(_ lines: [Substring]) -> [Substring] {
            lines.filter { $0.hasPrefix("learned: ") }.map { $0.dropFirst("learned: ".count) }
        }

        /// A directory with the directories `a` and `b`, and `a/file`.
        private static func directory() throws -> String {
            var template = Array("/tmp/learning-XXXXXX".utf8CString)
            try #require(unsafe mkdtemp(&template) != nil)
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            for name in ["a", "b"] { try #require(unsafe mkdir(path + "/" + name, 0o700) == 0) }
            _ = try SandboxedProcess("--outside", "write", path + "/a/file").finish()
            return path
        }

        private static func remove(_ path: String) { _ = GuardedProcess.run(["/bin/rm", "-r", path]) }

        @Test func `reading, writing and opening a socket are learned, and also take place`() throws {
            #expect(try Self.learn("read", "/etc/passwd") == ("\"sandbox\": {\"read\": [\"/etc/passwd\"]}", 0))
            #expect(try Self.learn("socket", "2") == ("\"sandbox\": {\"network\": true}", 0))
            let written = try Self.learn("write", "/tmp/learned-by-a-test")
            #expect(written == ("\"sandbox\": {\"write\": [\"/tmp\"]}", 0))
            #expect(try Self.learn("remove", "/tmp/learned-by-a-test").text == "\"sandbox\": {\"write\": [\"/tmp\"]}")
        }

        @Test func `paths that the settings already have stay, and are not learned again`() throws {
            #expect(try Self.learn("--read", "/etc", "read", "/etc/passwd").text == nil)
            #expect(try Self.learn("--read", "/etc/", "read", "/etc/passwd").text == nil)
            let text = try Self.learn("--read", "/srv", "read", "/etc/passwd").text
            #expect(text == "\"sandbox\": {\"read\": [\"/srv\", \"/etc/passwd\"]}")
        }

        @Test func `a path that is written outside those of the settings is learned, too`() throws {
            let path = try Self.directory()
            defer { Self.remove(path) }
            let lines = try Self.lines(["--write", path + "/a", "perform", "mkdirat", "-100", path + "/b/c", "0"])
            #expect(lines == ["\"sandbox\": {\"write\": [\"\(path)/a\", \"\(path)/b\"]}"])
        }

        @Test func `a call that no setting allows is named`() throws {
            #expect(
                try Self.learn("shm").text
                    == "no setting of the sandbox allows shmget: it shares memory or messages by number"
            )
            #expect(
                try Self.learn("spawn", "/bin/true").text
                    == "no setting of the sandbox allows execve: it starts a process"
            )
            #expect(
                try Self.learn("memfd").text
                    == "no setting of the sandbox allows memfd_create: it makes memory that is not bounded"
            )
        }

        @Test func `a call that only some settings allow is named with them`() throws {
            let watching = "the sandbox allows inotify_init1 only if there is a path under \"read\" or \"write\""
            #expect(try Self.lines(["inotify", "then", "inotify"]) == [watching[...]])
            for option in ["--read", "--write"] { #expect(try Self.lines([option, "/srv", "inotify"]) == []) }
            let sending = ["perform", "sendmsg", "1", "0", "0"]
            #expect(try Self.lines(sending) == ["the sandbox allows sendmsg only with \"network\""])
            for act in [sending, ["linger"]] { #expect(try Self.lines(["--network"] + act) == []) }
        }

        @Test func `nothing is learned from what every plugin may do`() throws {
            #expect(try Self.learn("thread") == (nil, 0))
            #expect(try Self.learn("read", "/etc/ld.so.cache") == (nil, 0))
            #expect(try Self.learn("read", "/proc/self/stat") == (nil, 0))
        }

        @Test func `learning does not wait for a thread that holds a lock of the linker`() throws {
            let learned = try Self.learn("read-in-linker", "/etc/passwd")
            #expect(learned == ("\"sandbox\": {\"read\": [\"/etc/passwd\"]}", 0))
        }

        @Test func `nothing is learned from what a started process does`() throws {
            let lines = try Self.lines(["spawn", "/bin/ls"])
            #expect(lines.contains { $0.hasSuffix("execve: it starts a process") })
            #expect(!lines.contains { $0.hasPrefix("\"sandbox\"") })
        }

        @Test func `writing below proc is never learned, and is reported once`() throws {
            #expect(try Self.lines(["write", "/proc/thread-self/comm"]) == [])
            let write = ["write", "/proc/self/oom_score_adj"]
            let said = ["no setting of the sandbox allows writing below /proc"] as [Substring]
            #expect(try Self.lines(write + ["then"] + write) == said)
            let path = try Self.directory()
            defer { Self.remove(path) }
            // A pipe that is already open is not below /proc.
            let file = ["perform", "fchmodat", "fd:\(path)/a/file", "/proc/self/fd/1", "0600"]
            #expect(try !Self.lines(file).contains { $0.contains("/proc") })
            #expect(try Self.lines(["write", "/proc/self/fd/1"]) == [])
        }

        @Test func `devices are never learned`() throws {
            #expect(
                try Self.lines(["write", "/dev/null", "then", "write", "/dev/zero"])
                    == ["the sandbox allows writing /dev/null only if there is a path under \"write\""]
            )
            #expect(try Self.lines(["--write", "/srv", "write", "/dev/null"]) == [])
            #expect(
                try Self.lines(["read", "/dev/tty", "then", "write", "/dev/tty", "then", "list", "/dev"])
                    == ["no setting of the sandbox allows devices but /dev/null, zero, full, random and urandom"]
            )
        }

        @Test func `socket families are learned as the network, or named once`() throws {
            let lines = try Self.lines(["socket", "1", "then", "socket", "1", "then", "socket", "38"])
            let said = ["AF_UNIX", "AF_ALG"].map { "no setting of the sandbox allows a socket of \($0)" as Substring }
            #expect(lines == said)
            #expect(try Self.lines(["--network", "socket", "1"]) == Array(said.prefix(1)))
            #expect(try Self.lines(["socket", "16"]) == ["\"sandbox\": {\"network\": true}"])
            #expect(try Self.lines(["--network", "socket", "16"]) == [])
        }

        @Test func `with the network, files with host names need no setting of their own`() throws {
            let lines = try Self.lines(["read", "/etc/hosts", "then", "socket", "2", "then", "read", "/etc/hosts"])
            #expect(lines == ["\"sandbox\": {\"read\": [\"/etc/hosts\"]}", "\"sandbox\": {\"network\": true}"])
        }

        /// Calls that write, with `A` and `B` for directories, and those of the two that are learned.
        static let writing: [(call: String, learned: String)] = [
            ("creat A/x 0600", "A"), ("truncate A/file 0", "A"), ("ftruncate fd:A/file 0", "A"),
            ("fallocate fd:A/file 0 0 1", "A"), ("chmod A/file 0600", "A"), ("fchmod fd:A/file 0600", "A"),
            ("fchmodat -100 A/file 0600", "A"), ("fchmodat fd:A file 0600", "A"), ("fchmodat2 fd:A file 0600 0", "A"),
            ("utime A/file 0", "A"), ("utimes A/file 0", "A"), ("utimensat fd:A file 0 0", "A"),
            ("utimensat fd:A/file 0 0 0", "A"), ("futimesat fd:A file 0", "A"), ("setxattr A/file user.x y 1 0", "A"),
            ("lsetxattr A/file user.x y 1 0", "A"), ("fsetxattr fd:A/file user.x y 1 0", "A"),
            ("removexattr A/file user.x", "A"), ("lremovexattr A/file user.x", "A"),
            ("fremovexattr fd:A/file user.x", "A"), ("mkdir A/x 0700", "A"), ("mkdirat fd:A x 0700", "A"),
            ("rmdir A/x", "A"), ("unlink A/x", "A"), ("unlinkat fd:A x 0", "A"), ("unlinkat -100 B/.././/a/x 0", "A"),
            ("symlink /etc/passwd B/x", "B"), ("symlinkat A/file fd:B x", "B"), ("symlinkat /etc/passwd -100 B/x", "B"),
            ("rename A/file B/x", "A B"), ("renameat fd:A file fd:B x", "A B"), ("link A/file B/x", "A B"),
            ("renameat2 fd:A file -100 B/x 0", "A B"), ("linkat -100 A/file fd:B x 0", "A B"),
            ("openat fd:A x 0x41 0600", "A"),
            // A text of one character serves as a struct open_how, whose flags are the character's number: O_WRONLY and O_CREAT.
            ("openat2 fd:A x A 24", "A"),
        ]

        @Test(arguments: writing) func `a call that writes is learned by every path it has`(
            call: String,
            learned: String
        ) throws {
            let path = try Self.directory()
            defer { Self.remove(path) }
            let places = ["A": path + "/a", "B": path + "/b"]
            let words = call.split(separator: " ").map { word in
                word == "A" ? "A" : word.map { places[String($0)] ?? String($0) }.joined()
            }
            let learning = try Self.learn(["perform"] + words)
            // Older calls do not exist on arm64.
            guard learning.act != -1 else { return }
            let names = learned.split(separator: " ").map { "\"\(path)/\($0.lowercased())\"" }
            #expect(learning.text == "\"sandbox\": {\"write\": [\(names.joined(separator: ", "))]}")
        }

        @Test func `a directory that is made where it is already there is learned, and not the one around it`() throws {
            let path = try Self.directory()
            defer { Self.remove(path) }
            let written = ["\"sandbox\": {\"write\": [\"\(path)/a\"]}"] as [Substring]
            #expect(try Self.lines(["perform", "mkdirat", "-100", path + "/a", "0700"]) == written)
            let make = ["perform", "mkdir", path + "/a", "0700", "then"]
            #expect(try Self.lines(make + ["write", path + "/a/file"]) == written)
            #expect(try Self.lines(make + ["perform", "mkdirat", "-100", path + "/a/x", "0700"]) == written)
        }

        @Test func `a disk that is asked about is learned, and what always may be read is not`() throws {
            let path = try Self.directory()
            defer { Self.remove(path) }
            let learned = try Self.learn("perform", "statfs", path + "/a", "status")
            #expect(learned == ("\"sandbox\": {\"read\": [\"\(path)/a\"]}", 0))
            let root = ["/ is not learned: whoever may read it may read everything"] as [Substring]
            #expect(try Self.lines(["perform", "statfs", "/", "status"]) == root)
            for place in ["/proc", "/usr/lib", path + "/nowhere"] {
                #expect(try Self.lines(["perform", "statfs", place, "status"]) == [], "\(place)")
            }
        }

        @Test(arguments: [SandboxFilterTests.x86, SandboxFilterTests.arm])
        func `the list of writing calls is complete`(architecture: Int32) {
            let without = SandboxFilterTests.Program(architecture)
            let with = SandboxFilterTests.Program(architecture, writes: true)
            for number in 0..<Int32(512) where without.verdict(number) != with.verdict(number) {
                let name = unsafe sandbox_call_name(architecture, number).map { unsafe String(cString: $0) } ?? ""
                #expect(Self.writing.contains { $0.call.hasPrefix(name + " ") }, "\(name)")
            }
        }

        @Test func `a directory replaces the paths below it`() throws {
            let path = try Self.directory()
            defer { Self.remove(path) }
            let file = path + "/a/file"
            #expect(
                try Self.lines(["read", file, "then", "list", path + "/a", "then", "write", path + "/x"])
                    == [file, path + "/a"].map { "\"sandbox\": {\"read\": [\"\($0)\"]}" }
                    + ["\"sandbox\": {\"write\": [\"\(path)\"]}"]
            )
            // A directory can be named, whatever its name is.
            #expect(try Self.learn("perform", "mkdirat", "-100", path + "/b/\"", "0700").act == 0)
            #expect(try Self.lines(["list", path + "/b/\""]) == ["\"sandbox\": {\"read\": [\"\(path)/b\"]}"])
            let everything = ["/ is not learned: whoever may read it may read everything"] as [Substring]
            #expect(try Self.lines(["list", "/"]) == everything)
        }

        @Test func `it is said once that no more paths can be learned`() throws {
            let path = try Self.directory()
            defer { Self.remove(path) }
            let names = (0..<66).map { "\(path)/b/\($0)" }
            for name in names { try #require(unsafe mkdir(name, 0o700) == 0) }
            let acts = Array(names.map { ["list", $0] }.joined(separator: ["then"]))
            let lines = try Self.lines(acts + ["then", "list", path + "/b"])
            let full = "no more than 64 paths are learned under \"read\": name a directory above them" as Substring
            #expect(lines.count == 66)
            #expect(lines.dropLast().last == full)
            #expect(lines.last == "\"sandbox\": {\"read\": [\"\(path)/b\"]}")
        }
    }
#endif
