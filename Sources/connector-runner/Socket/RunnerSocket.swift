// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
internal import ConnectorBase
internal import ConnectorIsolation
internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The runner's end of the channel to its host: any thread writes, and ``RunnerMessages`` reads.
final class RunnerSocket: Sendable {
    private let socket: Int32
    /// The ring, if there is one; locked while a message is written, which blocks while the host does not read.
    private let writing = Monitor<RingWriter?>(nil)

    /// Serves a socket.
    init(_ socket: Int32) {
        self.socket = socket
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    }

    /// Writes to a ring from now on. The socket still reports the end of the host.
    func use(_ ring: RingWriter) {
        writing.withLock { $0 = ring }
    }

    /// Sends a message. One that is too large for the host is dropped; requests that expect an answer were refused before. If the ring
    /// holds an impossible position, a plugin has written over the shared memory: nothing would wake the host, so the process ends.
    func send(_ kind: MessageKind, instance: UInt32, _ message: MessageWriter) {
        guard message.bytes.count <= FrameHeader.limit else { return }
        let frame = FrameHeader.frame(kind, instance: instance, message.bytes)
        writing.withLock { ring in
            unsafe frame.withUnsafeBytes { bytes in
                guard let ring else { return unsafe send(bytes) }
                do throws(ConnectorError) {
                    unsafe try ring.writeAll(bytes)
                } catch {
                    RunnerFailure.end(because: error)
                }
            }
        }
    }

    private func send(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        var offset = 0
        while offset < bytes.count {
            let count = unsafe runner_send(socket, start + offset, UInt64(bytes.count - offset), -1, 1)
            guard count > 0 else { return }
            offset += Int(count)
        }
    }
}

/// The messages that arrive at the runner, for the one thread that takes them.
@safe
struct RunnerMessages: ~Copyable {
    private let socket: Int32
    /// A descriptor that reports arrivals; -1 while a thread may block in the socket itself.
    private var watch: Int32 = -1
    private var ring: RingReader?
    private var assembler = FrameAssembler()
    private let buffer: UnsafeMutableRawBufferPointer

    /// Reads from a socket.
    init(_ socket: Int32) {
        self.socket = socket
        unsafe buffer = .allocate(byteCount: 64 << 10, alignment: 16)
    }

    deinit { unsafe buffer.deallocate() }

    /// Reads from a ring from now on. Descriptors still come through the socket.
    mutating func use(_ ring: RingReader) {
        self.ring = ring
    }

    /// Reads from the socket from now on, and does not keep it open while waiting.
    mutating func useSocket() {
        watch = runner_watch(socket, 1)
    }

    /// Awaits the next message; nil at the end.
    mutating func next() throws(ConnectorError) -> Frame? {
        while true {
            if assembler.awaitsDescriptor {
                // Without a ring, it comes with the first byte of its message.
                guard ring != nil else { throw Self.hasNoRoom }
                guard try receive(keeps: false) else { return nil }
            } else if let frame = try assembler.next() {
                return frame
            } else if let ring {
                let count = unsafe try ring.read(into: buffer)
                unsafe try assembler.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]), nil)
                if count == 0 { try ring.wait() }
            } else {
                guard try receive(keeps: true) else { return nil }
            }
        }
    }

    /// Linux drops a descriptor for which there is no room, and macOS says so.
    private static var hasNoRoom: ConnectorError {
        ConnectorError(.unavailable, "there is no room for a descriptor that the host sends: this process has too many")
    }

    /// Takes what comes through the socket.
    ///
    /// - Parameter keeps: Whether its bytes are messages; with a ring, each byte only carries a descriptor.
    /// - Returns: False at the end.
    private mutating func receive(keeps: Bool) throws(ConnectorError) -> Bool {
        guard let start = unsafe buffer.baseAddress else { return false }
        var descriptor: Int32 = -1
        var count: Int64
        repeat {
            if watch >= 0 { guard runner_await(watch) == 0 else { return false } }
            let waits: Int32 = watch < 0 ? 1 : 0
            count = unsafe runner_receive(socket, start, keeps ? UInt64(buffer.count) : 1, &descriptor, waits)
        } while count == -Int64(EAGAIN)
        guard count != -Int64(EMFILE) else { throw Self.hasNoRoom }
        guard count > 0 else { return false }
        // The next one would be taken for it, and belongs to another message.
        guard keeps || descriptor >= 0 else { throw Self.hasNoRoom }
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<(keeps ? Int(count) : 0)])
        unsafe try assembler.add(bytes, descriptor >= 0 ? OwnedDescriptor(descriptor) : nil)
        return true
    }
}
