// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// One unit of `.debug_line`: a program that yields the source line of each instruction (DWARF 2 to 5, chapter 6.2).
struct LineProgram {
    /// The source line of an instruction.
    struct Row {
        var address: UInt64 = 0
        var file: UInt64 = 1
        var line: Int64 = 1
    }

    /// The string sections that a unit refers to.
    struct Texts {
        /// `.debug_line_str`
        var lines: DebugBytes
        /// `.debug_str`
        var strings: DebugBytes
    }

    private var program: DebugBytes
    private let version: UInt64
    private let instructionLength: UInt64
    private let lineBase: Int64
    private let lineRange: UInt64
    private let operandCounts: [UInt64]
    /// The names, read only when needed: they may all be the same long text.
    private var directories: [DebugBytes] = []
    private var files: [(name: DebugBytes, directory: UInt64)] = []

    /// The most files to read of a unit; real units have far fewer.
    private static let fileLimit = 65_536

    /// Reads the header of the next unit, and moves past the unit; nil for an unknown format.
    init?(_ section: inout DebugBytes, _ texts: Texts) {
        var offsetSize = 4
        var length = section.number(4)
        if length == 0xFFFF_FFFF {
            offsetSize = 8
            length = section.number(8)
        }
        var unit = section.part(length)
        version = unit.number(2)
        guard (2...5).contains(version) else { return nil }
        if version == 5 { unit.skip(2) }
        let headerLength = unit.number(offsetSize)
        program = unit
        program.skip(headerLength)
        instructionLength = unit.number(1)
        if version >= 4 { unit.skip(1) }
        unit.skip(1)
        lineBase = Int64(Int8(truncatingIfNeeded: unit.number(1)))
        lineRange = unit.number(1)
        let opcodeBase = unit.number(1)
        operandCounts = (0..<max(opcodeBase, 1) - 1).map { _ in unit.number(1) }
        guard lineRange > 0, opcodeBase > 0, !unit.isExhausted, !program.isExhausted else { return nil }
        guard version == 5 ? readEntries(&unit, texts, offsetSize) : readLists(&unit) else { return nil }
    }

    // MARK: Files

    /// Reads the lists of versions 2 to 4, each terminated by an empty name.
    private mutating func readLists(_ unit: inout DebugBytes) -> Bool {
        directories = [DebugBytes([])]
        files = [(DebugBytes([]), 0)]
        while unit.remaining > 0, directories.count < Self.fileLimit {
            let name = unit.skipText()
            if name.text.isEmpty { break }
            directories.append(name)
        }
        while unit.remaining > 0, files.count < Self.fileLimit {
            let name = unit.skipText()
            if name.text.isEmpty { break }
            files.append((name, unit.unsigned()))
            _ = (unit.unsigned(), unit.unsigned())
        }
        return !unit.isExhausted
    }

    /// Reads the tables of version 5, which describe their own format.
    private mutating func readEntries(_ unit: inout DebugBytes, _ texts: Texts, _ offsetSize: Int) -> Bool {
        guard let directories = Self.entries(&unit, texts, offsetSize),
            let files = Self.entries(&unit, texts, offsetSize)
        else { return false }
        self.directories = directories.map(\.name)
        self.files = files
        return true
    }

    private static func entries(
        _ unit: inout DebugBytes,
        _ texts: Texts,
        _ offsetSize: Int
    ) -> [(name: DebugBytes, directory: UInt64)]? {
        let format = (0..<unit.number(1)).map { _ in (content: unit.unsigned(), form: unit.unsigned()) }
        let count = unit.unsigned()
        guard count <= UInt64(fileLimit), count == 0 || !format.isEmpty else { return nil }
        var entries: [(name: DebugBytes, directory: UInt64)] = []
        for _ in 0..<count {
            var entry = (name: DebugBytes([]), directory: UInt64(0))
            for (content, form) in format {
                guard let value = value(form, &unit, texts, offsetSize) else { return nil }
                switch (content, value) {
                case (1, .text(let text)): entry.name = text
                case (2, .number(let number)): entry.directory = number
                default: break
                }
            }
            guard !unit.isExhausted else { return nil }
            entries.append(entry)
        }
        return entries
    }

    private enum Value {
        case text(DebugBytes)
        case number(UInt64)
        case other
    }

    /// Reads a value in one of the forms that compilers use here; nil for any other form.
    private static func value(_ form: UInt64, _ unit: inout DebugBytes, _ texts: Texts, _ offsetSize: Int) -> Value? {
        switch form {
        case 0x08: return .text(unit.skipText())
        case 0x1F, 0x0E:
            let place = unit.number(offsetSize)
            return .text((form == 0x1F ? texts.lines : texts.strings).moved(to: place))
        case 0x0B: return .number(unit.number(1))
        case 0x05: return .number(unit.number(2))
        case 0x06: return .number(unit.number(4))
        case 0x07: return .number(unit.number(8))
        case 0x0F: return .number(unit.unsigned())
        case 0x1E: unit.skip(16)
        case 0x09: unit.skip(unit.unsigned())
        case 0x0A: unit.skip(unit.number(1))
        default: return nil
        }
        return .other
    }

    /// The paths of the unit's files; nil for a file without a name.
    var paths: some Sequence<String?> { files.indices.lazy.map(path(ofFile:)) }

    /// The path of a row's file; nil if the unit has no file of that number.
    func path(of row: Row) -> String? {
        Int(exactly: row.file).flatMap(path(ofFile:))
    }

    private func path(ofFile index: Int) -> String? {
        guard files.indices.contains(index) else { return nil }
        let name = files[index].name.text
        guard !name.isEmpty else { return nil }
        guard !name.hasPrefix("/"), let place = Int(exactly: files[index].directory),
            directories.indices.contains(place)
        else { return name }
        let directory = directories[place].text
        return directory.isEmpty ? name : "\(directory)/\(name)"
    }

    // MARK: Lines

    /// Runs the program, and passes each row with the address at which its instructions end.
    mutating func run(_ body: (_ row: Row, _ end: UInt64) -> Void) {
        var row = Row()
        var last: Row?
        func append() {
            if let last, last.address < row.address { body(last, row.address) }
            last = row
        }
        while program.remaining > 0, !program.isExhausted {
            let opcode = program.number(1)
            switch opcode {
            case let special where special > operandCounts.count:
                let step = special - UInt64(operandCounts.count) - 1
                row.address &+= instructionLength &* (step / lineRange)
                row.line &+= lineBase &+ Int64(step % lineRange)
                append()
            case 0:
                var operands = program.part(program.unsigned())
                switch operands.number(1) {
                case 1:
                    append()
                    (row, last) = (Row(), nil)
                case 2: row.address = operands.number(min(operands.remaining, 8))
                default: break
                }
            case 1: append()
            case 2: row.address &+= instructionLength &* program.unsigned()
            case 3: row.line &+= program.signed()
            case 4: row.file = program.unsigned()
            case 8:
                let step = 255 - UInt64(operandCounts.count) - 1
                row.address &+= instructionLength &* (step / lineRange)
            case 9: row.address &+= program.number(2)
            default: for _ in 0..<operandCounts[Int(opcode) - 1] { _ = program.unsigned() }
            }
        }
    }
}
