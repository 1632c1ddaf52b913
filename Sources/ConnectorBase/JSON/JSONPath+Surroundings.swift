// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension JSONPath {
    /// The path of the value that encloses a position in a text that does not parse; nil if that is the root. It omits
    /// array indices.
    ///
    /// Names the field that contains a syntax error, so that the file's author need not count lines.
    package init?(around position: FilePosition, in text: [UInt8]) {
        var line = 1
        var column = 1
        var isEscaped = false
        var string: [UInt8]?
        var names: [String?] = []
        var last: String?
        for byte in text {
            if (line, column) >= (position.line, position.column) { break }
            if byte == UInt8(ascii: "\n") {
                (line, column) = (line + 1, 1)
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
            if let content = string {
                if byte == UInt8(ascii: "\""), !isEscaped {
                    last = String(decoding: content, as: UTF8.self)
                    string = nil
                } else {
                    string?.append(byte)
                }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): string = []
            case UInt8(ascii: ":"): if let name = last, !names.isEmpty { names[names.count - 1] = name }
            case UInt8(ascii: ","): if !names.isEmpty { names[names.count - 1] = nil }
            case UInt8(ascii: "{"), UInt8(ascii: "["): names.append(nil)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = names.popLast()
            default: break
            }
        }
        self.init()
        steps = names.compactMap { $0.map { .name($0) } }
        if steps.isEmpty { return nil }
    }
}
