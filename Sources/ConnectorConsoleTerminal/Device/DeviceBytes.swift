// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Reads and writes the terminal, retrying after EINTR.
enum DeviceBytes {
    /// Reads the available bytes, at most 4096, and blocks until there are some; nil at the end of the file or on an error.
    static func read(_ descriptor: Int32) -> [UInt8]? {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            var result = 0
            repeat {
                result = unsafe readBytes(descriptor, buffer.baseAddress, buffer.count)
            } while result < 0 && errno == EINTR
            count = max(0, result)
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Writes all bytes to the terminal in full-screen mode, and blocks until it accepts them.
    ///
    /// - Parameter descriptor: The terminal's descriptor, for waiting until it is writable.
    /// - Returns: False on an error, such as a closed terminal.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = TerminalGuard.write(rest)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&waiting, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}

/// The system call, which the method of the same name would shadow.
private func readBytes(_ descriptor: Int32, _ start: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(descriptor, start, count)
}
