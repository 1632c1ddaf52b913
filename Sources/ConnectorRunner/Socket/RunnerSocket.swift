// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
package import ConnectorBase
package import ConnectorIsolation
internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The runner's end of the socket: any thread writes, and ``RunnerMessages`` reads.
package final class RunnerSocket: Sendable {
    private let socket: Int32
    /// Held while a message is written, which blocks while the host does not read.
    private let writing = Monitor<Void>(())

    /// Serves a socket.
    package init(_ socket: Int32) {
        self.socket = socket
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    }

    /// Sends a message. One that cannot be sent has no reader: the process is about to end.
    package func send(_ kind: MessageKind, instance: UInt32, _ message: MessageWriter) {
        let frame = FrameHeader.frame(kind, instance: instance, message.bytes)
        writing.withLock { _ in
            var offset = 0
            while offset < frame.count {
                let count = unsafe frame.withUnsafeBytes { bytes -> Int64 in
                    guard let start = bytes.baseAddress else { return 0 }
                    return unsafe runner_send(socket, start + offset, UInt64(bytes.count - offset), -1, 1)
                }
                guard count > 0 else { return }
                offset += Int(count)
            }
        }
    }
}

/// The messages that arrive at the runner, for the one thread that takes them.
package struct RunnerMessages: ~Copyable {
    private let socket: Int32
    private var assembler = FrameAssembler()
    private static let chunk = 64 << 10

    /// Reads from a socket.
    package init(_ socket: Int32) {
        self.socket = socket
    }

    /// Awaits the next message; nil at the end.
    package mutating func next() throws(ConnectorError) -> Frame? {
        while true {
            if let frame = try assembler.next() { return frame }
            var descriptor: Int32 = -1
            let buffer = UnsafeMutableRawPointer.allocate(byteCount: Self.chunk, alignment: 16)
            defer { unsafe buffer.deallocate() }
            let count = unsafe runner_receive(socket, buffer, UInt64(Self.chunk), &descriptor, 1)
            guard count > 0 else { return nil }
            let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: Int(count))
            try unsafe assembler.add(bytes, descriptor >= 0 ? OwnedDescriptor(descriptor) : nil)
        }
    }
}
