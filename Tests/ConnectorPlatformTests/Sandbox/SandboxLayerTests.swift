// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorPlatform
    import ConnectorTestSupport
    import Glibc
    import Testing

    /// What a sandbox lets through, what it says about its layers, and how its process ends.
    @Suite struct SandboxLayerTests {
        /// A directory that anybody may enter: the process in the sandbox is not root.
        static func directory() throws -> String {
            var template = Array("/tmp/sandbox-XXXXXX".utf8CString)
            let made = unsafe mkdtemp(&template) != nil
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let isOpen = unsafe chmod(path, 0o777) == 0
            #expect(made && isOpen)
            return path
        }

        static func remove(_ path: String) { _ = GuardedProcess.run(["/bin/rm", "-r", path]) }

        @Test(arguments: [false, true])
        func `only paths that are named can be read or written`(inNamespaces: Bool) throws {
            let named = try Self.directory(), other = try Self.directory()
            defer {
                Self.remove(named)
                Self.remove(other)
            }
            func act(_ option: String, _ act: String, _ path: String) throws -> Int32? {
                try SandboxedProcess(option, named, act, path, inNamespaces: inNamespaces).finish().act
            }
            #expect(try act("--write", "write", named + "/a") == 0)
            #expect(try act("--write", "read", named + "/a") == 0)
            #expect(try act("--read", "read", named + "/a") == 0)
            #expect(try act("--read", "write", named + "/a") == EACCES)
            #expect(try act("--read", "remove", named + "/a") == EACCES)
            #expect(try act("--write", "list", named) == 0)
            #expect([EACCES, ENOENT].contains(try act("--write", "list", other)))
            #expect([EACCES, ENOENT, EROFS].contains(try act("--write", "write", other + "/a")))
            #expect([EACCES, ENOENT].contains(try act("--write", "read", "/etc/passwd")))
            #expect(try act("--write", "remove", named + "/a") == 0)
        }

        @Test(arguments: [false, true])
        func `what the loader and Dispatch need can be read`(inNamespaces: Bool) throws {
            for path in ["/proc/self/stat", "/proc/self/maps", "/etc/ld.so.cache", "/dev/urandom"] {
                #expect(try SandboxedProcess("read", path, inNamespaces: inNamespaces).finish().act == 0, "\(path)")
            }
            #expect(try SandboxedProcess("list", "/usr/lib", inNamespaces: inNamespaces).finish().act == 0)
            #expect(try SandboxedProcess("thread", inNamespaces: inNamespaces).finish().act == 0)
        }

        @Test func `every layer is reported`() throws {
            let output = try SandboxedProcess("nothing", inNamespaces: true).finish()
            #expect(output.layer("filter") == "1 2 0 ")
            #expect(output.layer("landlock")?.hasPrefix("1 ") == true)
            #expect(output.layer("namespaces") == "1 0 0 ")
            #expect(output.layer("identity") == "1 \(geteuid() == 0 ? 65534 : geteuid()) 0 ")
            #expect(output.layer("limits") == "1 0 0 ")
            #expect(output.layer("descriptors") == "1 0 0 ")
        }

        @Test func `a container without namespaces is reported, and the rest holds`() throws {
            let output = try SandboxedProcess("--without", "namespaces", "prove", inNamespaces: true).finish()
            #expect(output.layer("namespaces") == "0 0 \(EPERM) the kernel refuses them")
            #expect(output.layer("landlock")?.hasPrefix("1 ") == true)
            #expect(output.lines.filter { $0.hasSuffix(": 0") } == [])
        }

        @Test func `a kernel without Landlock is reported, and namespaces hide the files`() throws {
            let output = try SandboxedProcess("--without", "landlock", "prove", inNamespaces: true).finish()
            #expect(output.layer("landlock") == "0 0 \(ENOSYS) the kernel has none")
            #expect(output.layer("namespaces") == "1 0 0 ")
            #expect(output.lines.filter { $0.hasSuffix(": 0") } == [])
        }

        @Test func `where Landlock supports less than its ABI promises, it steps down, and says what is missing`()
            throws
        {
            let system = try SandboxedProcess("nothing").finish()
            let fields = try #require(system.layer("landlock")).split(separator: " ")
            let version = try #require(Int(fields[1]))
            let output = try SandboxedProcess("--without", "landlock6", "prove").finish()
            let missing = "this ABI knows nothing of signals and abstract sockets"
            #expect(output.layer("landlock") == "1 \(min(version, 5)) 0 \(missing)")
            #expect(!output.lines.contains("open a file: 0") && !output.lines.contains("change a file: 0"))
        }

        @Test func `a kernel that takes no filter is reported, and the other layers refuse what they can`() throws {
            let output = try SandboxedProcess("--without", "seccomp", "prove", inNamespaces: true).finish()
            #expect(output.layer("filter") == "0 0 \(EPERM) the kernel refuses it")
            #expect(output.layer("landlock")?.hasPrefix("1 ") == true)
            #expect(output.layer("namespaces") == "1 0 0 ")
            let possible = output.lines.filter { $0.hasSuffix(": 0") }
            for attempt in ["make a socket", "run a program", "start a process"] {
                #expect(possible.contains("\(attempt): 0"))
            }
            for attempt in ["open a file", "make a file", "change a file", "signal the host", "trace the host"] {
                #expect(!possible.contains("\(attempt): 0"))
            }
        }

        @Test(.enabled(if: geteuid() == 0, "only root can stop being root"))
        func `a process that stays root is reported, and the rest holds`() throws {
            let output = try SandboxedProcess("--without", "identity", "prove", inNamespaces: true).finish()
            #expect(output.layer("identity") == "0 0 \(EPERM) root stays root")
            #expect(output.layer("filter") == "1 2 0 ")
            #expect(output.lines.filter { $0.hasSuffix(": 0") } == [])
        }

        @Test func `capabilities that stay are reported, and the rest holds`() throws {
            let output = try SandboxedProcess("--without", "capabilities", "prove", inNamespaces: true).finish()
            #expect(output.layer("identity") == "0 0 \(EPERM) capabilities stay")
            #expect(output.layer("filter") == "1 2 0 ")
            #expect(output.lines.filter { $0.hasSuffix(": 0") } == [])
        }

        @Test func `limits that cannot be set are reported, and the rest holds`() throws {
            let output = try SandboxedProcess("--without", "limits", "prove").finish()
            #expect(output.layer("limits") == "0 0 \(EPERM) a limit cannot be set")
            #expect(output.layer("descriptors") == "1 0 0 ")
            #expect(output.layer("filter") == "1 2 0 ")
        }

        /// Whether each number that a descriptor may have can be closed by itself.
        private static let hasFewDescriptors = (0..<2_000_000).contains(sysconf(Int32(_SC_OPEN_MAX)))

        @Test(.enabled(if: hasFewDescriptors, "each possible descriptor is closed by itself"))
        func `descriptors are closed one by one where no call closes a range, and reported if that fails, too`() throws
        {
            let output = try SandboxedProcess("--without", "descriptors", "is-open", "5").finish()
            #expect(output.layer("descriptors") == "1 0 0 " && output.act == EBADF)
            let other = try SandboxedProcess("--without", "descriptors", "--without", "limits", "nothing").finish()
            #expect(other.layer("descriptors") == "0 0 \(EPERM) descriptors cannot be closed")
        }

        @Test func `with the filter alone, the proof says what is possible`() throws {
            let output = try SandboxedProcess("--without", "landlock", "prove").finish()
            #expect(output.layer("filter") == "1 2 0 ")
            let possible = output.lines.filter { $0.hasSuffix(": 0") }
            // Also the host's files in /proc, if it runs as the same user.
            #expect(possible.first == "open a file: 0")
            #expect(possible.count == (geteuid() == 0 ? 1 : 3))
        }

        @Test func `a path that cannot be opened is left out and reported, and the layers hold`() throws {
            let named = try Self.directory()
            defer { Self.remove(named) }
            let paths = ["--write", "/nowhere/at/all", "--read", "/nor/there", "--write", named]
            let leftOut = ["/nor/there", "/nowhere/at/all"].map { "left out, since it cannot be opened: \($0)" }
            let inside = try SandboxedProcess(paths + ["write", named + "/a"], inNamespaces: true).finish()
            #expect(inside.act == 0)
            #expect(inside.layer("namespaces") == "1 0 0 " + leftOut.joined(separator: "; "))
            // Once.
            #expect(
                inside.layer("landlock")?.hasPrefix("1 ") == true && inside.layer("landlock")?.hasSuffix(" 0 ") == true
            )
            let outside = try SandboxedProcess(paths + ["write", named + "/b"]).finish()
            #expect(outside.act == 0)
            #expect(outside.layer("landlock")?.hasPrefix("1 ") == true)
            #expect(outside.layer("landlock")?.hasSuffix(leftOut.joined(separator: "; ")) == true)
            let proof = try SandboxedProcess(paths + ["prove"], inNamespaces: true).finish()
            #expect(proof.lines.filter { $0.hasSuffix(": 0") } == [])
        }

        @Test(arguments: [false, true])
        func `a path below one that may be written is not followed if it is a link, by whatever name it is reached`(
            inNamespaces: Bool
        ) throws {
            let written = try Self.directory(), other = try Self.directory(), links = try Self.directory()
            defer { for path in [written, other, links] { Self.remove(path) } }
            func output(_ options: [String], _ act: String, _ path: String) throws -> SandboxedProcess.Output {
                try SandboxedProcess(options + [act, path], inNamespaces: inNamespaces).finish()
            }
            #expect(try output(["--write", other], "write", other + "/a").act == 0)
            let name = try #require(other.split(separator: "/").last)
            let isMade = unsafe symlink("../\(name)", written + "/sub") == 0
            let hasAlias = unsafe symlink(written, links + "/written") == 0
            let hasLink = unsafe symlink(other, links + "/other") == 0
            #expect(isMade && hasAlias && hasLink)
            for sub in [written + "/sub", links + "/written/sub"] {
                let reading = try output(["--write", written, "--read", sub], "read", other + "/a")
                #expect([EACCES, ENOENT].contains(reading.act), "\(sub)")
                let leftOut = "left out, since it cannot be opened: \(sub)"
                let layer = try #require(reading.layer(inNamespaces ? "namespaces" : "landlock"))
                #expect(layer.contains(leftOut))
                let others = ["--others-write", written, "--read", sub]
                #expect([EACCES, ENOENT].contains(try output(others, "read", other + "/a").act), "\(sub)")
                let paths = ["--read", other, "--write", written, "--write", sub]
                #expect([EACCES, EROFS].contains(try output(paths, "write", other + "/b").act), "\(sub)")
            }
            // Nobody in a sandbox has made this one.
            let followed = ["--write", written, "--read", links + "/other"]
            #expect(try output(followed, "read", links + "/other/a").act == 0)
        }

        @Test(arguments: [false, true])
        func `a directory below one that may be written may be named, too`(inNamespaces: Bool) throws {
            let written = try Self.directory()
            defer { Self.remove(written) }
            let inner = written + "/inner"
            let isMade = unsafe mkdir(inner, 0o777) == 0
            let isOpen = unsafe chmod(inner, 0o777) == 0
            #expect(isMade && isOpen)
            for options in [["--read", inner, "--write", written], ["--write", inner, "--write", written]] {
                let output = try SandboxedProcess(
                    options + ["write", inner + "/a", "then", "read", inner + "/a"],
                    inNamespaces: inNamespaces
                ).finish()
                #expect(output.lines.filter { $0.hasPrefix("act: ") } == ["act: 0", "act: 0"])
                #expect(output.layer("landlock")?.contains("left out") == false)
                #expect(output.layer("namespaces")?.contains("left out") == false)
            }
        }

        @Test func `a bound on threads without a user namespace is reported`() throws {
            let output = try SandboxedProcess("--threads", "8", "nothing").finish()
            #expect(output.layer("limits") == "1 0 0 threads are unbounded without a user namespace")
        }

        @Test func `files are watched only if some path is named`() throws {
            #expect(try SandboxedProcess("inotify").finish().act == EPERM)
            #expect(try SandboxedProcess("--read", "/etc", "inotify").finish().act == 0)
            #expect(try SandboxedProcess("--write", "/srv", "inotify").finish().act == 0)
        }

        @Test func `all descriptors are closed except those that are kept`() throws {
            #expect(try SandboxedProcess("is-open", "5").finish().act == EBADF)
            #expect(try SandboxedProcess("--keep", "5", "is-open", "5").finish().act == 0)
            #expect(try SandboxedProcess("is-open", "1").finish().act == 0)
        }

        @Test func `loading needs more than the second stage leaves`() throws {
            // SECCOMP_GET_ACTION_AVAIL, without the action.
            #expect(try SandboxedProcess("--broad", "perform", "seccomp", "2", "0", "0").finish().act == EFAULT)
            #expect(try SandboxedProcess("perform", "seccomp", "2", "0", "0").finish().act == EPERM)
            #expect(try SandboxedProcess("--broad", "memfd").finish().act == EPERM)
        }

        @Test(arguments: [false, true])
        func `a process in the sandbox ends like any other`(inNamespaces: Bool) throws {
            #expect(try SandboxedProcess("exit", "7", inNamespaces: inNamespaces).finish().end == .exit(7))
            // The first process of a namespace is spared the signals that it sends itself, so `abort` goes on to a fault.
            let aborted = try SandboxedProcess("abort", inNamespaces: inNamespaces).finish().end
            #expect(aborted == .signal(inNamespaces ? SIGSEGV : SIGABRT))
            let process = try SandboxedProcess("hang", inNamespaces: inNamespaces)
            _ = process.line()
            kill(process.identifier, SIGKILL)
            #expect(process.finish().end == .signal(SIGKILL))
        }

        @Test func `no process is left over, and no descriptor`() throws {
            let before = try Self.descriptors()
            for _ in 0..<50 {
                _ = try SandboxedProcess("exit", "3", inNamespaces: true).finish()
                _ = try SandboxedProcess("abort").finish()
            }
            #expect(try Self.descriptors() == before)
            // Children of this process, dead or alive.
            #expect(unsafe system("! ps --ppid $PPID -o comm= | grep -q sandboxed") == 0)
        }

        private static func descriptors() throws -> Int {
            (0..<256).count { fcntl($0, F_GETFD) >= 0 }
        }
    }
#endif
