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
    /// How long one wait for a terminal that accepts nothing lasts, in milliseconds.
    private static let patience: Int32 = 250

    /// Reads the available bytes, at most 4096; nil at the end of the file or on an error.
    ///
    /// Waits until there are some, unless the descriptor does not block: another process may have read what poll(2) announced.
    static func read(_ descriptor: Int32) -> [UInt8]? {
        var isEmpty = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            var result = 0
            repeat {
                result = unsafe readBytes(descriptor, buffer.baseAddress, buffer.count)
            } while result < 0 && errno == EINTR
            isEmpty = result < 0 && errno == EAGAIN
            count = max(0, result)
        }
        return bytes.isEmpty && !isEmpty ? nil : bytes
    }

    /// Writes all bytes to the terminal in full-screen mode, and waits until it accepts them.
    ///
    /// - Parameters:
    ///   - descriptor: The terminal's descriptor, which does not block, for waiting until it is writable.
    ///   - givesUp: Whether to wait no longer; asked several times a second while the terminal accepts nothing.
    /// - Returns: False if it gave up, or on an error, such as a closed terminal.
    static func write(_ bytes: [UInt8], to descriptor: Int32, unless givesUp: () -> Bool) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = TerminalGuard.write(rest)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                guard !givesUp() else { return false }
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&waiting, 1, patience)
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
