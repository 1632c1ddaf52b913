// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// Scalars as words, as two processes on one machine exchange them.
extension ValueType {
    /// The size of a scalar in bytes.
    private var size: Int {
        switch self {
        case .i8, .u8: 1
        case .i16, .u16: 2
        case .i32, .u32, .f32: 4
        case .i64, .u64, .f64, .handle: 8
        case .string, .bytes, .bytes32, .json, .cstring: 0
        }
    }

    /// Reads a scalar into the first bytes of a word.
    package func word(at address: UnsafeRawPointer) -> UInt64 {
        if size == 8 { return unsafe address.loadUnaligned(as: UInt64.self) }
        var word: UInt64 = 0
        unsafe withUnsafeMutableBytes(of: &word) { word in
            unsafe word.copyMemory(from: UnsafeRawBufferPointer(start: address, count: size))
        }
        return word
    }

    /// Writes the first bytes of a word as a scalar.
    package func store(word: UInt64, at address: UnsafeMutableRawPointer) {
        if size == 8 { return unsafe address.storeBytes(of: word, as: UInt64.self) }
        unsafe withUnsafeBytes(of: word) { word in
            unsafe UnsafeMutableRawBufferPointer(start: address, count: size)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: word[..<size]))
        }
    }
}
