// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
package import ConnectorBase
package import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A process that carries plugins' instances, as the host sees it: a socket, shared memory, and two threads.
///
/// One thread watches descriptors: it passes on what the runner prints, sends what waited for the socket, and learns at once that
/// the process has ended. The other one reads the ring of the runner's messages; where there are no rings, the first one reads the
/// socket. Both live as long as the process, which ends when the last instance is gone.
package final class Runner: Sendable {
    /// The name by which connectors share the runner.
    package let name: String
    /// The process id, for people.
    package let processNumber: Int32
    /// Receives each line that the runner prints, on the runner's thread.
    package typealias Output = @Sendable (_ runner: Runner, _ line: String) -> Void
    /// Receives each call of the system that the sandbox refuses for the first time, on the runner's thread.
    package typealias Refusals = @Sendable (_ runner: Runner, _ refusal: SandboxRefusal) -> Void

    /// Whether it runs without a sandbox, and prints what one would refuse.
    package let learnsSandbox: Bool
    let child: RunnerSpawner.Child
    let bounds: RunnerBounds
    let page: SharedPage
    private let transport: RunnerTransport
    let outgoing: OutgoingMessages
    /// The state of the thread that reads the ring.
    let ringReading = RingReading()
    /// The lanes for calls whose callers wait.
    let lanes = CallLanes()
    /// Wakes the thread: it reads one end of a pipe.
    let wake: Pipe
    let onLine: Output
    let onRefusal: Refusals
    let onEnd: @Sendable (_ runner: Runner) -> Void
    let makeThread: HostThread.Make
    let state = Mutex(State())
    let greeting = Monitor<Result<Void, ConnectorError>?>(nil)
    /// Sent when the process has ended and been reaped.
    package let ended = OneShot<Void>()

    struct State: Sendable {
        var clients: [UInt32: any RunnerClient] = [:]
        /// The paths of the gates whose instances are left here, by their numbers: see ``Runner/leftLimit``.
        var left: [UInt32: String] = [:]
        var last: UInt32 = 0
        /// How many callers are about to add an instance.
        var holders = 0
        /// Whether the runner has ended, or is about to.
        var isOver = false
        /// How it has ended; nil as long as its clients are yet to learn that.
        var end: RunnerEnd?
        /// Whether the process is reaped: all descriptors are closed, and their numbers may be reused.
        var isReaped = false
        /// Why the host ends it.
        var reason: String?
        var evidence = ""
        var isSandboxWhole = false
        /// The calls that the sandbox has refused since there is a plugin, by name.
        var refused: [String] = []
        /// Why the host does not learn what the sandbox refuses; nil if it does.
        var unreported: SystemError?
        /// Whether the runner has said that the second stage of its sandbox is missing.
        var isWeakened = false
        /// The number of the last ping; the runner owes an answer while ``pong`` differs.
        var ping: UInt64 = 0
        var pong: UInt64 = 0
    }

    /// Greets a started runner, and waits until it has stated its version.
    ///
    /// - Parameters:
    ///   - name: The name by which connectors share it.
    ///   - start: The process, which ends if this fails.
    ///   - transport: What carries the messages.
    ///   - groups: Where its control group is made, if it has bounds.
    ///   - patience: How long it may take to answer, in nanoseconds.
    ///   - onLine: Receives each line that it prints.
    ///   - onRefusal: Receives what its sandbox refuses.
    ///   - onEnd: Runs when the process has ended and every client knows; on the runner's thread.
    ///   - makeThread: Starts a thread.
    package init(
        _ name: String,
        _ start: RunnerSpawner.Start,
        transport: RunnerTransport = .automatic,
        groups: ControlGroupSource = ControlGroupSource(),
        patience: UInt64 = 5_000_000_000,
        onLine: @escaping Output,
        onRefusal: @escaping Refusals = { _, _ in },
        onEnd: @escaping @Sendable (_ runner: Runner) -> Void = { _ in },
        makeThread: @escaping HostThread.Make = { HostThread.start($0, $1) }
    ) throws(ConnectorError) {
        guard let page = SharedPage() else {
            let reason = SystemError()
            start.abandon()
            switch reason.number {
            case EMFILE, ENFILE: throw Self.unavailable(Self.noDescriptor, reason)
            case EPERM, EACCES, ENOSYS:
                throw Self.unsupported("memory to share with a runner", "memfd_create(2)", reason)
            default: throw Self.unavailable("there is no memory to share with a runner", reason)
            }
        }
        guard let wake = try? Pipe(blocks: false) else {
            start.abandon()
            throw Self.unavailable(Self.noDescriptor)
        }
        do throws(ConnectorError) {
            child = try start.wait()
        } catch {
            wake.close()
            throw error
        }
        bounds = RunnerBounds(start.sandbox, groups, process: child.number)
        self.name = name
        learnsSandbox = start.sandbox.level == .learn
        self.page = page
        self.transport = transport
        self.onLine = onLine
        self.onRefusal = onRefusal
        self.onEnd = onEnd
        self.makeThread = makeThread
        processNumber = child.number
        self.wake = wake
        outgoing = OutgoingMessages(child.socket)
        guard makeThread("runner", { self.work() }) else {
            child.end()
            bounds.end()
            wake.close()
            throw Self.withoutThread
        }
        var hello = MessageWriter()
        Handshake.own.put(to: &hello)
        hello.put(usesRings)
        _ = send(.hello, instance: 0, hello.bytes, descriptor: page.descriptor)
        page.closeDescriptor()
        let end = SystemTime.monotonic().saturatingAdding(patience)
        typealias Answer = Result<Void, ConnectorError>?
        let answer = greeting.wait { answer -> Monitor<Answer>.Step<Answer> in
            guard answer == nil, SystemTime.monotonic() < end else { return .proceed(answer) }
            return .wait(until: end)
        }
        if case .failure(let error) = answer ?? .failure(unresponsiveError(of: start.program)) {
            stop("it did not answer the host's first message")
            throw error
        }
    }

    /// Whether messages may go through rings.
    var usesRings: Bool { transport == .automatic && page.toHost.canWake }

    /// Why a runner has not answered in time.
    private func unresponsiveError(of program: RunnerProgram) -> ConnectorError {
        if case .system(let number)? = try? outgoing.flush() { return Self.shortage(number) }
        return ConnectorError(
            .timedOut,
            "\(program.path) does not answer",
            fix: "check that it is connector-runner, and that the machine is not overloaded",
            isRetryable: true
        )
    }

    /// Why nothing could be sent to a runner, by the system's error number.
    static func shortage(_ number: Int32) -> ConnectorError {
        guard number == ETOOMANYREFS else { return unavailable("there is no memory for a message to a runner") }
        return ConnectorError(
            .unavailable,
            "no descriptor can be sent to a runner: too many are in flight among the processes of this user",
            fix: "raise the host's limit of open files (ulimit -n, LimitNOFILE), "
                + "or end the process that does not receive what it is sent",
            cause: SystemError(number).description,
            isRetryable: true
        )
    }

    /// Why the system does not let the host send anything to a runner, by its error number.
    static func refusal(_ number: Int32) -> ConnectorError {
        unsupported("a message to a runner", "sendmsg(2)", SystemError(number))
    }

    /// The error of a system call that a policy forbids.
    private static func unsupported(_ what: String, _ call: String, _ reason: SystemError) -> ConnectorError {
        ConnectorError(
            .unsupported,
            "the system refuses \(what)",
            fix: "let the seccomp filter of the container, or of the service, permit \(call), "
                + "or write \"isolation\": \"none\"",
            cause: reason.description
        )
    }

    /// What the system lacks if it creates no thread.
    static let noThread = "the system cannot create a thread for a runner"

    private static let noDescriptor = "the process has no descriptors left for a runner"

    /// The error of a host that has no thread left for a runner.
    static var withoutThread: ConnectorError {
        unavailable(noThread, HostThread.refusal, raise: HostThread.remedy)
    }

    /// The error of a host that lacks something for another runner.
    ///
    /// - Parameter raise: What gives the host more of it.
    static func unavailable(
        _ what: String,
        _ reason: SystemError? = nil,
        raise: String = "raise the limits of the process and the machine"
    ) -> ConnectorError {
        ConnectorError(
            .unavailable,
            what,
            fix: "\(raise), or let connectors share runners, by the same \"runner\" in the file",
            cause: reason?.description,
            isRetryable: true
        )
    }

    /// How well the runner's sandbox holds, as the runner found by trying, what enforces its bounds, and what it has refused since.
    package var evidence: String {
        state.withLock { state in
            var parts = [state.evidence]
            if let error = state.unreported { parts.append("refusals are not reported (\(error.text))") }
            if !state.refused.isEmpty { parts.append("refused: \(state.refused.joined(separator: ", "))") }
            return parts.joined(separator: "; ")
        }
    }

    /// How many messages the runner has taken; nil if the count is lost. One that has answered has taken the host's first one, so 0 means
    /// that a plugin has filled the shared memory with zeros.
    var taken: UInt64? {
        let count = page.taken
        return count == 0 ? nil : count
    }

    /// Whether every layer of the sandbox holds.
    package var isSandboxWhole: Bool { state.withLock(\.isSandboxWhole) }

    /// Whether the runner takes more instances.
    package var isAlive: Bool { !state.withLock(\.isOver) }

    /// How the runner has ended; nil as long as its clients are yet to learn that.
    var end: RunnerEnd? { state.withLock(\.end) }

    /// Whether the runner's end of the socket is closed, or has sent what it may not, so that the host is about to end it.
    var hasHungUp: Bool {
        state.withLock { state in
            guard !state.isReaped else { return true }
            // Nothing comes through the socket once there is a ring. macOS reports the end only to those who ask for it.
            let events = Int16(POLLHUP | (ringReading.isUsed ? POLLIN : 0))
            var entry = pollfd(fd: child.socket, events: events, revents: 0)
            return unsafe poll(&entry, 1, 0) > 0 && entry.revents & events != 0
        }
    }

    // MARK: Instances

    /// Adds an instance; nil if the runner has ended. One that is about to end tells the instance so.
    ///
    /// - Returns: The number that messages about it carry.
    package func add(_ client: any RunnerClient) -> UInt32? {
        state.withLock { state in
            guard state.end == nil else { return nil }
            state.last += 1
            state.clients[state.last] = client
            return state.last
        }
    }

    /// Removes an instance; the last one takes the runner with it.
    ///
    /// - Parameter isLeft: Whether the instance is not gone, because its plugin blocks threads. Tell the runner to destroy it afterwards.
    package func remove(_ number: UInt32, isLeft: Bool = false) {
        state.withLock { state in
            let client = state.clients.removeValue(forKey: number)
            state.left[number] = isLeft ? client?.path : nil
        }
        stopUnused()
    }

    /// How many instances a gate may leave in a runner that others keep alive: each blocks a few of the runner's threads, and up to 32 of
    /// those for calls.
    package static let leftLimit = 8

    /// How many instances of a gate are left here: their functions block threads, so the runner has not destroyed them yet.
    func leftCount(of path: String) -> Int { state.withLock { state in state.left.values.count { $0 == path } } }

    /// Why the runner takes no further instance of a gate; nil if it does. A runner that carries no instance takes one, and ends with it.
    func refusal(of path: String) -> ConnectorError? {
        let (count, sharing) = (leftCount(of: path), Set(gates).sorted())
        guard count >= Self.leftLimit, !sharing.isEmpty else { return nil }
        return ConnectorError(
            .unavailable,
            "\(count) earlier instances of the connector still block threads of the runner \(name)",
            fix: "fix the plugin; the runner ends once these connectors are closed: \(sharing.joined(separator: ", "))",
            isRetryable: true
        )
    }

    /// Keeps the runner alive until ``release()``; false if it is too late.
    package func hold() -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.holders += 1
            return true
        }
    }

    /// Balances ``hold()``, once the instance has been added or will not be.
    package func release() {
        state.withLock { $0.holders -= 1 }
        stopUnused()
    }

    private func stopUnused() {
        let isUnused = state.withLock { state in
            guard state.clients.isEmpty, state.holders == 0, !state.isOver else { return false }
            state.isOver = true
            return true
        }
        if isUnused { stop("no connector uses it anymore") }
    }

    /// Whether the runner carries an instance, and will carry no other one unless it is asked to.
    func carriesOnly(_ number: UInt32) -> Bool {
        state.withLock { $0.holders == 0 && $0.clients.count == 1 && $0.clients[number] != nil }
    }

    /// The paths of the gates whose instances the runner carries.
    package var gates: [String] { state.withLock { $0.clients.values.map(\.path).sorted() } }

    /// Kills the process; whoever waits for its answers learns the reason.
    package func stop(_ reason: String) {
        state.withLock { state in
            state.isOver = true
            guard !state.isReaped else { return }
            state.reason = state.reason ?? reason
            _ = runner_kill(child.process, child.number)
        }
    }

    // MARK: Messages

    /// Sends a message; never waits.
    ///
    /// - Parameter isEssential: Whether the runner would wait forever without the message; if so, a runner that does not read is
    ///   ended.
    /// - Returns: The message's number; nil if the runner has ended, or does not read.
    @discardableResult
    package func send(
        _ kind: MessageKind,
        instance: UInt32,
        _ payload: [UInt8],
        descriptor: Int32 = -1,
        isEssential: Bool = false
    ) -> UInt64? {
        guard payload.count <= FrameHeader.limit else { return nil }
        let frame = FrameHeader.frame(kind, instance: instance, payload, hasDescriptor: descriptor >= 0)
        do throws(OutgoingMessages.Refusal) {
            let (number, wait) = try outgoing.send(frame, descriptor)
            if wait.isForWatcher { wakeThread() }
            return number
        } catch {
            if error == .corrupt { stop(Self.isCorrupt) }
            if error == .full, isEssential { stop("it does not read what the host sends") }
            return nil
        }
    }

    /// Asks the runner to answer, and ends it if it does not in time: it hangs, is stopped or is starved.
    ///
    /// What the runner has written by then counts, although a listener may hold the thread that reads it.
    ///
    /// - Parameter patience: How long the answer may take, in nanoseconds.
    package func checkPulse(on clock: any HostClock, patience: UInt64) {
        let number = state.withLock { state -> UInt64? in
            guard !state.isOver, state.ping == state.pong else { return nil }
            state.ping += 1
            return state.ping
        }
        guard let number else { return }
        send(.ping, instance: 0, [])
        awaitPong(number, upTo: nil, on: clock, patience: patience)
    }

    /// - Parameter position: Up to where in the ring the answer may be; nil for as far as the runner has written at the end of the wait.
    private func awaitPong(_ number: UInt64, upTo position: UInt64?, on clock: any HostClock, patience: UInt64) {
        _ = clock.schedule(after: patience) { [weak self] in
            guard let self else { return }
            let position = unsafe position ?? page.toHost.tail.pointee.load(ordering: .sequentiallyConsistent)
            let isRead = !ringReading.isUsed || ringReading.hasHandled(upTo: position)
            // Only now: what is read up to there may be the answer.
            guard state.withLock({ $0.pong < number && !$0.isOver }) else { return }
            guard isRead else {
                ringReading.wake()
                return awaitPong(number, upTo: position, on: clock, patience: patience)
            }
            stop("it did not answer for \(Duration.nanoseconds(Int64(clamping: patience)).brief)")
        }
    }

    /// Why the host ends a runner that writes an impossible position into the ring.
    static let isCorrupt = "it broke the protocol: \(RingMemory.corrupt.message)"

    func wakeThread() {
        state.withLock { state in
            var byte: UInt8 = 1
            if !state.isReaped { _ = unsafe write(wake.writing, &byte, 1) }
        }
    }
}
