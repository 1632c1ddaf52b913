// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The place in a C or C++ source at which `CONNECTOR_MANIFEST` holds the text of a manifest.
///
/// The preprocessor joins the manifest's lines, so a position in the embedded text says little. The source is found
/// through the debugging information of `-g`, and used only if it holds the same manifest, byte for byte apart from
/// blanks and comments. So neither a source that has changed nor one that a hostile image names leads to a wrong place.
struct ManifestSource {
    private let file: String
    private let source: [UInt8]
    /// The offset in the source of each column of the manifest, and of its end.
    private let offsets: [Int]

    private static let macro = Array("CONNECTOR_MANIFEST".utf8)
    /// The most bytes of sources to read.
    private static let sizeLimit = 16 << 20
    /// The most uses of the macro to examine in a source.
    private static let useLimit = 8

    /// Finds the source of a manifest; nil if there is none that still holds it.
    ///
    /// Opens the files that the image names, and blocks meanwhile.
    init?(of text: [UInt8], in image: ELFImage) {
        var budget = Self.sizeLimit
        for file in CodeLocations(image).sourceFiles() where file.hasPrefix("/") {
            guard let bytes = try? ImageBytes(path: file, limit: budget),
                let source = bytes.copy(at: 0, count: bytes.count)
            else { continue }
            budget -= source.count
            guard let offsets = Self.offsets(of: text, in: source) else { continue }
            self.file = file
            self.source = source
            self.offsets = offsets
            return
        }
        return nil
    }

    /// The position in the source of a position in the manifest, whose text is a single line.
    func position(of position: FilePosition) -> FilePosition? {
        guard position.line == 1, offsets.indices.contains(position.column - 1) else { return nil }
        return FilePosition(file: file, offset: offsets[position.column - 1], in: source)
    }

    private static func offsets(of text: [UInt8], in source: [UInt8]) -> [Int]? {
        var start = 0
        for _ in 0..<useLimit {
            guard let name = source[start...].firstRange(of: macro) else { break }
            start = name.upperBound
            let open = skipBlanks(source, start)
            guard open < source.count, source[open] == UInt8(ascii: "(") else { continue }
            if let offsets = offsets(of: text, in: source, from: open + 1) { return offsets }
        }
        return nil
    }

    /// Matches the manifest with the source from an offset: blanks and comments may differ outside strings, nothing else may.
    private static func offsets(of text: [UInt8], in source: [UInt8], from start: Int) -> [Int]? {
        var offsets: [Int] = []
        var place = start
        var isInString = false
        var isEscaped = false
        for byte in text {
            if !isInString { place = skipBlanks(source, place) }
            if byte & 0xC0 != 0x80 { offsets.append(place) }
            if !isInString, byte.isWhitespace { continue }
            guard place < source.count, source[place] == byte else { return nil }
            place += 1
            if isEscaped {
                isEscaped = false
            } else if isInString, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString.toggle()
            }
        }
        offsets.append(place)
        return offsets
    }

    /// The offset of the next byte that is neither blank nor part of a comment.
    private static func skipBlanks(_ source: [UInt8], _ start: Int) -> Int {
        var place = start
        while place < source.count {
            let rest = source[place...]
            if source[place].isWhitespace {
                place += 1
            } else if rest.starts(with: "/*".utf8) {
                place = source[(place + 2)...].firstRange(of: "*/".utf8)?.upperBound ?? source.count
            } else if rest.starts(with: "//".utf8) {
                place = rest.firstIndex(of: UInt8(ascii: "\n")) ?? source.count
            } else {
                break
            }
        }
        return place
    }
}
