// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
internal import ConnectorBase
internal import ConnectorPlatform
internal import DequeModule

/// What the host sends to a runner: at once if the ring or the socket has room, else as soon as it has. No sender ever waits.
///
/// The first message goes through the socket, and those after ``use(_:)`` through the ring, in order. A descriptor goes through the
/// socket in any case, with a byte of its own, before the message that it belongs to.
package final class OutgoingMessages: Sendable {
    /// A message, or what is left of one.
    private struct Entry: Sendable {
        let bytes: [UInt8]
        /// Closed once it was sent.
        let descriptor: Int32
        var offset = 0
    }

    private struct State: Sendable {
        var entries = Deque<Entry>()
        var size = 0
        /// How many messages there have been.
        var count: UInt64 = 0
        var isClosed = false
        /// The ring; nil as long as the socket carries everything.
        var ring: RingWriter?
        /// Whether the runner has written what no runner writes.
        var isCorrupt = false
    }

    /// What the rest of the messages waits for.
    package enum Wait: Sendable {
        /// Nothing waits.
        case none
        /// For room in the socket, which `poll` reports.
        case socket
        /// For room in the ring, which the runner reports with the message `room`.
        case ring
    }

    private let socket: Int32
    private let monitor = Monitor(State())
    /// The most bytes that wait for a runner, 256 MiB.
    private static let limit = 256 << 20

    /// Why a message was not taken.
    package enum Refusal: Error {
        /// The runner has ended.
        case closed
        /// The runner does not read.
        case full
        /// The runner has written a position into the ring that is impossible.
        case corrupt
    }

    /// Sends to a socket, which its owner closes.
    package init(_ socket: Int32) {
        self.socket = socket
    }

    /// Sends everything from now on through a ring.
    package func use(_ ring: RingWriter) {
        monitor.withLock { $0.ring = ring }
    }

    /// Sends a message, or queues it.
    ///
    /// - Parameter descriptor: A descriptor to go with it, which stays the caller's; -1 for none.
    /// - Returns: The message's number, from 1, and what the rest of it waits for.
    package func send(_ bytes: [UInt8], _ descriptor: Int32) throws(Refusal) -> (number: UInt64, wait: Wait) {
        try monitor.withLock { state throws(Refusal) in
            guard !state.isClosed else { throw .closed }
            guard state.size + bytes.count <= Self.limit || state.entries.isEmpty else { throw .full }
            // The queue needs a descriptor of its own.
            let copy = descriptor >= 0 ? OwnedDescriptor.duplicate(descriptor) : -1
            guard copy >= 0 || descriptor < 0 else { throw .full }
            state.count += 1
            state.size += bytes.count
            state.entries.append(Entry(bytes: bytes, descriptor: copy))
            let wait = flush(&state)
            guard !state.isCorrupt else { throw .corrupt }
            return (state.count, wait)
        }
    }

    /// Sends what waits, as far as there is room.
    ///
    /// - Returns: What the rest waits for.
    package func flush() throws(Refusal) -> Wait {
        try monitor.withLock { state throws(Refusal) in
            let wait = flush(&state)
            guard !state.isCorrupt else { throw .corrupt }
            return wait
        }
    }

    /// Drops what waits, and takes nothing more.
    package func close() {
        monitor.withLock { state in
            state.isClosed = true
            for entry in state.entries where entry.descriptor >= 0 { _ = OwnedDescriptor(entry.descriptor) }
            state.entries.removeAll()
        }
    }

    private func flush(_ state: inout State) -> Wait {
        while var entry = state.entries.first {
            let sent: Int
            do throws(ConnectorError) {
                if let ring = state.ring {
                    if entry.descriptor >= 0 {
                        guard send([0][...], entry.descriptor) > 0 else { return .socket }
                        _ = OwnedDescriptor(entry.descriptor)
                        entry = Entry(bytes: entry.bytes, descriptor: -1)
                        state.entries[0] = entry
                    }
                    sent = try unsafe entry.bytes.withUnsafeBufferPointer { bytes throws(ConnectorError) in
                        let rest = unsafe UnsafeBufferPointer(rebasing: bytes[entry.offset...])
                        return unsafe try ring.write(UnsafeRawBufferPointer(rest))
                    }
                    if sent == 0 {
                        if try ring.askForRoom() { continue }
                        return .ring
                    }
                } else {
                    sent = send(entry.bytes[entry.offset...], entry.offset == 0 ? entry.descriptor : -1)
                    // A runner that has ended is noticed by the thread that reads.
                    guard sent > 0 else { return .socket }
                    if entry.offset == 0, entry.descriptor >= 0 { _ = OwnedDescriptor(entry.descriptor) }
                }
            } catch {
                state.isCorrupt = true
                return .none
            }
            entry.offset += sent
            state.size -= sent
            guard entry.offset == entry.bytes.count else {
                state.entries[0] = Entry(bytes: entry.bytes, descriptor: -1, offset: entry.offset)
                continue
            }
            state.entries.removeFirst()
        }
        return .none
    }

    /// Sends bytes through the socket, as far as there is room.
    private func send(_ bytes: ArraySlice<UInt8>, _ descriptor: Int32) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            return Int(unsafe runner_send(socket, start, UInt64(bytes.count), descriptor, 0))
        }
    }
}
