// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A line of text being edited, with a cursor.
struct LineEditor: Sendable, Hashable {
    private var characters: [Character] = []
    /// The length of the text in UTF-8, in bytes.
    private var byteCount = 0
    /// How many characters precede the cursor.
    private(set) var cursor = 0

    /// The maximum number of bytes in UTF-8; characters beyond it are ignored.
    static let limit = TerminalInput.pasteLimit

    /// The text.
    var text: String { String(characters) }

    /// The text before the cursor, and the text after it.
    var halves: (before: String, after: String) {
        (String(characters[..<cursor]), String(characters[cursor...]))
    }

    /// Creates an editor with a text and the cursor at its end.
    init(_ text: String = "") {
        insert(text)
    }

    /// Inserts a text at the cursor; line breaks and tabs become spaces, which are equivalent in JSON.
    ///
    /// - Returns: Whether there was room for all of it.
    @discardableResult
    mutating func insert(_ text: some StringProtocol) -> Bool {
        var room = Self.limit - byteCount
        let new = text.map { $0.isNewline || $0 == "\t" ? " " : $0 }.prefix { character in
            room -= character.utf8.count
            return room >= 0
        }
        byteCount += new.reduce(0) { $0 + $1.utf8.count }
        characters.insert(contentsOf: new, at: cursor)
        cursor += new.count
        return room >= 0
    }

    /// Handles a key.
    ///
    /// - Returns: Whether the key was handled.
    mutating func handle(_ key: TerminalInput.Key) -> Bool {
        switch key {
        case .character(let character): insert(String(character))
        case .left, .control("b"): cursor = max(0, cursor - 1)
        case .right, .control("f"): cursor = min(characters.count, cursor + 1)
        case .home, .control("a"): cursor = 0
        case .end, .control("e"): cursor = characters.count
        case .backspace: remove(from: max(0, cursor - 1))
        case .delete, .control("d"): remove(to: min(characters.count, cursor + 1))
        case .control("u"): remove(from: 0)
        case .control("k"): remove(to: characters.count)
        case .control("w"):
            let blank = characters[..<cursor].lastIndex { $0 != " " } ?? 0
            remove(from: characters[..<blank].lastIndex(of: " ").map { $0 + 1 } ?? 0)
        default: return false
        }
        return true
    }

    private mutating func remove(from start: Int) {
        remove(start..<cursor)
        cursor = start
    }

    private mutating func remove(to end: Int) { remove(cursor..<end) }

    private mutating func remove(_ range: Range<Int>) {
        byteCount -= characters[range].reduce(0) { $0 + $1.utf8.count }
        characters.removeSubrange(range)
    }
}
