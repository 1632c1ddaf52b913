// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
internal import ConnectorBase
internal import ConnectorPlatform
internal import DequeModule

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the host sends to a runner: at once if the ring or the socket has room, else as soon as it does. No sender ever waits.
///
/// The first message goes through the socket, and those after ``use(_:)`` through the ring, in order. A descriptor goes through the
/// socket in any case, with a byte of its own, before the message that it belongs to.
package final class OutgoingMessages: Sendable {
    /// A message, or what is left of one.
    private struct Entry: Sendable {
        let bytes: [UInt8]
        /// Closed once sent.
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
    }

    /// What the rest of the messages waits for.
    package enum Wait: Sendable, Equatable {
        /// Nothing waits.
        case none
        /// For room in the socket, which `poll` reports.
        case socket
        /// For what the system is short of, by its error number: memory, or descriptors in flight, of which a user may have only so
        /// many. Nothing reports the end of that, so try again soon.
        case system(Int32)
        /// For room in the ring, which the runner reports with the message `room`.
        case ring

        /// Whether the thread that watches the socket sends the rest.
        var isForWatcher: Bool { self != .none && self != .ring }
    }

    private let socket: Int32
    private let monitor = Monitor(State())
    /// The most bytes that wait for a runner, 256 MiB.
    private static let limit = 256 << 20
    /// What a message costs besides its bytes, in bytes.
    private static let overhead = 128

    /// Why a message was not taken.
    package enum Refusal: Error, Equatable {
        /// The runner has ended.
        case closed
        /// The runner does not read.
        case full
        /// The runner has written an impossible position into the ring.
        case corrupt
        /// The socket takes nothing more: the runner has ended, or closed it. Only ``flush()`` throws it.
        case broken
        /// The system permits no such message, with its error number. Only ``flush()`` throws it.
        case refused(Int32)
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
            let size = bytes.count + Self.overhead
            guard state.size + size <= Self.limit || state.entries.isEmpty else { throw .full }
            // The queue needs a descriptor of its own.
            let copy = descriptor >= 0 ? OwnedDescriptor.duplicate(descriptor) : -1
            guard copy >= 0 || descriptor < 0 else { throw .full }
            state.count += 1
            state.size += size
            state.entries.append(Entry(bytes: bytes, descriptor: copy))
            do throws(Refusal) {
                return (state.count, try flush(&state))
            } catch {
                // Whoever watches the socket finds out whether the runner has ended, and how.
                guard error != .corrupt else { throw error }
                return (state.count, .socket)
            }
        }
    }

    /// Sends what waits, as far as there is room.
    ///
    /// - Returns: What the rest waits for.
    package func flush() throws(Refusal) -> Wait {
        try monitor.withLock { state throws(Refusal) in try flush(&state) }
    }

    /// Drops what waits, and takes nothing more.
    package func close() {
        monitor.withLock { state in
            state.isClosed = true
            for entry in state.entries where entry.descriptor >= 0 { _ = OwnedDescriptor(entry.descriptor) }
            state.entries.removeAll()
        }
    }

    private func flush(_ state: inout State) throws(Refusal) -> Wait {
        while var entry = state.entries.first {
            let sent: Int
            if let ring = state.ring {
                if entry.descriptor >= 0 {
                    if case .waits(let wait) = try send([0][...], entry.descriptor) { return wait }
                    _ = OwnedDescriptor(entry.descriptor)
                    entry = Entry(bytes: entry.bytes, descriptor: -1)
                    state.entries[0] = entry
                }
                sent = try write(entry, to: ring)
                if sent == 0 { return .ring }
            } else {
                switch try send(entry.bytes[entry.offset...], entry.offset == 0 ? entry.descriptor : -1) {
                case .waits(let wait): return wait
                case .sent(let count): sent = count
                }
                if entry.offset == 0, entry.descriptor >= 0 { _ = OwnedDescriptor(entry.descriptor) }
            }
            entry.offset += sent
            state.size -= sent
            guard entry.offset == entry.bytes.count else {
                state.entries[0] = Entry(bytes: entry.bytes, descriptor: -1, offset: entry.offset)
                continue
            }
            state.entries.removeFirst()
            state.size -= Self.overhead
        }
        return .none
    }

    /// Writes what is left of a message to the ring, as far as there is room.
    ///
    /// - Returns: How many bytes; 0 if the runner will report room.
    private func write(_ entry: Entry, to ring: RingWriter) throws(Refusal) -> Int {
        do throws(ConnectorError) {
            while true {
                let count = try unsafe entry.bytes.withUnsafeBufferPointer { bytes throws(ConnectorError) -> Int in
                    let rest = unsafe UnsafeBufferPointer(rebasing: bytes[entry.offset...])
                    return unsafe try ring.write(UnsafeRawBufferPointer(rest))
                }
                if count > 0 { return count }
                guard try ring.askForRoom() else { return 0 }
            }
        } catch {
            throw .corrupt
        }
    }

    /// What became of bytes for the socket.
    private enum Sending {
        /// So many are sent, at least one.
        case sent(Int)
        case waits(Wait)
    }

    /// Sends bytes through the socket, as far as there is room.
    private func send(_ bytes: ArraySlice<UInt8>, _ descriptor: Int32) throws(Refusal) -> Sending {
        let count = unsafe bytes.withUnsafeBytes { bytes -> Int64 in
            guard let start = bytes.baseAddress else { return 0 }
            return unsafe runner_send(socket, start, UInt64(bytes.count), descriptor, 0)
        }
        if count > 0 { return .sent(Int(count)) }
        switch Int32(-count) {
        case 0, EAGAIN: return .waits(.socket)
        case ENOBUFS, ENOMEM, ETOOMANYREFS: return .waits(.system(Int32(-count)))
        // The seccomp filter of a container.
        case EPERM, EACCES, ENOSYS: throw .refused(Int32(-count))
        default: throw .broken
        }
    }
}
