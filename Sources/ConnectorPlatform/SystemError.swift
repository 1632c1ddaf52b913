// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An `errno` with its text.
package struct SystemError: Error, Sendable, CustomStringConvertible {
    /// As errno(3) names them.
    package var number: Int32

    /// Names an `errno`; without an argument, the one of the call just made.
    package init(_ number: Int32 = errno) {
        self.number = number
    }

    /// What strerror(3) says, and the number.
    package var description: String {
        var buffer = [CChar](repeating: 0, count: 128)
        _ = unsafe strerror_r(number, &buffer, buffer.count - 1)
        let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "\(text) (errno \(number))"
    }
}
