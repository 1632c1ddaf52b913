// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A path, an argument or a variable as the system has it: any bytes but NUL.
///
/// Only UTF-8 becomes a text. `String(cString:)` would replace every other byte, so that a path led to another file, and an argument
/// said something else.
package struct SystemText: Sendable, Hashable {
    /// The bytes, as the system has them.
    package let bytes: [UInt8]
    /// The text; nil if the bytes are not UTF-8.
    package let text: String?
    /// The text for people, in which `\xNN` stands for each byte that is not UTF-8.
    package let shown: String

    /// Takes bytes, without a NUL at their end.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        text = String(validating: bytes, as: UTF8.self)
        shown = text ?? Self.escaped(bytes)
    }

    /// Takes a text.
    package init(_ text: String) {
        bytes = Array(text.utf8)
        self.text = text
        shown = text
    }

    /// Takes a text as C has it.
    package init(cString text: UnsafePointer<CChar>) {
        unsafe self.init(Array(UnsafeRawBufferPointer(start: text, count: strlen(text))))
    }

    private static func escaped(_ bytes: [UInt8]) -> String {
        var shown = ""
        var rest = bytes[...]
        while let byte = rest.first {
            let length = (1...4).first { String(validating: rest.prefix($0), as: UTF8.self) != nil }
            if let length {
                shown += String(decoding: rest.prefix(length), as: UTF8.self)
            } else {
                shown += "\\x\(byte.hexadecimal())"
            }
            rest = rest.dropFirst(length ?? 1)
        }
        return shown
    }
}
