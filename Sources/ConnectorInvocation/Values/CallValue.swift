// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// An argument or result of an operation, as passed between host and plugin.
package enum CallValue: Sendable, Hashable {
    /// No value, for an optional parameter.
    case none
    /// A value of type `i8` to `i64`.
    case signed(Int64)
    /// A value of type `u8` to `u64`.
    case unsigned(UInt64)
    /// A value of type `f32` or `f64`.
    case floating(Double)
    /// The bytes of a `string`, `bytes`, `json` or `cstring`.
    case bytes([UInt8])
    /// An address returned by a library.
    case handle(UInt)
}

extension CallValue {
    /// The maximum size of a text or buffer in a call, in bytes: 64 MiB.
    package static let sizeLimit = 64 << 20

    /// Converts a JSON value to a type.
    ///
    /// In JSON, `bytes` are `{"base64": "…"}`, or a string for its UTF-8 bytes. A `u64` may also be a string of digits, because
    /// the integers of ``JSONValue`` end before 2⁶³.
    ///
    /// - Throws: `invalid` or `too-large` if the value does not fit the type.
    package init(_ value: JSONValue, as type: ValueType, handles: (any HandleNumbering)?) throws(ConnectorError) {
        switch type {
        case .i8, .i16, .i32, .i64:
            let bounds = type.signedBounds
            guard let integer = try Self.signed(value, type), bounds.contains(integer) else {
                throw Self.outside(value, type, "\(bounds.lowerBound) to \(bounds.upperBound)")
            }
            self = .signed(integer)
        case .u8, .u16, .u32, .u64:
            let bound = type.unsignedBound
            guard let integer = try Self.unsigned(value, type), integer <= bound else {
                throw Self.outside(value, type, "0 to \(bound)")
            }
            self = .unsigned(integer)
        case .f32, .f64:
            guard let number = value.number else { throw Self.mismatch(value, type) }
            guard number.isFinite else { throw Self.outside(value, type, "any finite number") }
            if type == .f32, !Float(number).isFinite {
                throw Self.outside(value, type, "what 32 bits can represent")
            }
            self = .floating(number)
        case .string:
            guard let string = value.string else { throw Self.mismatch(value, type) }
            self = try Self.text(string)
        case .cstring:
            guard let string = value.string else { throw Self.mismatch(value, type) }
            guard !string.utf8.contains(0) else {
                throw ConnectorError(.invalid, "a cstring must not contain NUL")
            }
            self = try Self.text(string)
        case .bytes, .bytes32:
            if let string = value.string {
                self = try Self.text(string)
            } else if let text = value["base64"]?.string {
                guard let bytes = Base64.decode(text) else {
                    throw ConnectorError(
                        .invalid,
                        "expected \(type), but \"\(text.excerpt)\" is not Base64 of the standard alphabet with padding"
                    )
                }
                self = try Self.checked(bytes)
            } else {
                throw Self.mismatch(value, type)
            }
        case .json:
            try value.checkReadable(named: "the value")
            self = try Self.checked(value.utf8())
        case .handle:
            guard let number = value["handle"]?.integer, let address = handles?.address(number) else {
                throw ConnectorError(
                    .invalid,
                    "\(value) is not a handle of this gate",
                    fix: Self.handleAdvice
                )
            }
            self = .handle(address)
        }
    }

    /// Takes a number as a type that can represent it.
    ///
    /// - Returns: Nil for any other value, type or range: ``init(_:as:handles:)`` converts the value as JSON, or says what is wrong.
    package init?(number value: any JSONRepresentable, as type: ValueType) {
        let integer: Int64
        switch value {
        case let value as Int: integer = Int64(value)
        case let value as Int64: integer = value
        case let value as Double:
            guard type == .f64, value.isFinite else { return nil }
            self = .floating(value)
            return
        default: return nil
        }
        switch type {
        case .i8, .i16, .i32, .i64:
            guard type.signedBounds.contains(integer) else { return nil }
            self = .signed(integer)
        case .u8, .u16, .u32, .u64:
            guard let number = UInt64(exactly: integer), number <= type.unsignedBound else { return nil }
            self = .unsigned(number)
        case .f32, .f64: self = .floating(Double(integer))
        case .string, .cstring, .bytes, .bytes32, .json, .handle: return nil
        }
    }

    /// Converts bytes to a text or buffer type.
    ///
    /// - Throws: `invalid` or `too-large` if the bytes do not fit the type.
    package init(_ bytes: [UInt8], as type: ValueType) throws(ConnectorError) {
        switch type {
        case .string, .cstring:
            guard let string = String(validating: bytes, as: UTF8.self) else {
                throw ConnectorError(.invalid, "the bytes are not UTF-8")
            }
            try self.init(.string(string), as: type, handles: nil)
        case .json: try self.init(JSONValue(parsing: bytes), as: type, handles: nil)
        case .bytes, .bytes32: self = try Self.checked(bytes)
        default: throw ConnectorError(.invalid, "expected \(type), got bytes")
        }
    }

    /// What to pass in place of a handle that the gate does not know.
    static let handleAdvice = "pass a handle that an earlier call returned, such as {\"handle\": 1}"

