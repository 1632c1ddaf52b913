// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The character classes of ASCII. Bytes of 128 and above belong to none.
extension UInt8 {
    /// Whether this is a digit, `0` to `9`.
    @inlinable
    package var isDigit: Bool { 0x30...0x39 ~= self }

    /// Whether this is a letter, `a` to `z`.
    @inlinable
    package var isLowercaseLetter: Bool { 0x61...0x7A ~= self }

    /// Whether this is a letter, `A` to `Z`.
    @inlinable
    package var isUppercaseLetter: Bool { 0x41...0x5A ~= self }

    /// Whether this is a letter in either case.
    @inlinable
    package var isLetter: Bool { 0x61...0x7A ~= self | 0x20 }

    /// Whether this is a letter in either case, or a digit.
    @inlinable
    package var isLetterOrDigit: Bool { isLetter || isDigit }

    /// Whether this is a letter, a digit or `_`, as in the identifiers of most languages.
    @inlinable
    package var isWordCharacter: Bool { isLetterOrDigit || self == 0x5F }

    /// Whether this is a hexadecimal digit in lower case, `0` to `9` or `a` to `f`.
    @inlinable
    package var isLowercaseHexDigit: Bool { isDigit || 0x61...0x66 ~= self }

    /// Whether this is a space or a tab.
    @inlinable
    package var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// Whether this is a space or a visible character: no control character.
    @inlinable
    package var isPrintable: Bool { 0x20...0x7E ~= self }

    /// Whether this is a space, a tab, a line feed or a carriage return.
    @inlinable
    package var isWhitespace: Bool { isBlank || self == 0x0A || self == 0x0D }

    /// The value of a hexadecimal digit in either case; nil for any other byte.
    @inlinable
    package var hexDigitValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x61...0x66: self - 0x61 + 10
        case 0x41...0x46: self - 0x41 + 10
        default: nil
        }
    }

    /// The hexadecimal digit of a value below 16.
    @inlinable
    package init(hexDigit value: UInt8, uppercase: Bool = false) {
        self = value < 10 ? 0x30 + value : (uppercase ? 0x37 : 0x57) + value
    }

    /// The lower-case letter; any other byte unchanged.
    @inlinable
    package var lowercased: UInt8 { isUppercaseLetter ? self | 0x20 : self }
}

extension StringProtocol {
    /// Whether this is an identifier of C: a letter or `_`, followed by letters, digits and `_`.
    package var isCIdentifier: Bool {
        guard let first = utf8.first, !first.isDigit else { return false }
        return utf8.allSatisfy(\.isWordCharacter)
    }
}
