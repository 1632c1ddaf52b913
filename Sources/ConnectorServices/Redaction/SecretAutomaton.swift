// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Finds secrets, and pieces of secrets that were cut, in a text.
///
/// This is the suffix automaton of all secrets: after each byte it knows the longest piece of any secret that ends
/// there. ``SecretPiece`` says which pieces are long enough to hide. Secrets of 1 to 3 bytes are found as whole words
/// only; inside words they would match too much.
///
/// Building takes time and memory linear in the secrets' bytes; a search takes time linear in the text's bytes, whatever
/// the secrets are.
struct SecretAutomaton: Sendable {
    /// A set of pieces that end at the same positions of the secrets. The shorter ones are suffixes of the longest.
    struct State: Sendable {
        /// The index of the state's first edge.
        var firstEdge: Int32 = 0
        /// The suffix link: the state of the longest suffix that occurs at more positions.
        var link: Int32 = 0
        /// The length of the state's longest piece, in bytes.
        var length: Int32 = 0
        /// The fewest bytes of a piece to hide anywhere.
        var leastAnywhere = UInt8.max
        /// The fewest bytes to hide at the start of a text if the piece ends a secret; 0 if it ends none.
        var leastTail: UInt8 = 0
        /// The fewest bytes to hide at the end of a text if the longest piece begins a secret; 0 if it begins none.
        var leastFront: UInt8 = 0
        /// How many bytes of a shorter piece to hide anywhere; 0 for none.
        var shorter: Int32 = 0
        /// How many bytes of a shorter piece that begins a secret to hide at the end of the text; 0 for none.
        var shorterAtEnd: Int32 = 0
        /// How many bytes of a shorter piece that begins a secret to hide before a cut mark; 0 for none.
        var shorterAtCut: Int32 = 0
    }

    let states: [State]
    /// The targets of all edges, grouped by state and ordered by class.
    let targets: [Int32]
    /// For each state, `words` words with a bit for each class that has an edge.
    let bitmaps: [UInt64]
    /// How many words the bitmap of a state has.
    let words: Int
    /// The class of each byte, the same for both cases of a letter; -1 for a byte that occurs in no secret.
    let classes: [Int16]
    /// The secrets of up to 3 bytes.
    let shortWords: ShortWords

    /// Whether there is nothing to find.
    var isEmpty: Bool { shortWords.isEmpty && states.count == 1 }

    /// A position in the automaton: the longest piece that ends at the current byte.
    struct Position {
        /// The state of the piece.
        var state = 0
        /// The length of the piece, in bytes.
        var length = 0
    }

    /// The state after one more byte; nil if no secret contains such a piece.
    private func target(of state: Int, _ byteClass: Int) -> Int? {
        let bit = UInt64(1) << UInt64(byteClass & 63)
        let last = state * words + byteClass >> 6
        guard bitmaps[last] & bit != 0 else { return nil }
        var rank = (bitmaps[last] & (bit - 1)).nonzeroBitCount
        for word in (state * words)..<last { rank += bitmaps[word].nonzeroBitCount }
        return Int(targets[Int(states[state].firstEdge) + rank])
    }

    /// Consumes one byte, and moves to the longest piece that ends with it.
    private func advance(_ position: inout Position, _ byte: UInt8) {
        let byteClass = Int(classes[Int(byte)])
        guard byteClass >= 0 else {
            position = Position()
            return
        }
        while true {
            if let next = target(of: position.state, byteClass) {
                position.state = next
                position.length += 1
                return
            }
            guard position.state != 0 else { return }
            position.state = Int(states[position.state].link)
            position.length = Int(states[position.state].length)
        }
    }
}

extension SecretAutomaton {
    /// Finds every secret, and every piece to hide.
    ///
    /// - Parameters:
    ///   - findsWords: Whether to find secrets of up to 3 bytes.
    ///   - marks: Whether cut marks outside the text adjoin it.
    ///   - hit: Called with every range to hide; ranges may overlap.
    func search(
        _ text: [UInt8],
        findsWords: Bool = true,
        marks: TextCut.Marks = TextCut.Marks(),
        _ hit: (Range<Int>) -> Void
    ) {
        if findsWords { shortWords.search(text, hit) }
        guard states.count > 1 else { return }
        hideTail(of: text, from: 0, isMarked: marks.before, hit)
        var position = Position()
        for (index, byte) in text.enumerated() {
            if position.length > ShortWords.longest, let cut = TextCut.before(index, in: text) {
                hide(front(position, isMarked: cut == .marked), before: index, hit)
            }
            if TextCut.endsMark(at: index, of: text) { hideTail(of: text, from: index + 1, isMarked: true, hit) }
            advance(&position, byte)
            guard position.length > ShortWords.longest else { continue }
            let state = states[position.state]
            let isLong = position.length >= Int(state.leastAnywhere)
            hide(isLong ? position.length : Int(state.shorter), before: index + 1, hit)
        }
        hide(front(position, isMarked: marks.after), before: text.count, hit)
    }

    private func hide(_ count: Int, before end: Int, _ hit: (Range<Int>) -> Void) {
        if count > 0 { hit((end - count)..<end) }
    }

    /// How many bytes before a cut to hide as the beginning of a secret; 0 if too few.
    private func front(_ position: Position, isMarked: Bool) -> Int {
        let state = states[position.state]
        let isFront = position.length == Int(state.length) && state.leastFront > 0
        let least = isMarked ? SecretPiece.leastAtMark : Int(state.leastFront)
        if isFront, position.length >= least { return position.length }
        return Int(isMarked ? state.shorterAtCut : state.shorterAtEnd)
    }

    /// Hides the end of a secret after a cut.
    ///
    /// The remnant of an escape may precede it. Longer ends than those searched for here are hidden anywhere.
    private func hideTail(of text: [UInt8], from start: Int, isMarked: Bool, _ hit: (Range<Int>) -> Void) {
        var begin = start
        while true {
            let count = tail(of: text, from: begin, isMarked: isMarked && begin == start)
            if count > 0 { hit(begin..<(begin + count)) }
            guard begin - start < TextCut.longestRemnant, begin < text.count, TextCut.isRemnant(text[begin]) else {
                return
            }
            begin += 1
        }
    }

    private func tail(of text: [UInt8], from begin: Int, isMarked: Bool) -> Int {
        var state = 0
        var count = 0
        for index in begin..<min(text.count, begin + SecretPiece.mostVisible) {
            let byteClass = Int(classes[Int(text[index])])
            guard byteClass >= 0, let next = target(of: state, byteClass) else { break }
            state = next
            let length = index + 1 - begin
            let isTail = states[state].leastTail > 0
            let least = isMarked ? SecretPiece.leastAtMark : Int(states[state].leastTail)
            let isMiddle =
                isMarked && length >= SecretPiece.leastBetweenMarks && TextCut.beginsMark(at: index + 1, of: text)
            if isTail && length >= least || isMiddle { count = length }
        }
        return count
    }
}
