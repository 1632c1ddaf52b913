// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorDigest
import ConnectorHost
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorInvocation
@testable import ConnectorIsolation
@testable import ConnectorLoading
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The services of a plugin that has none.
private final class NoServices: InstanceServices {
    func table(named id: String) -> UnsafeRawPointer? { nil }
    func pendingWork(for operation: UInt64, during span: ClosedRange<UInt64>) -> PendingWork { .nothing }
    func callBegins(_ trace: TraceContext) {}
    func callEnds(_ operation: UInt64) {}
    func cancelCalls(during operation: UInt64) {}
    func stop() -> OneShot<Void>? { nil }
    func invalidate() {}
}

/// Messages between this process and a real runner, through rings and through the socket alone.
@Suite(.timeLimit(.minutes(2)), .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
struct RunnerTransportTests {
    /// Takes what a runner says of an instance.
    private final class Client: RunnerClient {
        let path = "gate"
        private let refusal = OneShot<ConnectorError?>()
        let end = OneShot<RunnerEnd>()

        func receive(_ frame: consuming Frame) {
            var message = MessageReader(frame.payload)
            refusal.send(frame.kind == .refused ? try? ConnectorError(&message) : nil)
        }

        func runnerIsLost(_ end: RunnerEnd) {}

        func runnerEnded(_ end: RunnerEnd, taken: UInt64?) {
            self.end.send(end)
            refusal.send(nil)
        }

        func refused() async -> ConnectorError? { await refusal.wait() }
    }

    /// Hands on what a runner says of an instance.
    private final class Listener: RunnerClient {
        let path = "gate"
        let kinds = AsyncStream.makeStream(of: MessageKind.self)

        func receive(_ frame: consuming Frame) { kinds.continuation.yield(frame.kind) }
        func runnerIsLost(_ end: RunnerEnd) {}
        func runnerEnded(_ end: RunnerEnd, taken: UInt64?) { kinds.continuation.finish() }
    }

    private static func runner(_ transport: RunnerTransport) throws -> Runner {
        let program = try RunnerProgram.find(
            path: nil,
            environment: { _ in nil },
            directory: ConnectorHost.Options.executableDirectory
        )
        return try Runner("test", RunnerSpawner.shared.begin(program), transport: transport) { _, _ in }
    }

    /// A manifest that no runner takes, of a size.
    private static func creation(_ size: Int) -> [UInt8] {
        var message = MessageWriter()
        InstanceDescription(
            gate: "gate",
            path: "/none",
            isLibrary: true,
            sidecar: nil,
            isEmbedded: false,
            manifest: Array(repeating: 0x20, count: size),
            configuration: [],
            services: [],
            logLevel: 0
        ).put(to: &message)
        return message.bytes
    }

    @Test(arguments: [RunnerTransport.automatic, .socket], [0, 1, 255 << 10, 256 << 10, 8 << 20])
    func `a message of any size arrives and is answered`(_ transport: RunnerTransport, _ size: Int) async throws {
        let runner = try Self.runner(transport)
        #expect(runner.ringReading.isUsed == (transport == .automatic))
        let client = Client()
        let number = try #require(runner.add(client))
        #expect(runner.send(.create, instance: number, Self.creation(size)) != nil)
        #expect(await client.refused()?.code == .invalidManifest)
        runner.remove(number)
        await runner.ended.wait()
    }

    @Test(arguments: [RunnerTransport.automatic, .socket])
    func `descriptors stay with their messages`(_ transport: RunnerTransport) async throws {
        let runner = try Self.runner(transport)
        #expect(runner.hold())
        let file = try #require(SharedMemory(size: 4096))
        for round in 0..<200 {
            let client = Client()
            let number = try #require(runner.add(client))
            let descriptor = round.isMultiple(of: 3) ? -1 : file.descriptor
            #expect(runner.send(.create, instance: number, Self.creation(round), descriptor: descriptor) != nil)
            #expect(await client.refused()?.code == .invalidManifest)
            runner.remove(number)
        }
        runner.release()
        await runner.ended.wait()
    }

    @Test func `where no image is sent, a runner loads the file at its path if that has the right digest`()
        async throws
    {
        let candidate = try PluginCatalog.candidate(path: Fixtures.contract("calls"))
        let digest = try ImageBytes(path: candidate.path).sha256().description
        func creation(_ sha256: String) throws -> [UInt8] {
            var message = MessageWriter()
            InstanceDescription(
                gate: "gate",
                path: candidate.path,
                isLibrary: false,
                sidecar: nil,
                isEmbedded: true,
                manifest: try #require(candidate.embeddedText),
                configuration: Array("{}".utf8),
                services: [],
                logLevel: 0,
                sha256: sha256
            ).put(to: &message)
            return message.bytes
        }
        let runner = try Self.runner(.automatic)
        #expect(runner.hold())
        let client = Client()
        let other = try #require(runner.add(client))
        let wrong = try creation(String(digest.reversed()))
        #expect(runner.send(.create, instance: other, wrong) != nil)
        #expect(await client.refused()?.code == .loadFailed)
        runner.remove(other)
        let listener = Listener()
        let number = try #require(runner.add(listener))
        let right = try creation(digest)
        #expect(runner.send(.create, instance: number, right) != nil)
        var kinds = listener.kinds.stream.makeAsyncIterator()
        var kind = await kinds.next()
        while kind == .lifeCycle { kind = await kinds.next() }
        #expect(kind == .created)
        runner.remove(number)
        runner.release()
        await runner.ended.wait()
    }

    @Test func `an instance that could not be made is stopped and disposed of`() async throws {
        let runner = try Self.runner(.automatic)
        let listener = Listener()
        let number = try #require(runner.add(listener))
        #expect(runner.send(.create, instance: number, Self.creation(1)) != nil)
        #expect(runner.send(.dispose, instance: number, []) != nil)
        var kinds = listener.kinds.stream.makeAsyncIterator()
        #expect(await kinds.next() == .refused)
        #expect(await kinds.next() == .stop)
        #expect(runner.send(.stopped, instance: number, []) != nil)
        #expect(await kinds.next() == .disposed)
        runner.remove(number)
        await runner.ended.wait()
    }

    #if os(Linux)
        @Test(
            arguments: [
                (SIGSTOP, 100_000_000, .timedOut, "does not answer"),
                (SIGKILL, 60_000_000_000, .unavailable, "ended before it answered: it was ended by SIGKILL"),
            ] as [(Int32, UInt64, ConnectorError.Code, String)]
        )
        func `a program that is stopped or killed before it answers the host is an error, and none of it is left`(
            _ signal: Int32,
            _ patience: UInt64,
            _ code: ConnectorError.Code,
            _ message: String
        ) async throws {
            let directory = ScratchDirectory()
            defer { directory.remove() }
            // It says that it continues as the same process, as a runner without namespaces does.
            let path = try directory.write(
                "runner",
                "#!/bin/sh\nexec 5>&-\nkill -\(signal) $$\n",
                mode: 0o755
            )
            let ended = OneShot<pid_t>()
            let error = try #require(throws: ConnectorError.self) {
                _ = try Runner(
                    "test",
                    RunnerSpawner.shared.begin(RunnerProgram(path: path)),
                    patience: patience,
                    onLine: { _, _ in },
                    onEnd: { ended.send($0.processNumber) }
                )
            }
            #expect(error.code == code && error.message.contains(message), "\(error)")
            let process = await ended.wait()
            #expect(kill(process, 0) == -1 && errno == ESRCH)
        }
    #endif

    @Test func `a runner whose second thread the system does not create is unavailable, and has taken nothing`() throws
    {
        let program = try RunnerProgram.find(
            path: nil,
            environment: { _ in nil },
            directory: ConnectorHost.Options.executableDirectory
        )
        let error = #expect(throws: ConnectorError.self) {
            _ = try Runner(
                "test",
                RunnerSpawner.shared.begin(program),
                onLine: { _, _ in },
                makeThread: { name, body in "\(name)" == "runner" && HostThread.start(name, body) }
            )
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message == Runner.noThread)
    }

    @Test func `a runner that does not read essential messages is ended`() async throws {
        let runner = try Self.runner(.automatic)
        #expect(runner.hold())
        let client = Client()
        let number = try #require(runner.add(client))
        #expect(kill(runner.processNumber, SIGSTOP) == 0)
        let part = [UInt8](repeating: 0, count: 64 << 20)
        var count = 0
        while runner.send(.answer, instance: number, part, isEssential: true) != nil { count += 1 }
        #expect((4...5).contains(count))
        #expect(await client.end.wait().reason == "it does not read what the host sends")
        runner.remove(number)
        runner.release()
        await runner.ended.wait()
    }

    @Test func `an instance that the host has given up still gets its answers`() async throws {
        let runner = try Self.runner(.automatic)
        #expect(runner.hold())
        let (lost, other) = (Listener(), Listener())
        let number = try #require(runner.add(lost)), next = try #require(runner.add(other))
        runner.remove(number)
        // The runner asks for the instance's end, which only the thread of its messages can answer now.
        #expect(runner.send(.create, instance: number, Self.creation(1)) != nil)
        #expect(runner.send(.dispose, instance: number, []) != nil)
        var token = MessageWriter()
        token.put(UInt64(4711))
        let payload = token.bytes
        for kind: MessageKind in [
            .stop, .storageGet, .request, .gateCall, .wallTime, .monotonicTime, .timerStart, .created, .completed,
        ] {
            try runner.take(Frame(kind: kind, instance: number, payload: payload, descriptor: nil))
        }
        #expect(throws: ConnectorError.self) {
            try runner.take(Frame(kind: .storageGet, instance: number, payload: [1], descriptor: nil))
        }
        #expect(runner.send(.create, instance: next, Self.creation(1)) != nil)
        var kinds = other.kinds.stream.makeAsyncIterator()
        #expect(await kinds.next() == .refused)
        runner.remove(next)
        runner.release()
        await runner.ended.wait()
    }

    @Test func `the bytes that wait for the storage are bounded`() async throws {
        let workers = WorkerThreads()
        let dependencies = CallDependencies(
            operations: .shared,
            workers: workers,
            gateThreads: workers,
            cancelThreads: workers,
            clock: SystemHostClock()
        )
        let services = RemoteServices(NoServices(), dependencies)
        let mayLeave = Monitor(false), done = OneShot<Void>()
        let isFirst = services.store(holding: 1 << 20) {
            mayLeave.wait { $0 ? .proceed(()) : .wait(until: nil) }
        }
        #expect(isFirst)
        #expect(services.store(holding: 15 << 20) { done.send() })
        #expect(!services.store(holding: 1) {})
        mayLeave.withLock { $0 = true }
        mayLeave.signal()
        await done.wait()
    }

    @Test(arguments: [RunnerTransport.automatic, .socket])
    func `a runner that is killed while both sides wait is noticed`(_ transport: RunnerTransport) async throws {
        let runner = try Self.runner(transport)
        let client = Client()
        _ = try #require(runner.add(client))
        runner.stop("the test ends it")
        #expect(await client.end.wait().description == "the test ends it")
        await runner.ended.wait()
        #expect(runner.send(.ping, instance: 0, []) == nil)
    }

    @Test func `a sandbox that weakens is no longer reported as whole`() async throws {
        let runner = try Self.runner(.automatic)
        #expect(runner.hold())
        let before = runner.evidence
        var message = MessageWriter()
        message.put("no second stage (the kernel refuses it)")
        // Each connector of the runner says so.
        for _ in 0..<3 { try runner.take(Frame(kind: .weakened, instance: 0, payload: message.bytes, descriptor: nil)) }
        #expect(runner.evidence == before + "; no second stage (the kernel refuses it)")
        #expect(!runner.isSandboxWhole)
        // A plugin may write into the memory of the messages: what was proved before it came stays as it is.
        message = MessageWriter()
        Handshake.own.put(to: &message)
        message.put(false)
        message.put("all of it")
        message.put(true)
        let greeting = message.bytes
        #expect(throws: ConnectorError.self) {
            try runner.take(Frame(kind: .ready, instance: 0, payload: greeting, descriptor: nil))
        }
        #expect(!runner.isSandboxWhole && !runner.evidence.contains("all of it"))
        runner.release()
        await runner.ended.wait()
    }

    #if os(Linux)
        @Test func `a runner whose own code reaches the bound of its memory says so, with the bound`() async throws {
            let program = try RunnerProgram.find(
                path: nil,
                environment: { _ in nil },
                directory: ConnectorHost.Options.executableDirectory
            )
            let start = try RunnerSpawner.shared.begin(program, SandboxSettings(memory: 16 << 20))
            let runner = try Runner("test", start, groups: ControlGroupSource("/nowhere")) { _, _ in }
            let client = Client()
            let number = try #require(runner.add(client))
            #expect(runner.send(.create, instance: number, Self.creation(60 << 20)) != nil)
            let end = await client.end.wait()
            #expect(end.description.hasPrefix("it needed more memory than its sandbox allows, 16.8 MB: "), "\(end)")
            await runner.ended.wait()
        }
    #endif

    @Test func `a runner that finds its ring written over ends at once, and says so`() async throws {
        let runner = try Self.runner(.automatic)
        let client = Client()
        _ = try #require(runner.add(client))
        // The host stores it, and the runner looks at it before it writes the answer.
        unsafe runner.page.toHost.head.pointee.store(.max >> 1, ordering: .sequentiallyConsistent)
        #expect(runner.send(.ping, instance: 0, []) != nil)
        let end = await client.end.wait()
        #expect(end.description == "a plugin has written over the memory that host and runner share")
        #expect(end.lines.last?.contains("a position in the memory") == true, "\(end.lines)")
        await runner.ended.wait()
    }

    @Test(arguments: ["tail", "head"])
    func `a position in the ring that no runner writes ends the runner with a reason`(_ word: String) async throws {
        let runner = try Self.runner(.automatic)
        let client = Client()
        let number = try #require(runner.add(client))
        if word == "tail" {
            let ring = runner.page.toHost
            unsafe ring.tail.pointee.store(.max >> 1, ordering: .sequentiallyConsistent)
            // The runner's own wake-up comes with its answer.
            unsafe RingMemory.wake(ring.readerSleeps)
        } else {
            unsafe runner.page.toRunner.head.pointee.store(.max >> 1, ordering: .sequentiallyConsistent)
            #expect(runner.send(.create, instance: number, Self.creation(1)) == nil)
        }
        let end = await client.end.wait()
        #expect(end.description.contains("a position in the memory"), "\(end.description)")
        await runner.ended.wait()
    }
}
