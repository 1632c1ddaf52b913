// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Text in the form that the host's C functions borrow: never null, with its length in bytes.
struct BorrowedText {
    /// One byte longer than the text, so that an empty text has an address too.
    private let characters: [CChar]

    init(_ text: String) {
        self.init(Array(text.utf8))
    }

    init(_ bytes: [UInt8]) {
        characters = bytes.map { CChar(bitPattern: $0) } + [0]
    }

    /// Lends the text for the duration of a call.
    func withPointer<Answer>(_ body: (UnsafePointer<CChar>, UInt64) -> Answer) -> Answer {
        var last: CChar = 0
        return unsafe characters.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return unsafe body(&last, 0) }
            return unsafe body(start, UInt64(buffer.count - 1))
        }
    }
}