    private static func text(_ string: String) throws(ConnectorError) -> CallValue {
        guard string.utf8.count <= sizeLimit else { throw tooLarge(string.utf8.count) }
        return .bytes(Array(string.utf8))
    }

    private static func checked(_ bytes: [UInt8]) throws(ConnectorError) -> CallValue {
        guard bytes.count <= sizeLimit else { throw tooLarge(bytes.count) }
        return .bytes(bytes)
    }

    private static func tooLarge(_ count: Int) -> ConnectorError {
        ConnectorError(.tooLarge, "\(count) bytes are more than \(sizeLimit >> 20) MiB")
    }

    /// A signed integer; nil if the number does not fit in 64 bits.
    private static func signed(_ value: JSONValue, _ type: ValueType) throws(ConnectorError) -> Int64? {
        if case .integer(let integer) = value { return integer }
        guard let number = value.number, number == number.rounded() else { throw mismatch(value, type) }
        if type == .i64, number.magnitude >= inexact, number >= -0x1p63, number < 0x1p63 {
            throw damaged(value, fix: "write it without a point or an exponent")
        }
        return Int64(exactly: number)
    }

    /// An unsigned integer; nil if the number is negative or does not fit in 64 bits.
    private static func unsigned(_ value: JSONValue, _ type: ValueType) throws(ConnectorError) -> UInt64? {
        if case .integer(let integer) = value { return UInt64(exactly: integer) }
        if type == .u64, let text = value.string, !text.isEmpty, text.utf8.allSatisfy(\.isDigit) {
            return UInt64(text)
        }
        guard let number = value.number, number == number.rounded() else { throw mismatch(value, type) }
        if type == .u64, number >= inexact, number < 0x1p64 {
            throw damaged(value, fix: "write it as a string of digits")
        }
        return UInt64(exactly: number)
    }

    /// The least number that a neighbor may have been rounded to: JSON's numbers have 53 bits unless they are an ``JSONValue/integer(_:)``.
    private static let inexact = 0x1p53

    private static func damaged(_ value: JSONValue, fix: String) -> ConnectorError {
        ConnectorError(
            .invalid,
            """
            the JSON number \(value) may have lost digits: integers are exact up to \(Int64.max), and numbers with a point or an exponent \
            up to \(Int64(inexact) - 1)
            """,
            fix: fix
        )
    }

    private static func mismatch(_ value: JSONValue, _ type: ValueType) -> ConnectorError {
        ConnectorError(.invalid, "expected \(type), got \(value.kind)")
    }

    private static func outside(_ value: JSONValue, _ type: ValueType, _ bounds: String) -> ConnectorError {
        // A number that JSON cannot write would be shown as null.
        let shown = if case .number(let number) = value { "\(number)" } else { value.description }
        return ConnectorError(.invalid, "\(shown) is outside the range of \(type), \(bounds)")
    }

    /// The value as JSON.
    ///
    /// - Throws: `misbehaved` if the plugin's bytes are invalid for the type.
    package func json(as type: ValueType, handles: (any HandleNumbering)?) throws(ConnectorError) -> JSONValue {
        switch (self, type) {
        case (.none, _): return .null
        case (.signed(let value), _): return .integer(value)
        case (.unsigned(let value), _):
            return Int64(exactly: value).map(JSONValue.integer) ?? .string("\(value)")
        case (.floating(let value), _):
            guard value.isFinite else {
                throw ConnectorError(.misbehaved, "the plugin returned \(value), which JSON cannot represent")
            }
            return .number(value)
        case (.handle(let address), _):
            return address == 0 ? .null : .object(["handle": .integer(handles?.number(address) ?? 0)])
        case (.bytes(let bytes), .json):
            guard !bytes.isEmpty else {
                throw ConnectorError(
                    .misbehaved,
                    "the plugin returned no bytes, but its signature declares a json result",
                    fix: "return JSON, such as null, or declare no result"
                )
            }
            do throws(ConnectorError) {
                return try JSONValue(parsing: bytes, file: "result", depthLimit: JSONParser.resultDepthLimit)
            } catch {
                throw ConnectorError(
                    .misbehaved,
                    "the plugin's result is not JSON: \(error.message)",
                    position: error.position
                )
            }
        case (.bytes(let bytes), .bytes), (.bytes(let bytes), .bytes32):
            return .object(["base64": .string(Base64.encode(bytes))])
        case (.bytes(let bytes), _):
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw ConnectorError(.misbehaved, "the plugin's result is not UTF-8")
            }
            return .string(text)
        }
    }
}

extension ValueType {
    /// The range of a signed integer type.
    fileprivate var signedBounds: ClosedRange<Int64> {
        switch self {
        case .i8: Int64(Int8.min)...Int64(Int8.max)
        case .i16: Int64(Int16.min)...Int64(Int16.max)
        case .i32: Int64(Int32.min)...Int64(Int32.max)
        default: Int64.min...Int64.max
        }
    }

    /// The maximum value of an unsigned integer type.
    fileprivate var unsignedBound: UInt64 {
        switch self {
        case .u8: UInt64(UInt8.max)
        case .u16: UInt64(UInt16.max)
        case .u32: UInt64(UInt32.max)
        default: UInt64.max
        }
    }
}
