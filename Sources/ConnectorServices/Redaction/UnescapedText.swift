// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A text with its escapes decoded, and the position of each byte in the original.
///
/// One pass decodes every ``EscapeSequence``, in any mixture. Other bytes stay unchanged.
struct UnescapedText: Sendable {
    /// The decoded bytes.
    private(set) var bytes: [UInt8] = []
    /// For each byte, the index of its escape in the original; as the last element, the original's length.
    private(set) var starts: [Int] = []
    /// Whether the original contains an escape.
    private(set) var isChanged = false

    /// Decodes every escape once, so that `%2541` becomes `%41`.
    init(_ text: [UInt8]) {
        guard text.contains(where: EscapeSequence.isStart) else {
            bytes = text
            return
        }
        bytes.reserveCapacity(text.count)
        starts.reserveCapacity(text.count + 1)
        var index = 0
        while index < text.count {
            if let escape = EscapeSequence(in: text, at: index) {
                isChanged = true
                escape.append(to: &bytes)
                starts += repeatElement(index, count: bytes.count - starts.count)
                index += escape.length
            } else {
                bytes.append(text[index])
                starts.append(index)
                index += 1
            }
        }
        starts.append(text.count)
    }

    /// Maps a range of the decoded bytes to the original.
    func original(_ range: Range<Int>) -> Range<Int> {
        guard isChanged, !range.isEmpty else { return range }
        // The bytes of one character share an escape, which ends at the next different start.
        let last = starts[range.upperBound - 1]
        var next = range.upperBound
        while next < bytes.count, starts[next] == last { next += 1 }
        return starts[range.lowerBound]..<starts[next]
    }
}
