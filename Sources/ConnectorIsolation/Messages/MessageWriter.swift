// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Puts a message together: fixed-width little-endian numbers, and bytes after their count.
package struct MessageWriter: Sendable {
    /// The message so far.
    package private(set) var bytes: [UInt8] = []

    /// Creates an empty message.
    package init() {}

    /// Appends an integer.
    package mutating func put<Integer: FixedWidthInteger & BitwiseCopyable>(_ value: Integer) {
        var value = value.littleEndian
        unsafe withUnsafeBytes(of: &value) { unsafe bytes.append(contentsOf: $0) }
    }

    /// Appends a Boolean.
    package mutating func put(_ value: Bool) { bytes.append(value ? 1 : 0) }

    /// Appends bytes after their count.
    package mutating func put(_ value: [UInt8]) {
        put(UInt32(clamping: value.count))
        bytes += value
    }

    /// Appends memory after its size.
    package mutating func put(_ value: UnsafeRawBufferPointer) {
        put(UInt32(clamping: value.count))
        unsafe bytes.append(contentsOf: value)
    }

    /// Appends a text after its count of bytes.
    package mutating func put(_ value: String) { put(Array(value.utf8)) }

    /// Appends whether there is a value, and then the value.
    package mutating func put<Value>(_ value: Value?, _ put: (inout MessageWriter, Value) -> Void) {
        self.put(value != nil)
        if let value { put(&self, value) }
    }

    /// Appends a count, and then the elements.
    package mutating func put<Element>(_ values: [Element], _ put: (inout MessageWriter, Element) -> Void) {
        self.put(UInt32(clamping: values.count))
        for value in values { put(&self, value) }
    }
}
