// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// One end of a lane: messages of words and bytes through two rings, one for each direction.
///
/// A message is a word with the count of the bytes that follow, and then words of 64 bits and bytes without padding. Words and short
/// runs of bytes pass through a buffer, so a message of a few numbers is one write to the ring; longer runs go from the caller's
/// memory into the ring, and from the ring to where they are wanted, with one copy each.
///
/// Nothing here throws. Once the stream has stopped, words read as zero, bytes are left as they are, and writes are dropped. So
/// callers read or write a whole message, and check ``stop`` once, at its end.
@safe
package struct LaneStream: ~Copyable {
    private let reader: RingReader
    private let writer: RingWriter
    private let interruption: LaneInterruption
    /// Called when a message has not arrived after ``briefly``, or has been awaited ``patientWaits`` times.
    private let onWait: (@Sendable () -> Void)?
    private let incoming = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    private let outgoing = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    /// The bytes of ``incoming`` that are not taken yet.
    private var unread = 0..<0
    /// The bytes of ``outgoing`` that are not written to the ring yet.
    private var unsent = 0

    /// How many bytes of the message are not taken yet.
    package private(set) var rest = 0
    /// Why the stream has stopped; nil if it has not.
    package private(set) var stop: LaneStop?
    /// Where in the ring the last message begins.
    private var start: UInt64 = 0
    /// Whether the count of a message has yet to arrive.
    private var awaitsCount = false
    /// Whether to take only what has already arrived.
    private var isDiscarding = false
    /// How many bytes were taken after the caller should have stopped waiting: at most what the ring holds, or it might never stop.
    private var overtime = 0
    /// How often the message was awaited: one that trickles in needs a deadline, too.
    private var waits = 0
    /// How many messages the other side still owes after the one being taken.
    package var due = 0
    /// Whether the other side awaits more calls of a batch.
    package var isInBatch = false

    /// How long a message is awaited before ``onWait`` is called, in nanoseconds.
    static let briefly: UInt64 = 10_000_000
    /// How often a message is awaited before ``onWait`` is called regardless.
    private static let patientWaits = 64
    /// The longest sleep of the host, in nanoseconds: a runner may consume the wake-up meant for it.
    private static let nap: UInt64 = 100_000_000

    /// Creates one end of an unused lane.
    package init(
        _ reader: RingReader,
        _ writer: RingWriter,
        _ interruption: LaneInterruption = LaneInterruption(),
        onWait: (@Sendable () -> Void)? = nil
    ) {
        self.reader = reader
        self.writer = writer
        self.interruption = interruption
        self.onWait = onWait
    }

    deinit {
        unsafe incoming.deallocate()
        unsafe outgoing.deallocate()
    }

    /// Stops the stream because the other side has broken the protocol.
    package mutating func fail() { stop = stop ?? .corrupt }

    // MARK: Writing

    /// Stops the stream if the other side, which should be waiting for the next message, has sent more than was asked for.
    package mutating func requireSilence() {
        if rest > 0 || !unread.isEmpty { stop = stop ?? .corrupt }
    }

    /// Begins a message.
    ///
    /// - Parameter count: How many bytes follow.
    package mutating func begin(count: Int) { put(UInt64(count)) }

    /// Prepares for the next call, which has a time limit of its own.
    mutating func callEnds() { (overtime, waits) = (0, 0) }

    /// Writes a word.
    package mutating func put(_ word: UInt64) {
        if unsafe outgoing.count - unsent < 8 { send() }
        unsafe outgoing.storeBytes(of: word, toByteOffset: unsent, as: UInt64.self)
        unsent += 8
    }

    /// Writes bytes.
    package mutating func put(_ bytes: UnsafeRawBufferPointer) {
        if unsafe bytes.count > outgoing.count - unsent {
            send()
            return unsafe write(bytes)
        }
        unsafe UnsafeMutableRawBufferPointer(rebasing: outgoing[unsent...]).copyMemory(from: bytes)
        unsent += bytes.count
    }

    /// Ends a message: whatever is buffered goes to the other side.
    package mutating func send() {
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: outgoing[..<unsent])
        unsent = 0
        unsafe write(bytes)
    }

    private mutating func write(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        var waitedSince: UInt64?
        do throws(ConnectorError) {
            while offset < bytes.count, stop == nil {
                let count = unsafe try writer.write(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                offset += count
                guard count == 0 else { continue }
                // The other side reads at once, unless it is stopped or gone.
                let now = SystemTime.monotonic()
                if now - (waitedSince ?? now) >= Self.briefly { onWait?() }
                waitedSince = waitedSince ?? now
                stop = interruption.stop
                if stop == nil { try writer.waitForRoom(Self.briefly) }
            }
        } catch {
            stop = .corrupt
        }
    }

    // MARK: Reading

    /// Awaits the other side's message. One that is too long stops the stream.
    package mutating func receive() {
        awaitsCount = true
        start = reader.position - UInt64(unread.count)
        rest = 8
        let count = word()
        guard stop == nil else { return }
        awaitsCount = false
        guard count <= UInt64(FrameHeader.limit) else {
            stop = .corrupt
            return
        }
        rest = Int(count)
    }

    /// Whether the other side has given up the message that was taken last. Ask once all of it is taken, just before acting on it.
    package var isWithdrawn: Bool { reader.isWithdrawn(at: start) }

    /// Takes a word of the message.
    package mutating func word() -> UInt64 {
        guard has(8) else { return 0 }
        while unread.count < 8 { guard fill() else { return 0 } }
        let word = unsafe incoming.loadUnaligned(fromByteOffset: unread.lowerBound, as: UInt64.self)
        unread = unread.dropFirst(8)
        rest -= 8
        return word
    }

    /// Takes bytes of the message.
    package mutating func take(into bytes: UnsafeMutableRawBufferPointer) {
        guard has(bytes.count) else { return }
        var offset = min(bytes.count, unread.count)
        unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: incoming[unread.prefix(offset)]))
        unread = unread.dropFirst(offset)
        rest -= offset
        while offset < bytes.count {
            let count = unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]))
            guard count > 0 else { return }
            offset += count
            rest -= count
        }
    }

    /// Discards what is left of the message.
    package mutating func skip() {
        while rest > 0, stop == nil {
            if unread.isEmpty { guard fill() else { return } }
            let count = min(rest, unread.count)
            unread = unread.dropFirst(count)
            rest -= count
        }
    }

    /// Ends a batch, even one whose caller has stopped waiting: until then, the other side keeps its instance for it. There is always
    /// room for this message: see ``RemoteChannel``.
    package mutating func endBatch() {
        guard isInBatch, stop == nil || stop == .late else { return }
        isInBatch = false
        let earlier = stop
        stop = nil
        begin(count: 8)
        put(LaneTarget.noMore)
        send()
        stop = stop ?? earlier
    }

    /// Discards what is left of a message, and all messages that are due.
    mutating func skipAll() {
        if awaitsCount, stop == nil { receive() }
        skip()
        while stop == nil, due > 0 {
            due -= 1
            receive()
            skip()
        }
    }

    /// Discards what has arrived of the messages whose caller has stopped waiting.
    ///
    /// - Returns: Whether all of them had arrived.
    mutating func discard() -> Bool {
        takeLate { $0.skipAll() }
        return stop == nil
    }

    /// Takes the one word of a message whose caller has stopped waiting; nil if it has not arrived.
    mutating func lateAnswer() -> UInt64? {
        var word: UInt64 = 0
        takeLate { stream in
            if stream.awaitsCount { stream.receive() }
            word = stream.word()
        }
        return stop == nil ? word : nil
    }

    private mutating func takeLate(_ body: (inout LaneStream) -> Void) {
        guard stop == .late else { return }
        (stop, overtime) = (nil, 0)
        isDiscarding = true
        body(&self)
        isDiscarding = false
    }

    /// Whether the message has that many bytes left; if not, the stream stops.
    private mutating func has(_ count: Int) -> Bool {
        if count > rest { stop = stop ?? .corrupt }
        return stop == nil
    }

    /// Buffers at least one more byte.
    private mutating func fill() -> Bool {
        if unread.isEmpty {
            unread = 0..<0
        } else if unsafe unread.upperBound == incoming.count {
            unsafe incoming.copyMemory(from: UnsafeRawBufferPointer(rebasing: incoming[unread]))
            unread = 0..<unread.count
        }
        let count = unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: incoming[unread.upperBound...]))
        unread = unread.lowerBound..<unread.upperBound + count
        return count > 0
    }

    /// Reads what the ring has, waiting if it is empty; 0 once the stream has stopped.
    private mutating func read(into bytes: UnsafeMutableRawBufferPointer) -> Int {
        let interruption = interruption
        var isPatient = onWait == nil
        do throws(ConnectorError) {
            while stop == nil {
                // Loaded first, so that what was written before the end is still read.
                var reason = interruption.stop
                if isDiscarding { reason = reason ?? .late }
                guard reason == nil || overtime < CallLane.capacity else {
                    stop = reason
                    return 0
                }
                let count = unsafe try reader.read(into: bytes)
                if reason != nil { overtime += count }
                guard count == 0 else { return count }
                stop = reason
                guard stop == nil else { return 0 }
                let limit = !isPatient ? Self.briefly : onWait == nil ? .max : Self.nap
                try reader.wait(limit, unless: { interruption.stop != nil })
                waits += 1
                if !isPatient, reader.isEmpty || waits > Self.patientWaits {
                    isPatient = true
                    onWait?()
                }
            }
        } catch {
            stop = .corrupt
        }
        return 0
    }
}
