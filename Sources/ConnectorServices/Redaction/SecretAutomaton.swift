// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Finds every secret in one pass over a text, in any letter case: the automaton of Aho and Corasick (1975).
///
/// Besides whole secrets it finds their beginnings, because whoever wrote the text may have cut it inside a secret:
///
/// - A secret of 1 to 3 bytes is found as a whole word only; anywhere else it would take ordinary words apart.
/// - The beginning of a longer secret is found wherever it has at least half of the secret's bytes, and 8.
/// - Where a text shows a cut (`…`, `...`, U+FFFD), 4 bytes of the beginning are enough; where it just ends, 8 bytes, or
///   three quarters of a secret that is shorter than that.
///
/// Building takes time and memory linear in the secrets' bytes; finding takes time linear in the text's bytes.
struct SecretAutomaton: Sendable {
    /// A beginning of a secret.
    private struct Node: Sendable {
        /// The last byte of the beginning.
        var byte: UInt8 = 0
        /// The lengths of the short secrets that end here: bit 0 for 1 byte, bit 1 for 2, bit 2 for 3.
        var shortLengths: UInt8 = 0
        /// The longest continuation of this beginning that the list starts with; 0 for none.
        var firstChild: Int32 = 0
        /// The next continuation of the same beginning; 0 for none.
        var nextSibling: Int32 = 0
        /// The longest proper end of this beginning that begins a secret, too.
        var failure: Int32 = 0
        /// How many bytes up to here to hide; 0 for none.
        var hidden: Int32 = 0
        /// How many bytes up to here to hide if the text ends here; 0 for none.
        var hiddenAtEnd: Int32 = 0
        /// How many bytes up to here to hide if the text is cut here; 0 for none.
        var hiddenAtCut: Int32 = 0
    }

    private var nodes = [Node()]
    /// The first nodes by their byte; 0 for none.
    private var roots = [Int32](repeating: 0, count: 256)
    /// The length of the shortest secret; nil without secrets.
    private(set) var shortest: Int?

    /// A secret that is longer is found as a part of a word, too.
    static let longestWord = 3

    /// Takes the secrets to find; empty ones are ignored, and repeated ones count once.
    init(_ secrets: [[UInt8]]) {
        for secret in secrets where !secret.isEmpty {
            insert(secret)
            shortest = min(shortest ?? .max, secret.count)
        }
        link()
    }

    private mutating func insert(_ secret: [UInt8]) {
        let least = Int32(clamping: min(secret.count, max(8, (secret.count + 1) / 2)))
        let leastAtEnd = Int32(clamping: min(8, (3 * secret.count + 3) / 4))
        var node = 0
        for (index, byte) in secret.enumerated() {
            node = child(of: node, Self.folded(byte))
            let depth = Int32(clamping: index + 1)
            guard secret.count > Self.longestWord else { continue }
            if depth >= least { nodes[node].hidden = depth }
            if depth >= leastAtEnd { nodes[node].hiddenAtEnd = depth }
            if depth > Self.longestWord { nodes[node].hiddenAtCut = depth }
        }
        if secret.count <= Self.longestWord { nodes[node].shortLengths |= 1 << (secret.count - 1) }
    }

    /// The node of a beginning with one more byte, made if there is none yet.
    private mutating func child(of node: Int, _ byte: UInt8) -> Int {
        if let found = find(byte, below: node) { return found }
        let made = Int32(clamping: nodes.count)
        nodes.append(Node(byte: byte))
        if node == 0 {
            roots[Int(byte)] = made
        } else {
            nodes[Int(made)].nextSibling = nodes[node].firstChild
            nodes[node].firstChild = made
        }
        return Int(made)
    }

    /// Links every beginning to its longest end, shorter beginnings first.
    private mutating func link() {
        var queue = roots.filter { $0 != 0 }.map(Int.init)
        var next = 0
        while next < queue.count {
            let node = queue[next]
            next += 1
            var child = Int(nodes[node].firstChild)
            while child != 0 {
                let failure = step(Int(nodes[node].failure), folded: nodes[child].byte)
                nodes[child].failure = Int32(clamping: failure)
                nodes[child].shortLengths |= nodes[failure].shortLengths
                if nodes[child].hidden == 0 { nodes[child].hidden = nodes[failure].hidden }
                if nodes[child].hiddenAtEnd == 0 { nodes[child].hiddenAtEnd = nodes[failure].hiddenAtEnd }
                if nodes[child].hiddenAtCut == 0 { nodes[child].hiddenAtCut = nodes[failure].hiddenAtCut }
                queue.append(child)
                child = Int(nodes[child].nextSibling)
            }
        }
    }

