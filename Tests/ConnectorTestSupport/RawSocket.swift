// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A connection to a server on this machine that sends any bytes, and blocks its thread.
package struct RawSocket: ~Copyable, Sendable {
    private let descriptor: Int32

    /// Connects to a port of 127.0.0.1.
    package init(port: Int) throws {
        descriptor = Self.socket(AF_INET)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard descriptor >= 0, status == 0 else { throw ConnectorError(.failed, "no connection: errno \(errno)") }
    }

    /// Takes over a connected socket.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    private static func socket(_ family: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
            Darwin.socket(family, SOCK_STREAM, 0)
        #endif
    }

    /// Raises the process's limit of descriptors to what the system allows.
    package static func raiseLimit() {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard unsafe getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 16_384)
        _ = unsafe setrlimit(resource, &limit)
    }

    /// Sends bytes, until the other end takes no more: it may have closed the connection.
    package func send(_ bytes: some Sequence<UInt8>) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                #if canImport(Glibc)
                    unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                #else
                    unsafe Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
                #endif
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends what the kernel has room for at once.
    ///
    /// - Returns: How many bytes that were.
    package func offer(_ bytes: [UInt8]) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            #if canImport(Glibc)
                max(
                    0,
                    unsafe Glibc.send(
                        descriptor,
                        bytes.baseAddress,
                        bytes.count,
                        Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
                    )
                )
            #else
                max(0, unsafe Darwin.send(descriptor, bytes.baseAddress, bytes.count, MSG_DONTWAIT))
            #endif
        }
    }

    /// Tells the other end that nothing more is sent.
    package func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads until the other end has sent everything, or the text has come.
    package func read(until end: String? = nil) -> String {
        var read: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            read += buffer[..<count]
            if let end, String(decoding: read, as: UTF8.self).contains(end) { break }
        }
        return String(decoding: read, as: UTF8.self)
    }

    deinit { close(descriptor) }

    /// Keeps a connection open where a value that is copied is needed.
    package final class Box: Sendable {
        /// The connection.
        package let value: RawSocket

        /// Takes over a connection.
        package init(_ value: consuming RawSocket) {
            self.value = value
        }
    }
}
