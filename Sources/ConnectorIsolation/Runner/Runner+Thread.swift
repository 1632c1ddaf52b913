// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import CRunner
internal import ConnectorBase
internal import ConnectorLoading
internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The thread that watches a runner's descriptors, and reaps its process.
extension Runner {
    func work() {
        var assembler = FrameAssembler()
        // All that a runner learns counts.
        var lines = learnsSandbox ? OutputLines(limit: .unlimited) : OutputLines()
        var refusedCalls = RefusedCalls(child.handover)
        var wait = OutgoingMessages.Wait.none
        while true {
            var patience = refusedCalls.pause() ?? -1
            if case .system = wait { patience = Self.shortageInterval }
            var entries = [
                pollfd(fd: child.socket, events: Int16(POLLIN | (wait == .socket ? POLLOUT : 0)), revents: 0),
                pollfd(fd: child.process, events: Int16(POLLIN), revents: 0),
                pollfd(fd: lines.isOver ? -1 : child.output, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake.reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: refusedCalls.watched, events: Int16(POLLIN), revents: 0),
            ]
            guard unsafe poll(&entries, nfds_t(entries.count), patience) >= 0 else { continue }
            if entries[3].revents != 0 { drainWake() }
            if entries[2].revents != 0 { lines.read(child.output) { onLine(self, $0) } }
            let events = entries[4].revents
            if events != 0, let news = refusedCalls.take(events, isReported: hasAnswered) { take(news) }
            if entries[0].revents != 0, !receive(&assembler) { break }
            do throws(OutgoingMessages.Refusal) {
                wait = try outgoing.flush()
            } catch {
                if error == .broken {
                    // What the runner sent before it ended still counts.
                    _ = receive(&assembler, upTo: .max)
                    break
                }
                wait = .none
                if case .refused(let number) = error {
                    greet(.failure(Self.refusal(number)))
                    stop("the system does not let the host send to it: \(SystemError(number).text)")
                } else {
                    stop(Self.isCorrupt)
                }
            }
            if entries[1].revents != 0 {
                // What the runner sent before it ended still counts.
                _ = receive(&assembler, upTo: .max)
                break
            }
        }
        // Nobody waits for an answer anymore: what the process still calls fails.
        refusedCalls.close()
        finish(&lines)
    }

    /// Whether the runner has answered the host's first message, or the host has given up on it.
    private var hasAnswered: Bool { greeting.withLock { $0 != nil } }

    private func take(_ news: RefusedCalls.News) {
        switch news {
        case .unreported(let error):
            state.withLock { $0.unreported = error }
        case .refused(let refusal):
            state.withLock { $0.refused.append(refusal.call) }
            onRefusal(self, refusal)
        }
    }

