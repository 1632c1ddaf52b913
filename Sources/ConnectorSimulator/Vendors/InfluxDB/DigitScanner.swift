// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads fixed-width numbers and separators from the front of a text.
struct DigitScanner {
    /// The unread text.
    private var rest: Substring.UTF8View

    /// Starts at the first byte of `text`.
    init(_ text: String) {
        rest = Substring(text).utf8
    }

    /// Whether the whole text was read.
    var isAtEnd: Bool { rest.isEmpty }

    /// Reads exactly `digits` decimal digits, or nothing.
    mutating func number(_ digits: Int) -> Int? {
        let prefix = rest.prefix(digits)
        guard prefix.count == digits, prefix.allSatisfy(\.isDigit) else { return nil }
        rest = rest.dropFirst(digits)
        return prefix.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Reads one or more digits after a decimal point, and scales them to `digits` places.
    mutating func fraction(digits: Int) -> Int? {
        let prefix = rest.prefix(while: \.isDigit)
        guard !prefix.isEmpty else { return nil }
        rest = rest.dropFirst(prefix.count)
        var value = prefix.prefix(digits).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        for _ in 0..<max(0, digits - prefix.count) { value *= 10 }
        return value
    }

    /// Reads `character` if it is next.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Reads `Z`, `+hh:mm`, `-hhmm` or nothing (UTC), in seconds east of Greenwich.
    mutating func offset() -> Int? {
        if isAtEnd || skip("Z") || skip("z") { return 0 }
        let sign: Int
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hours = number(2), hours < 24 else { return nil }
        _ = skip(":")
        let minutes = number(2) ?? 0
        return minutes < 60 ? sign * (hours * 3600 + minutes * 60) : nil
    }
}
