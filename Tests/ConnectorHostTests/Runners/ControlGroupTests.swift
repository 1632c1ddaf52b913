// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorBase
    import ConnectorHost
    import ConnectorTestSupport
    import Glibc
    import Testing

    @testable import ConnectorIsolation
    @testable import ConnectorPlatform

    /// Bounds that the kernel keeps by control groups. Where none are delegated, a directory stands in for one.
    @Suite(.timeLimit(.minutes(2)), .serialized) struct ControlGroupTests {
        /// A directory with the files of a group, removed with the value.
        private final class Directory {
            private let directory: ConnectorPlatform.TemporaryDirectory

            var path: String { directory.path }

            init(controllers: String = "cpu io memory", given: String = "cpu memory") throws {
                directory = try ConnectorPlatform.TemporaryDirectory("connector-group")
                try ControlGroups.put(controllers, into: "\(path)/cgroup.controllers")
                try ControlGroups.put(given, into: "\(path)/cgroup.subtree_control")
            }

            deinit { directory.remove() }
        }

        private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

        private static func make(_ path: String) -> Bool { unsafe mkdir(path, 0o755) == 0 }

        private static func text(_ path: String) -> String? {
            (try? SystemFile.bytes(of: path, limit: 4096)).map { String(decoding: $0, as: UTF8.self) }
        }

        @Test func `a group has the bounds of its runner`() throws {
            let root = try Directory()
            let groups = try ControlGroups(root: root.path)
            #expect(groups.controllers == [.memory, .cpu])
            let group = try groups.make()
            try group.bound(memory: 64 << 20)
            try group.bound(cpu: 0.5)
            try group.add(4711)
            let files = [
                ("memory.max", "67108864"), ("memory.swap.max", "0"), ("memory.oom.group", "1"),
                ("cpu.max", "50000 100000"), ("cgroup.procs", "4711"),
            ]
            for (file, text) in files { #expect(Self.text("\(group.path)/\(file)") == text) }
            #expect(group.outOfMemoryKills == 0)
            try ControlGroups.put("low 0\noom 3\noom_kill 2\n", into: "\(group.path)/memory.events")
            #expect(group.outOfMemoryKills == 2)
            for (file, _) in files { unsafe unlink("\(group.path)/\(file)") }
            #expect(!group.remove())
            unsafe unlink("\(group.path)/memory.events")
            #expect(group.remove() && !Self.exists(group.path))
        }

        @Test func `a group left by an earlier process with the same number is not used again`() throws {
            let root = try Directory()
            let groups = try ControlGroups(root: root.path)
            let first = try groups.make()
            let number = try #require(first.path.split(separator: "-").last.flatMap { Int($0) })
            let left = (1...8).map { "\(root.path)/connector-runner-\(getpid())-\(number + $0)" }
            for path in left { #expect(Self.make(path)) }
            #expect(!left.contains(try groups.make().path))
        }

        @Test func `a directory that is no control group, or can bound nothing, is refused and named`() throws {
            let nowhere = #expect(throws: ConnectorError.self) { try ControlGroups(root: "/nowhere") }
            #expect(try #require(nowhere).message == "/nowhere is not a control group")
            let root = try Directory(controllers: "hugetlb memory", given: "")
            let nothing = try #require(#expect(throws: ConnectorError.self) { try ControlGroups(root: root.path) })
            #expect(nothing.message.contains("can bound neither memory nor processor time") && nothing.fix != nil)
            // It has asked for the controllers that the group has.
            #expect(Self.text("\(root.path)/cgroup.subtree_control") == "+memory")
        }

        @Test func `groups that a dead host left are removed, and those of others are not`() throws {
            let root = try Directory()
            let child = try SleepingProcess()
            let (dead, alive) = (
                "\(root.path)/connector-runner-\(child.ended())-7", "\(root.path)/connector-runner-\(getppid())-7"
            )
            let own = try ControlGroups(root: root.path).make().path
            for path in [dead, alive, "\(root.path)/other"] { #expect(Self.make(path)) }
            _ = try ControlGroups(root: root.path)
            #expect(!Self.exists(dead))
            for path in [alive, own, "\(root.path)/other"] { #expect(Self.exists(path), "\(path)") }
        }

        @Test(.enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
        func `without control groups memory is bounded for the process, and processor time is not bounded`()
            async throws
        {
            let runner = try Self.runner(SandboxSettings(memory: 64 << 20, cpu: 2), ControlGroupSource("/nowhere"))
            #expect(runner.evidence.contains("; memory 67.1 MB by RLIMIT_DATA (/nowhere is not a control group)"))
            #expect(runner.evidence.hasSuffix("; cpu is not bounded (/nowhere is not a control group)"))
            #expect(!runner.isSandboxWhole)
            #expect(runner.hold())
            runner.release()
            await runner.ended.wait()
        }

        @Test(.enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
        func `the end of a runner that the kernel killed for its memory says so, with the limit`() async throws {
            let root = try Directory()
            let runner = try Self.runner(SandboxSettings(memory: 64 << 20), ControlGroupSource(root.path))
            #expect(runner.evidence.contains("; memory 67.1 MB by cgroup"))
            let client = EndingClient()
            _ = try #require(runner.add(client))
            let group = try ConnectorPlatform.Directory.entries(of: root.path).first {
                $0.name.hasPrefix("connector-runner-")
            }
            let path = "\(root.path)/\(try #require(group).name)"
            let process = try #require(Self.text("\(path)/cgroup.procs").flatMap { pid_t($0) })
            try ControlGroups.put("low 0\noom 1\noom_kill 1\n", into: "\(path)/memory.events")
            kill(process, SIGKILL)
            let end = await client.end.wait()
            #expect(end.signal == SIGKILL)
            #expect(end.description == "it was ended by the kernel: out of memory, the limit is 67.1 MB")
            await runner.ended.wait()
        }

        /// The life of a real group: its version 2 is mounted on most systems, and need not bound anything.
        @Test(.enabled(if: Self.mount != nil, "there is no cgroup v2 that this process may write"))
        func `a group with a process cannot be removed, and one without a process can`() throws {
            let group = ControlGroup(path: "\(try #require(Self.mount))/connector-test-\(getpid())")
            #expect(Self.make(group.path))
            let child = try SleepingProcess()
            try group.add(child.identifier)
            #expect(Self.text("\(group.path)/cgroup.procs") == "\(child.identifier)\n")
            #expect(!group.remove())
            _ = child.ended()
            #expect(group.remove())
        }

        @Test(.enabled(if: Self.isDelegated, "no control group that bounds memory is delegated to this process"))
        func `the kernel accepts the bounds of a real group`() throws {
            let group = try ControlGroups.find(nil).make()
            try group.bound(memory: 64 << 20)
            #expect(Self.text("\(group.path)/memory.max") == "67108864\n")
            #expect(group.remove())
        }

        private static let isDelegated = (try? ControlGroups.find(nil))?.controllers.contains(.memory) ?? false

        private static let mount: String? = {
            guard let mounts = try? SystemFile.bytes(of: "/proc/self/mounts", limit: 64 << 10) else { return nil }
            for line in String(decoding: mounts, as: UTF8.self).split(separator: "\n") {
                let fields = line.split(separator: " ")
                guard fields.count > 2, fields[2] == "cgroup2" else { continue }
                let path = String(fields[1])
                if unsafe access(path, W_OK) == 0 { return path }
            }
            return nil
        }()

        private static func runner(_ sandbox: SandboxSettings, _ groups: ControlGroupSource) throws -> Runner {
            let program = try RunnerProgram.find(
                path: nil,
                environment: { _ in nil },
                directory: ConnectorHost.Options.executableDirectory
            )
            return try Runner("test", RunnerSpawner.shared.begin(program, sandbox), groups: groups) { _, _ in }
        }
    }

    /// Learns how a runner ends.
    private final class EndingClient: RunnerClient {
        let path = "gate"
        let end = OneShot<RunnerEnd>()

        func receive(_ frame: consuming Frame) {}
        func runnerIsLost(_ end: RunnerEnd) {}
        func runnerEnded(_ end: RunnerEnd, taken: UInt64?) { self.end.send(end) }
    }

    /// A child that waits until it is killed.
    private struct SleepingProcess {
        let identifier: pid_t

        init() throws {
            var identifier: pid_t = 0
            let status = unsafe withStrings(["/bin/sleep", "1000"]) { words in
                unsafe posix_spawn(&identifier, "/bin/sleep", nil, nil, words, environ)
            }
            try #require(status == 0)
            self.identifier = identifier
        }

        /// Kills it, awaits its end, and gives the number that it had.
        func ended() -> pid_t {
            kill(identifier, SIGKILL)
            var status: Int32 = 0
            while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            return identifier
        }
    }
#endif