    /// Takes what has arrived; false at the end, and after a malformed message.
    ///
    /// - Parameter limit: After how many bytes the rest is left, so that a plugin that sends forever does not hold up all else.
    private func receive(_ assembler: inout FrameAssembler, upTo limit: Int = 256 << 10) -> Bool {
        var total = 0
        while !ringReading.isUsed {
            guard total < limit else { return true }
            var descriptor: Int32 = -1
            let count = unsafe withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer -> Int64 in
                guard let start = buffer.baseAddress else { return 0 }
                let count = unsafe runner_receive(child.socket, start, UInt64(buffer.count), &descriptor, 0)
                guard count > 0 else { return count }
                do throws(ConnectorError) {
                    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: Int(count))
                    try unsafe assembler.add(bytes, descriptor >= 0 ? OwnedDescriptor(descriptor) : nil)
                    return count
                } catch {
                    return -Int64(EPROTO)
                }
            }
            if count == -Int64(EAGAIN) { return true }
            guard count > 0 else {
                if count == -Int64(EPROTO) { stop("it broke the protocol") }
                return false
            }
            total += Int(count)
            do throws(ConnectorError) {
                while let frame = try assembler.next() { try take(frame) }
            } catch {
                stop("it broke the protocol: \(error.message)")
                return false
            }
        }
        return isSocketSilent
    }

    /// Whether the socket is open, and nothing has arrived there although messages come through the ring: two streams would have no order.
    ///
    /// The host ends a runner that sends something. It stays in the socket, so that ``hasHungUp`` finds it, too.
    private var isSocketSilent: Bool {
        var byte: UInt8 = 0
        let count = unsafe recv(child.socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        if count > 0 { stop("it broke the protocol: unexpected data on its socket") }
        return count < 0 && [EAGAIN, EINTR].contains(errno)
    }

    /// Takes a message, on the one thread that reads.
    func take(_ frame: consuming Frame) throws(ConnectorError) {
        switch frame.kind {
        case .ready:
            // Only once: a runner proves its sandbox before it has a plugin.
            guard greeting.withLock({ $0 == nil }) else { throw MessageReader.malformed }
            var message = MessageReader(frame.payload)
            let other = try Handshake(&message)
            if let mismatch = Handshake.mismatch(host: .own, runner: other) { return greet(.failure(mismatch)) }
            let runnerUsesRings = try message.bool()
            let evidence = try message.text(limit: 4096), isWhole = try message.bool()
            state.withLock { state in
                state.evidence = ([evidence] + bounds.parts).joined(separator: "; ")
                state.isSandboxWhole = isWhole && bounds.isWhole
            }
            // The runner may not use rings that the host has not offered.
            guard !runnerUsesRings || usesRings else { throw MessageReader.malformed }
            guard runnerUsesRings else { return greet(.success(())) }
            let isRead = readRing(page.toHost, writing: page.toRunner)
            greet(isRead ? .success(()) : .failure(Self.withoutThread))
        case .weakened:
            var message = MessageReader(frame.payload)
            let fault = try message.text(limit: 256)
            state.withLock { state in
                // Every connector of the runner reports the same.
                guard !state.isWeakened else { return }
                state.isWeakened = true
                state.evidence += "; \(fault)"
                state.isSandboxWhole = false
            }
        case .pong: state.withLock { $0.pong = $0.ping }
        case .room:
            do throws(OutgoingMessages.Refusal) {
                // A descriptor waits for the socket, which the other thread watches.
                if try outgoing.flush().isForWatcher { wakeThread() }
            } catch {
                guard error != .corrupt else { throw RingMemory.corrupt }
                wakeThread()
            }
        default:
            guard let client = state.withLock({ $0.clients[frame.instance] }) else { return try refuse(frame) }
            client.receive(frame)
        }
    }

    /// Answers an instance that the host has given up: its plugin must not wait forever, and is destroyed once nothing more comes.
    private func refuse(_ frame: consuming Frame) throws(ConnectorError) {
        switch frame.kind {
        case .stop: send(.stopped, instance: frame.instance, [], isEssential: true)
        case .storageGet, .storageSet, .storageRemove, .storageList, .storageReplace, .request, .requestWrite,
            .gateCall, .gateBound, .wallTime, .monotonicTime, .timerStart:
            var message = MessageReader(frame.payload)
            let token = try message.integer(UInt64.self)
            let answer = unsafe MessageWriter(answering: token, Int32(CONNECTOR_NOT_OPEN))
            send(.answer, instance: frame.instance, answer.bytes, isEssential: true)
        case .disposed:
            let number = frame.instance
            state.withLock { $0.left[number] = nil }
        default: break
        }
    }

    private func greet(_ answer: Result<Void, ConnectorError>) {
        greeting.withLock { $0 = $0 ?? answer }
        greeting.signal()
    }

    private func drainWake() {
        var buffer = [UInt8](repeating: 0, count: 64)
        while unsafe read(wake.reading, &buffer, buffer.count) > 0 {}
    }

    /// Reaps the process, and notifies everyone.
    private func finish(_ lines: inout OutputLines) {
        // First, so that a caller that finds the messages closed knows that the reason will follow.
        state.withLock { $0.isOver = true }
        outgoing.close()
        var end = RunnerEnd()
        var (status, signal): (Int32, Int32) = (0, 0)
        // The socket may have closed first.
        var entry = pollfd(fd: child.process, events: Int16(POLLIN), revents: 0)
        // Also if a signal interrupted `poll`: killing a process that has ended does no harm.
        if unsafe poll(&entry, 1, Self.patience) <= 0 {
            // Without an answer, it has no plugin.
            stop(hasAnswered ? RunnerEnd.hasClosed : RunnerEnd.hasClosedEarly)
        }
        var reaped: Int32 = 0
        while reaped == 0 {
            reaped = unsafe runner_reap(child.process, child.number, &status, &signal)
            if reaped == 0 { _ = unsafe poll(&entry, 1, 100) }
        }
        // What the runner sent before it ended still counts.
        ringReading.end()
        lines.read(child.output) { onLine(self, $0) }
        lines.finish { onLine(self, $0) }
        if reaped > 0 { (end.status, end.signal) = (status, signal) } else { end.unknown = SystemError(-reaped) }
        end.lines = lines.last
        end.refused = state.withLock(\.refused)
        end.note = CrashNote(text: page.noteText).map(withSymbols)
        let isKilled = signal == SIGKILL || end.unknown != nil
        let outOfMemory = isKilled ? bounds.outOfMemory : nil
        bounds.end()
        let clients = state.withLock { state in
            let reason = state.reason ?? outOfMemory
            // The note is only the plugins' word, and may describe an earlier signal that they survived.
            if reason != nil && isKilled || !end.fits(end.note) { end.note = nil }
            if end.note == nil { end.reason = reason }
            if end.lacksMemory { end.shortage = bounds.shortage }
            state.end = end
            defer { state.clients = [:] }
            return Array(state.clients.values)
        }
        greet(
            .failure(
                ConnectorError(
                    .unavailable,
                    "the runner ended before it answered: \(end.description)",
                    fix: end.remedy ?? "check that it is connector-runner of the host's version, and what it printed",
                    cause: end.lines.isEmpty ? nil : end.lines.joined(separator: " | "),
                    isRetryable: true
                )
            )
        )
        for client in clients { client.runnerIsLost(end) }
        // Whoever writes over the memory also writes over the count.
        let taken = end.hasDamagedMemory ? nil : taken
        for client in clients { client.runnerEnded(end, taken: taken) }
        // Last: a batch runs functions of the application in a lane, which may take their time.
        lanes.end(end)
        closeDescriptors()
        onEnd(self)
        ended.send(())
    }

    /// The note with the function and the line. It is only the plugins' word, so the host reads the file of an instance and no other
    /// one for it.
    private func withSymbols(_ note: CrashNote) -> CrashNote {
        let clients = state.withLock { Array($0.clients.values) }
        guard let path = note.path, clients.contains(where: { $0.imagePath == path }) else { return note }
        var note = note
        note.frames = []
        return note.withSymbols()
    }

    /// How long to wait before sending again what the system has had no room for, in milliseconds.
    private static let shortageInterval: Int32 = 10

    /// How long a runner may take to end once its socket is closed, in milliseconds.
    private static let patience: Int32 = 200

    private func closeDescriptors() {
        state.withLock { state in
            state.isReaped = true
            for descriptor in [child.socket, child.process, child.output, wake.reading, wake.writing] {
                close(descriptor)
            }
        }
    }
}
