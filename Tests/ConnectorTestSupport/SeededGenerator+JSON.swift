// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension SeededGenerator {
    /// A text with some bytes changed, dropped, doubled or replaced by ones with a meaning.
    package mutating func mutate(_ text: [UInt8]) -> [UInt8] {
        let telling = Array("{}[]()\":,\\/\u{0}\u{1f} -+.eE0129ntfu?>é".utf8) + [0x80, 0xC0, 0xED, 0xF4, 0xFF]
        var text = text
        for _ in 0..<Int.random(in: 1...6, using: &self) where !text.isEmpty {
            let index = Int.random(in: 0..<text.count, using: &self)
            switch Int.random(in: 0..<6, using: &self) {
            case 0: text[index] = telling.randomElement(using: &self) ?? 0
            case 1: text.remove(at: index)
            case 2: text.insert(telling.randomElement(using: &self) ?? 0, at: index)
            case 3: text.removeSubrange(index..<min(text.count, index + Int.random(in: 0...20, using: &self)))
            case 4: text.insert(contentsOf: text[index..<min(text.count, index + 30)], at: index)
            default: text[index] = UInt8.random(in: 0...255, using: &self)
            }
        }
        return text
    }

    /// Any value, of bounded depth.
    package mutating func value(depth: Int = 0) -> JSONValue {
        switch Int.random(in: 0..<(depth < 4 ? 9 : 6), using: &self) {
        case 0: return .null
        case 1: return .bool(.random(using: &self))
        case 2: return .integer(.random(in: .min ... .max, using: &self))
        case 3: return .integer(.random(in: -9...9, using: &self))
        case 4:
            let number = Double(bitPattern: next())
            return number.isFinite ? .number(number) : 0.5
        case 5: return .string(text())
        case 6: return .array((0..<Int.random(in: 0..<5, using: &self)).map { _ in value(depth: depth + 1) })
        default:
            return .object(
                JSONObject((0..<Int.random(in: 0..<5, using: &self)).map { _ in (text(), value(depth: depth + 1)) })
            )
        }
    }

    /// Some characters from anywhere in Unicode.
    private mutating func text() -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0..<8, using: &self) {
            let bound: UInt32 = Bool.random(using: &self) ? 0x80 : 0x11_0000
            guard let scalar = Unicode.Scalar(UInt32.random(in: 0..<bound, using: &self)) else { continue }
            text.unicodeScalars.append(scalar)
        }
        return text
    }
}
