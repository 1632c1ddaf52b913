// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// One of the two streams that a command writes to.
enum StandardStream: Int32, Sendable {
    /// The answer, and nothing else.
    case output = 1
    /// Messages, logs and progress.
    case error = 2

    /// Whether a person is likely to be looking.
    var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Writes a whole text. A write error is ignored: no stream is left to report it on.
    func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe writeBytes(rawValue, buffer.baseAddress, buffer.count)
            }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno != EINTR {
                return
            }
        }
    }

    /// Writes a text and ends the line.
    func writeLine(_ text: String) { write(text + "\n") }
}

/// The system's function, apart from the method of the same name.
private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, start, count)
}
