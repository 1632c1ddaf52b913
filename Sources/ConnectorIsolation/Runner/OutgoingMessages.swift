// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
internal import ConnectorPlatform
internal import DequeModule

/// What the host sends to a runner: at once if the socket has room, else as soon as it has. No sender ever waits.
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
    }

    /// Sends to a socket, which somebody else closes.
    package init(_ socket: Int32) {
        self.socket = socket
    }

    /// Sends a message, or queues it.
    ///
    /// - Parameter descriptor: A descriptor to go with it, which stays the caller's; -1 for none.
    /// - Returns: The message's number, from 1, and whether any of it waits for room.
    package func send(_ bytes: [UInt8], _ descriptor: Int32) throws(Refusal) -> (number: UInt64, waits: Bool) {
        try monitor.withLock { state throws(Refusal) in
            guard !state.isClosed else { throw .closed }
            guard state.size + bytes.count <= Self.limit || state.entries.isEmpty else { throw .full }
            // The queue needs a descriptor of its own.
            let copy = descriptor >= 0 ? OwnedDescriptor.duplicate(descriptor) : -1
            guard copy >= 0 || descriptor < 0 else { throw .full }
            state.count += 1
            state.size += bytes.count
            state.entries.append(Entry(bytes: bytes, descriptor: copy))
            if state.entries.count == 1 { flush(&state) }
            return (state.count, !state.entries.isEmpty)
        }
    }

    /// Sends what waits, as far as there is room.
    ///
    /// - Returns: Whether more waits.
    package func flush() -> Bool {
        monitor.withLock { state in
            flush(&state)
            return !state.entries.isEmpty
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

    private func flush(_ state: inout State) {
        while var entry = state.entries.first {
            let sent = unsafe entry.bytes.withUnsafeBytes { bytes -> Int64 in
                guard let start = bytes.baseAddress else { return 0 }
                return unsafe runner_send(
                    socket,
                    start + entry.offset,
                    UInt64(bytes.count - entry.offset),
                    entry.offset == 0 ? entry.descriptor : -1,
                    0
                )
            }
            // A runner that has ended is noticed by the thread that reads.
            guard sent > 0 else { return }
            if entry.offset == 0, entry.descriptor >= 0 { _ = OwnedDescriptor(entry.descriptor) }
            entry.offset += Int(sent)
            state.size -= Int(sent)
            guard entry.offset == entry.bytes.count else {
                state.entries[0] = Entry(bytes: entry.bytes, descriptor: -1, offset: entry.offset)
                return
            }
            state.entries.removeFirst()
        }
    }
}
