// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

@testable import ConnectorConsoleTerminal

/// A terminal that understands what the console sends, and notes everything else.
struct Terminal {
    let width: Int
    let height: Int
    /// The width that this terminal gives to characters on which terminals differ.
    let uncertain: Int
    /// What it did not understand.
    private(set) var unknown: [String] = []
    private var cells: [String]
    private var line = 0
    private var column = 0

    init(width: Int, height: Int, uncertain: Int = 2) {
        (self.width, self.height, self.uncertain) = (width, height, uncertain)
        cells = Array(repeating: " ", count: width * height)
    }

    subscript(line: Int, column: Int) -> String { cells[line * width + column] }

    /// The lines, without blanks at their ends.
    var lines: [String] {
        (0..<height).map { line in
            let text = cells[(line * width)..<((line + 1) * width)].joined()
            return String(text.reversed().drop { $0 == " " }.reversed())
        }
    }

    mutating func feed(_ bytes: [UInt8]) {
        var rest = String(decoding: bytes, as: UTF8.self)[...]
        while let character = rest.popFirst() {
            guard character == "\u{1B}" else {
                put(character)
                continue
            }
            let end = rest.dropFirst().firstIndex { ("@"..."~").contains($0) } ?? rest.startIndex
            let sequence = rest[...end]
            rest = rest[rest.index(after: end)...]
            act(sequence)
        }
    }

    private mutating func act(_ sequence: Substring) {
        let numbers = sequence.dropFirst().dropLast().split(separator: ";").map { Int($0) ?? 0 }
        switch sequence.last {
        case "H" where numbers.count == 2: (line, column) = (numbers[0] - 1, numbers[1] - 1)
        case "J" where numbers == [2]: cells = Array(repeating: " ", count: cells.count)
        case "m" where sequence.first == "[": break
        case "h" where sequence == "[?2026h", "l" where sequence == "[?2026l": break
        default: unknown.append(String(sequence))
        }
    }

    private mutating func put(_ character: Character) {
        if character.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }) {
            unknown.append("\(character.unicodeScalars.map(\.value))")
            return
        }
        let columns = CharacterWidth.isCertain(character) ? max(1, CharacterWidth.columns(of: character)) : uncertain
        for offset in 0..<columns where column + offset < width {
            cells[line * width + column + offset] = offset == 0 ? String(character) : ""
        }
        // It does not wrap at the margin.
        column = min(width - 1, column + columns)
    }
}
