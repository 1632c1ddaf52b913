// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A type that crosses the ABI; the raw value is its name in a signature.
package enum ValueType: String, BitwiseCopyable, Sendable, CaseIterable, CustomStringConvertible {
    case i8, i16, i32, i64
    case u8, u16, u32, u64
    case f32, f64
    /// An opaque pointer that a library returns and later accepts again.
    case handle
    /// UTF-8 text, passed as pointer and length.
    case string
    /// Any bytes, passed as pointer and length.
    case bytes
    /// Like `bytes`, with a 32-bit length; for foreign libraries.
    case bytes32
    /// JSON text, passed as pointer and length.
    case json
    /// UTF-8 text that ends with NUL; for foreign libraries.
    case cstring

    /// The name in a signature.
    package var description: String { rawValue }

    /// The integers that may be negative.
    package static let signedIntegers: [ValueType] = [.i8, .i16, .i32, .i64]
    /// The integers that are never negative.
    package static let unsignedIntegers: [ValueType] = [.u8, .u16, .u32, .u64]

    /// Whether the value is passed as one number or pointer, without a length.
    package var isScalar: Bool {
        switch self {
        case .i8, .i16, .i32, .i64, .u8, .u16, .u32, .u64, .f32, .f64, .handle: true
        case .string, .bytes, .bytes32, .json, .cstring: false
        }
    }
}
