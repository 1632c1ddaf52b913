// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Finds the position of a value in a JSON text by reading the text again.
///
/// Only errors need positions, so parsing does not pay for them. The text must have parsed successfully; otherwise the
/// position is its start.
package struct JSONLocator {
    /// The part of a member to locate.
    package enum Part: Sendable {
        /// Its name, for an unknown or duplicate member.
        case name
        /// Its value.
        case value
    }

    private let text: [UInt8]
    private var index = 0

    private init(_ text: [UInt8]) {
        self.text = text
    }

    /// The position of the value at a path, or of the deepest existing value on the way.
    package static func position(
        of path: JSONPath,
        _ part: Part = .value,
        in text: [UInt8],
        file: String = ""
    ) -> FilePosition {
        var locator = JSONLocator(text)
        return FilePosition(file: file, offset: locator.offset(of: path, part), in: text)
    }

    private mutating func offset(of path: JSONPath, _ part: Part) -> Int {
        skipSpace()
        var found = index
        for (number, step) in path.steps.enumerated() {
            let wantsName = part == .name && number == path.steps.count - 1
            guard let offset = descend(step, wantsName: wantsName) else { return found }
            found = offset
        }
        return found
    }

    /// Moves from the start of a container to the start of the step's value.
    private mutating func descend(_ step: JSONPath.Step, wantsName: Bool) -> Int? {
        guard let open = peek, open == UInt8(ascii: "{") || open == UInt8(ascii: "[") else { return nil }
        index += 1
        var count = 0
        while true {
            skipSpace()
            guard let byte = peek, byte != UInt8(ascii: "}"), byte != UInt8(ascii: "]") else { return nil }
            let nameStart = index
            var matches = false
            if open == UInt8(ascii: "{") {
                skipString()
                if case .name(let name) = step {
                    matches = (try? JSONValue(parsing: Array(text[nameStart..<min(index, text.count)])))?.string == name
                }
                skipSpace()
                index += 1
                skipSpace()
            } else if case .index(let wanted) = step {
                matches = wanted == count
            }
            if matches { return wantsName ? nameStart : index }
            skipValue()
            skipSpace()
            guard peek == UInt8(ascii: ",") else { return nil }
            index += 1
            count += 1
        }
    }

    private mutating func skipValue() {
        var depth = 0
        repeat {
            guard let byte = peek else { return }
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                index += 1
            case UInt8(ascii: "\""): skipString()
            default:
                if depth == 0 {
                    while let next = peek, !",}] \n\r\t".utf8.contains(next) { index += 1 }
                } else {
                    index += 1
                }
            }
        } while depth > 0
    }

    private mutating func skipString() {
        index += 1
        while let byte = peek, byte != UInt8(ascii: "\"") { index += byte == UInt8(ascii: "\\") ? 2 : 1 }
        index += 1
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private var peek: UInt8? { index < text.count ? text[index] : nil }
}