    private func find(_ byte: UInt8, below node: Int) -> Int? {
        guard node != 0 else { return roots[Int(byte)] == 0 ? nil : Int(roots[Int(byte)]) }
        var child = Int(nodes[node].firstChild)
        while child != 0 {
            if nodes[child].byte == byte { return child }
            child = Int(nodes[child].nextSibling)
        }
        return nil
    }

    private func step(_ node: Int, folded byte: UInt8) -> Int {
        var node = node
        while true {
            if let next = find(byte, below: node) { return next }
            guard node != 0 else { return 0 }
            node = Int(nodes[node].failure)
        }
    }

    /// One byte for all that count as equal: letters in either case, and `+`, which stands for a space in forms.
    private static func folded(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        case UInt8(ascii: "+"): UInt8(ascii: " ")
        default: byte
        }
    }
}

extension SecretAutomaton {
    /// Finds every secret, and every beginning to hide.
    ///
    /// - Parameters:
    ///   - findsWords: Whether to find secrets of up to 3 bytes.
    ///   - hit: Called with every range to hide; ranges may overlap.
    func search(_ text: [UInt8], findsWords: Bool = true, _ hit: (Range<Int>) -> Void) {
        var node = 0
        for (index, byte) in text.enumerated() {
            if node != 0, let cut = Self.cut(of: text, at: index) {
                hide(Int(cut == .shown ? nodes[node].hiddenAtCut : nodes[node].hiddenAtEnd), before: index, hit)
            }
            node = step(node, folded: Self.folded(byte))
            guard node != 0 else { continue }
            hide(Int(nodes[node].hidden), before: index + 1, hit)
            guard findsWords, nodes[node].shortLengths != 0 else { continue }
            for length in 1...Self.longestWord where nodes[node].shortLengths & 1 << (length - 1) != 0 {
                let range = (index + 1 - length)..<(index + 1)
                if Self.isWord(range, in: text) { hit(range) }
            }
        }
        hide(Int(nodes[node].hiddenAtEnd), before: text.count, hit)
    }

    private func hide(_ count: Int, before end: Int, _ hit: (Range<Int>) -> Void) {
        if count > 0 { hit((end - count)..<end) }
    }

    /// How a text stops at an index.
    private enum Cut {
        /// A mark shows that it was cut.
        case shown
        /// It ends inside an escape.
        case end
    }

    /// Whether the text stops here, or only the beginning of an escape follows before it does.
    private static func cut(of text: [UInt8], at index: Int) -> Cut? {
        if isCut(text, at: index) { return .shown }
        guard text[index] == UInt8(ascii: "%") || text[index] == UInt8(ascii: "\\") || text[index] == UInt8(ascii: "&")
        else { return nil }
        var end = index + 1
        while end < min(text.count, index + longestEscape) {
            if isCut(text, at: end) { return .shown }
            guard isLetterOrDigit(text[end]) || "#%\\{".utf8.contains(text[end]) else { return nil }
            end += 1
        }
        return end == text.count ? .end : nil
    }

    /// More bytes than the beginning of any escape has: `\ud83d\ude0`.
    private static let longestEscape = 12

    /// Whether a mark stands here with which programs show that they cut a text.
    private static func isCut(_ text: [UInt8], at index: Int) -> Bool {
        switch text[index] {
        case 0xE2: text[index...].starts(with: [0xE2, 0x80, 0xA6])
        case 0xEF: text[index...].starts(with: [0xEF, 0xBF, 0xBD])
        case UInt8(ascii: "."): text[index...].starts(with: [0x2E, 0x2E, 0x2E])
        default: false
        }
    }

    /// Whether no letter or digit stands beside a range.
    private static func isWord(_ range: Range<Int>, in text: [UInt8]) -> Bool {
        (range.lowerBound == 0 || !isLetterOrDigit(text[range.lowerBound - 1]))
            && (range.upperBound == text.count || !isLetterOrDigit(text[range.upperBound]))
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
