// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Testing

@testable import ConnectorServices

/// The automaton hides exactly the bytes that its rules name, compared with a search that tries every piece everywhere.
@Suite struct SecretAutomatonTests {
    @Test(arguments: 0..<16 as Range<UInt64>)
    func `it hides exactly what a search for every piece of every secret hides`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<25 {
            let secrets = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                letters(4...Int.random(in: 4...40, using: &random), &random)
            }
            let automaton = SecretAutomaton(secrets)
            var text: [UInt8] = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let secret = secrets.randomElement(using: &random) ?? []
                let start = Int.random(in: 0..<secret.count, using: &random)
                let end = Int.random(in: start..<secret.count, using: &random)
                let gaps = [letters(0...3, &random), Array("…".utf8), Array("...".utf8), []]
                text += gaps.randomElement(using: &random) ?? []
                text += secret[start...end]
            }
            var hidden = Array(repeating: false, count: text.count)
            automaton.search(text) { range in
                for index in range { hidden[index] = true }
            }
            #expect(hidden == expected(text, secrets), "seed \(seed): \(String(decoding: text, as: UTF8.self))")
        }
    }

    private func letters(_ count: ClosedRange<Int>, _ random: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: count, using: &random)).map { _ in "ab".utf8.randomElement(using: &random) ?? 0 }
    }

    /// The bytes to hide, by the rules of ``SecretPiece`` alone.
    private func expected(_ text: [UInt8], _ secrets: [[UInt8]]) -> [Bool] {
        var hidden = Array(repeating: false, count: text.count)
        for start in text.indices {
            for end in (start + 1)...text.count {
                let piece = text[start..<end]
                let isHidden = secrets.contains { secret in
                    let leastAtEnd = Int(SecretPiece.leastAtEnd(of: secret.count))
                    let isAtMark = TextCut.beginsMark(at: end, of: text)
                    let isBehindMark = TextCut.endsMark(at: start - 1, of: text)
                    let isFront = secret.starts(with: piece)
                    let isTail = secret.suffix(piece.count) == piece
                    return piece.count >= Int(SecretPiece.leastAnywhere(of: secret.count)) && contains(secret, piece)
                        || isFront && isAtMark && piece.count >= SecretPiece.leastAtMark
                        || isFront && end == text.count && piece.count >= leastAtEnd
                        || isTail && isBehindMark && piece.count >= SecretPiece.leastAtMark
                        || isTail && isNearCut(start, text) && piece.count >= leastAtEnd
                        || isAtMark && isBehindMark && piece.count >= SecretPiece.leastBetweenMarks
                            && contains(secret, piece)
                }
                if isHidden { for index in start..<end { hidden[index] = true } }
            }
        }
        return hidden
    }

    private func contains(_ secret: [UInt8], _ piece: ArraySlice<UInt8>) -> Bool {
        secret.count >= piece.count
            && (0...(secret.count - piece.count)).contains { secret[$0...].starts(with: piece) }
    }

    /// Whether at most the letters that an escape may end with stand between a cut and an index.
    private func isNearCut(_ index: Int, _ text: [UInt8]) -> Bool {
        for start in stride(from: index, through: max(0, index - TextCut.longestRemnant), by: -1) {
            if start == 0 || TextCut.endsMark(at: start - 1, of: text) { return true }
            guard TextCut.isRemnant(text[start - 1]) else { return false }
        }
        return false
    }
}
