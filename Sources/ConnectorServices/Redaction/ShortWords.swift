// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Finds secrets of up to 3 bytes that are not adjacent to a letter or digit.
struct ShortWords: Sendable {
    /// The most bytes of such a secret.
    static let longest = 3

    /// Each secret as a number: its folded bytes, with its length above them.
    private var keys: Set<UInt32> = []

    /// Whether there are no such secrets.
    var isEmpty: Bool { keys.isEmpty }

    /// Adds a secret of 1 to 3 bytes.
    mutating func insert(_ secret: [UInt8]) {
        keys.insert(Self.key(secret[...]))
    }

    /// Calls `hit` with the range of every secret that is a whole word.
    func search(_ text: [UInt8], _ hit: (Range<Int>) -> Void) {
        guard !keys.isEmpty else { return }
        for end in text.indices where end + 1 == text.count || !text[end + 1].isLetterOrDigit {
            for start in max(0, end + 1 - Self.longest)...end where start == 0 || !text[start - 1].isLetterOrDigit {
                if keys.contains(Self.key(text[start...end])) { hit(start..<(end + 1)) }
            }
        }
    }

    private static func key(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1.foldedForSecrets) } | UInt32(bytes.count) << 24
    }
}

extension UInt8 {
    /// The byte that represents all equivalent ones: letters in lower case, and a space for `+`, which forms use.
    var foldedForSecrets: UInt8 {
        switch self {
        case UInt8(ascii: "+"): UInt8(ascii: " ")
        default: lowercased
        }
    }
}
