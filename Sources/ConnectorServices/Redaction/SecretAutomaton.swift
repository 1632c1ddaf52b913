// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Finds secrets, and the pieces that a cut left of them, in a text.
///
/// It is the suffix automaton of all secrets: after each byte it knows the longest piece of any secret that ends there.
/// ``SecretPiece`` says which pieces are long enough to hide. Secrets of 1 to 3 bytes are found as whole words only;
/// anywhere else they would take ordinary words apart.
///
/// Building takes time and memory linear in the secrets' bytes; a search takes time linear in the text's bytes, whatever
/// the secrets are.
struct SecretAutomaton: Sendable {
    /// A set of pieces that end at the same places of the secrets. The shorter ones are ends of the longest one.
    struct State: Sendable {
        /// The index of its first edge.
        var firstEdge: Int32 = 0
        /// The state of the longest end that stands at more places.
        var link: Int32 = 0
        /// The length of its longest piece.
        var length: Int32 = 0
        /// The fewest bytes of a piece to hide wherever it stands.
        var leastAnywhere = UInt8.max
        /// The fewest bytes to hide at the beginning of a text if the piece ends a secret; 0 if it ends none.
        var leastTail: UInt8 = 0
        /// Whether the longest piece begins a secret, and how many bytes of it to hide at the end of a text; 0 if not.
        var leastFront: UInt8 = 0
        /// How many bytes of a shorter piece to hide wherever it stands; 0 for none.
        var shorter: Int32 = 0
        /// How many bytes of a shorter piece, which begins a secret, to hide where the text ends; 0 for none.
        var shorterAtEnd: Int32 = 0
        /// How many bytes of a shorter piece, which begins a secret, to hide where a mark shows a cut; 0 for none.
        var shorterAtCut: Int32 = 0
    }

    let states: [State]
    /// The targets of all edges, those of a state together, in the order of their classes.
    let targets: [Int32]
    /// For each state, `words` words with a bit for each class that an edge leads on with.
    let bitmaps: [UInt64]
    /// How many words the bitmap of a state has.
    let words: Int
    /// The class of each byte, which letters in either case share; -1 for a byte that is in no secret.
    let classes: [Int16]
    /// The secrets of up to 3 bytes.
    let shortWords: ShortWords

    /// Whether there is nothing to find.
    var isEmpty: Bool { shortWords.isEmpty && states.count == 1 }

    /// A position in the automaton: a piece that ends where the search stands.
    struct Position {
        /// The state of the piece.
        var state = 0
        /// How many bytes the piece has.
        var length = 0
    }

    /// The state that one more byte leads to; nil if no secret has such a piece.
    private func target(of state: Int, _ byteClass: Int) -> Int? {
        let bit = UInt64(1) << UInt64(byteClass & 63)
        let last = state * words + byteClass >> 6
        guard bitmaps[last] & bit != 0 else { return nil }
        var rank = (bitmaps[last] & (bit - 1)).nonzeroBitCount
        for word in (state * words)..<last { rank += bitmaps[word].nonzeroBitCount }
        return Int(targets[Int(states[state].firstEdge) + rank])
    }

    /// Moves behind one more byte, to the longest piece that ends there.
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
    ///   - marks: Whether marks that are not part of the text show that it was cut.
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

    /// How many bytes before a cut begin a secret, if they are enough to hide.
    private func front(_ position: Position, isMarked: Bool) -> Int {
        let state = states[position.state]
        let isFront = position.length == Int(state.length) && state.leastFront > 0
        let least = isMarked ? SecretPiece.leastAtMark : Int(state.leastFront)
        if isFront, position.length >= least { return position.length }
        return Int(isMarked ? state.shorterAtCut : state.shorterAtEnd)
    }

    /// Hides the end of a secret behind a cut.
    ///
    /// The cut may have left the last letters of an escape before it. Longer ends than those looked for here are hidden
    /// wherever they stand.
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
