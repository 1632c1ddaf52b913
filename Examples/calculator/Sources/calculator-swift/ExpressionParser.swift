// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit

/// Reads an expression of numbers, `+`, `-`, `*`, `/` and parentheses, from left to right.
struct ExpressionParser {
    private let text: [UInt8]
    private var index = 0
    private var depth = 0
    /// How deep parentheses and signs may nest, so that no expression exhausts the stack.
    private static let depthLimit = 100

    init(_ expression: String) {
        text = Array(expression.utf8)
    }

    /// The value of the whole expression.
    mutating func value() throws(PluginError) -> Double {
        let value = try sum()
        guard next == nil else { throw unexpected() }
        guard value.isFinite else { throw invalid("the value is too large") }
        return value
    }

    private mutating func sum() throws(PluginError) -> Double {
        var value = try product()
        while let sign = take("+-") { value += sign == UInt8(ascii: "+") ? try product() : -(try product()) }
        return value
    }

    private mutating func product() throws(PluginError) -> Double {
        var value = try factor()
        while let sign = take("*/") {
            let other = try factor()
            guard sign == UInt8(ascii: "*") || other != 0 else { throw invalid("division by zero") }
            value = sign == UInt8(ascii: "*") ? value * other : value / other
        }
        return value
    }

    private mutating func factor() throws(PluginError) -> Double {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw invalid("the expression is too deep") }
        if take("-") != nil { return -(try factor()) }
        guard take("(") != nil else { return try number() }
        let value = try sum()
        guard take(")") != nil else { throw unexpected() }
        return value
    }

    private mutating func number() throws(PluginError) -> Double {
        guard let first = next, first.isDigitOrPoint else { throw unexpected() }
        let start = index
        while index < text.count, text[index].isDigitOrPoint { index += 1 }
        let digits = String(decoding: text[start..<index], as: UTF8.self)
        guard let value = Double(digits) else { throw invalid("\"\(digits.prefix(20))\" is not a number") }
        return value
    }

    /// The next byte that is not a space; nil at the end.
    private var next: UInt8? {
        mutating get {
            while index < text.count, text[index] == UInt8(ascii: " ") { index += 1 }
            return index < text.count ? text[index] : nil
        }
    }

    /// Takes the next byte if it is one of these.
    private mutating func take(_ bytes: StaticString) -> UInt8? {
        guard let byte = next, "\(bytes)".utf8.contains(byte) else { return nil }
        index += 1
        return byte
    }

    private func invalid(_ message: String) -> PluginError { PluginError(.invalid, message, domain: "calculator") }

    private mutating func unexpected() -> PluginError {
        guard next != nil else { return invalid("the expression ends early") }
        let rest = String(decoding: text[index...].prefix(20), as: UTF8.self)
        return invalid("\"\(rest)\" was not expected")
    }
}

extension UInt8 {
    fileprivate var isDigitOrPoint: Bool { (0x30...0x39).contains(self) || self == 0x2E }
}
