// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHost
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorIsolation
@testable import ConnectorLoading
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Which processes a pool starts, and that it ends those that nobody asks for.
@Suite(.timeLimit(.minutes(2)), .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
struct RunnerPoolTests {
    /// A pool, and how often it looked for the program: once for each process until one has answered.
    private struct Subject: ~Copyable {
        let pool: RunnerPool
        let starts: Starts

        final class Starts: Sendable {
            let count = Atomic<Int>(0)
        }

        init(limit: Int = 4) {
            let starts = Starts()
            self.starts = starts
            pool = RunnerPool(limit: limit) { () throws(ConnectorError) in
                starts.count.add(1, ordering: .relaxed)
                return try RunnerPoolTests.program()
            } onLine: { _, _ in
            }
        }

        var startCount: Int { starts.count.load(ordering: .relaxed) }
    }

    private static func program() throws(ConnectorError) -> RunnerProgram {
        try RunnerProgram.find(
            path: nil,
            environment: { _ in nil },
            directory: ConnectorHost.Options.executableDirectory
        )
    }

    private static func key(_ name: String) -> RunnerPool.Key {
        RunnerPool.Key(name, sandbox: SandboxSettings(level: .off))
    }

    @Test func `a process begun in advance becomes the runner, and others with its key share it`() throws {
        let subject = Subject()
        subject.pool.begin(Self.key("a"))
        subject.pool.begin(Self.key("a"))
        let first = try subject.pool.hold(Self.key("a"))
        subject.pool.begin(Self.key("a"))
        let second = try subject.pool.hold(Self.key("a"))
        #expect(first === second)
        #expect(subject.startCount == 1)
        // Whoever has the runner keeps it.
        subject.pool.abandon(Self.key("a"))
        #expect(first.isAlive)
        first.release()
        second.release()
        #expect(!first.isAlive)
    }

    #if os(Linux)
        /// In a process of its own, whose files may have no more than a page for a moment.
        @Test func `without memory to share no runner starts, and its process is not left behind`() async {
            await #expect(processExitsWith: .success) {
                let pool = RunnerPoolTests.Subject(limit: 1).pool
                signal(SIGXFSZ, SIG_IGN)
                let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
                var limit = rlimit()
                try #require(unsafe getrlimit(resource, &limit) == 0)
                var page = limit
                page.rlim_cur = 4096
                try #require(unsafe setrlimit(resource, &page) == 0)
                let memory = SharedMemory(size: 1 << 20)
                let number = errno
                let result = Result { () throws(ConnectorError) in try pool.hold(RunnerPoolTests.key("a")) }
                try #require(unsafe setrlimit(resource, &limit) == 0)
                #expect(memory == nil && number == EFBIG)
                let error = #expect(throws: ConnectorError.self) { _ = try result.get() }
                #expect(error?.code == .unavailable && error?.isRetryable == true)
                #expect(error?.message == "there is no memory to share with a runner")
                #expect(error?.cause == SystemError(EFBIG).description)

                // The thread that starts this one has reaped the other one before.
                let runner = try pool.hold(RunnerPoolTests.key("a"))
                runner.release()
                await runner.ended.wait()
                let child = waitpid(-1, nil, WNOHANG)
                let reason = errno
                #expect(child == -1 && reason == ECHILD)
            }
        }
    #endif

    @Test func `a process that was begun and abandoned ends, and another one is started when needed`() throws {
        let subject = Subject()
        subject.pool.begin(Self.key("a"))
        subject.pool.abandon(Self.key("a"))
        subject.pool.abandon(Self.key("a"))
        let runner = try subject.pool.hold(Self.key("a"))
        #expect(subject.startCount == 2)
        runner.release()
    }

    @Test func `a process that was begun for a key goes to another one, and ends if that one has a runner`() throws {
        let subject = Subject(limit: 2)
        subject.pool.begin(Self.key("a"))
        subject.pool.move(Self.key("a"), to: Self.key("b"))
        let first = try subject.pool.hold(Self.key("b"))
        #expect(subject.startCount == 1)
        subject.pool.begin(Self.key("a"))
        subject.pool.move(Self.key("a"), to: Self.key("b"))
        let second = try subject.pool.hold(Self.key("b"))
        #expect(second === first)
        // The process that has ended does not count.
        let other = try subject.pool.hold(Self.key("c"))
        for runner in [first, second, other] { runner.release() }
    }

    @Test func `no process is begun for an image whose runner has its libraries`() throws {
        let subject = Subject(limit: 2)
        var key = RunnerPool.Key(
            "a",
            image: RunnerPool.Image(path: "/a.so", stamp: nil),
            sandbox: Self.key("a").sandbox
        )
        let begun = key
        key.image?.libraries = [LibraryBeside(path: "/lib.so", stamp: FileStamp(size: 1))]
        subject.pool.begin(begun)
        subject.pool.move(begun, to: key)
        let first = try subject.pool.hold(key)
        subject.pool.begin(begun)
        // A process that was begun would be the second of two.
        let other = try subject.pool.hold(Self.key("b"))
        subject.pool.move(begun, to: key)
        let second = try subject.pool.hold(key)
        #expect(second === first)
        for runner in [first, second, other] { runner.release() }
    }

    @Test func `no process is begun beyond the limit`() throws {
        let subject = Subject(limit: 1)
        let runner = try subject.pool.hold(Self.key("a"))
        subject.pool.begin(Self.key("b"))
        #expect(subject.startCount == 1)
        #expect(try subject.pool.holdIfRoom(Self.key("b")) == nil)
        let error = #expect(throws: ConnectorError.self) { _ = try subject.pool.hold(Self.key("b")) }
        #expect(error?.message.contains("the most that it may have") == true)
        runner.release()
    }

    @Test func `a runner that is still starting counts towards the limit`() throws {
        let subject = Subject(limit: 1)
        subject.pool.begin(Self.key("a"))
        subject.pool.begin(Self.key("b"))
        #expect(subject.startCount == 1)
        #expect(throws: ConnectorError.self) { _ = try subject.pool.hold(Self.key("b")) }
        subject.pool.abandon(Self.key("a"))
        let runner = try subject.pool.hold(Self.key("b"))
        runner.release()
        #expect(subject.startCount == 2)
    }

    @Test func `a runner that cannot be started does not count towards the limit`() throws {
        let pool = RunnerPool(limit: 1) { () throws(ConnectorError) in
            try RunnerProgram(path: "/nowhere")
        } onLine: { _, _ in
        }
        for _ in 0..<3 {
            pool.begin(Self.key("a"))
            let error = #expect(throws: ConnectorError.self) { _ = try pool.hold(Self.key("a")) }
            #expect(error?.message.contains("/nowhere cannot be started") == true, "\(error?.description ?? "")")
        }
    }

    #if os(Linux)
        @Test func `no shared memory is kept of runners that have ended`() async throws {
            // The memory that each shares with the host, which hosts of other tests may have, too.
            func count() -> Int { systemLines("/proc/self/maps").count { $0.contains("connector-runner") } }
            let before = count()
            let subject = Subject()
            for number in 0..<20 {
                let runner = try subject.pool.hold(Self.key("\(number)"))
                runner.release()
                await runner.ended.wait()
            }
            while count() >= before + 20 { try await Task.checkedYield() }
        }

        @Test func `a program that never reports that it runs is ended with its children, and others start`() throws {
            let directory = ScratchDirectory()
            defer { directory.remove() }
            let path = try directory.write("runner", "#!/bin/sh\nsleep 987654 & wait\n", mode: 0o755)
            let start = try RunnerSpawner.shared.begin(RunnerProgram(path: path), patience: 100)
            let error = #expect(throws: ConnectorError.self) { _ = try start.wait() }
            #expect(error?.code == .timedOut)
            #expect(error?.message == "\(path) does not start")
            #expect(unsafe system("! ps -e -o args= | grep -v grep | grep -q 'sleep 98765[4]'") == 0)
        }

        @Test func `others start while a program does not report that it runs, and abandoning that ends its children`()
            throws
        {
            let directory = ScratchDirectory()
            defer { directory.remove() }
            let number = "\(directory.path)/number"
            let path = try directory.write(
                "runner",
                "#!/bin/sh\nsleep 987653 &\necho $$ > \(number)\nwait\n",
                mode: 0o755
            )
            let silent = try RunnerSpawner.shared.begin(RunnerProgram(path: path), patience: .max)
            try RunnerSpawner.shared.begin(Self.program()).wait().end()
            while unsafe access(number, R_OK) != 0 || systemLines(number).isEmpty { sched_yield() }
            let process = try #require(systemLines(number).first.flatMap { Int32($0) })
            #expect(kill(process, 0) == 0)
            silent.abandon()
            // The thread takes one job after the other, so the next runner is there after the earlier one's end.
            try RunnerSpawner.shared.begin(Self.program()).wait().end()
            #expect(kill(process, 0) == -1 && errno == ESRCH)
            #expect(unsafe system("! ps -e -o args= | grep -v grep | grep -q 'sleep 98765[3]'") == 0)
        }

        @Test func `a sandboxed process that is abandoned leaves none, whether or not it has handed over`() throws {
            // An argument of no other runner, since other tests have some, too.
            let sandbox = SandboxSettings(read: ["/nowhere-987652"])
            let search = "ps -e -o args= | grep -v grep | grep -q 'nowhere-98765[2]'"
            let kept = try RunnerSpawner.shared.begin(Self.program(), sandbox).wait()
            #expect(unsafe system(search) == 0)
            kept.end()
            for milliseconds in 0..<UInt32(40) {
                let start = try RunnerSpawner.shared.begin(Self.program(), sandbox)
                usleep(milliseconds * 1000)
                start.abandon()
            }
            // The thread takes one job after the other, so the next runner is there after the others' end.
            try RunnerSpawner.shared.begin(Self.program()).wait().end()
            #expect(unsafe system("! { \(search); }") == 0)
        }
    #endif
}
