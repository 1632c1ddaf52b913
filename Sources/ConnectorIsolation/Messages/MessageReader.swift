// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Takes a message apart. Nothing in it is trusted: each count is checked against what is left.
package struct MessageReader: Sendable {
    private let bytes: [UInt8]
    private var offset = 0

    /// Reads a message, which was copied from whoever sent it.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// How many bytes are left.
    package var rest: Int { bytes.count - offset }

    /// Takes an integer.
    package mutating func integer<Integer: FixedWidthInteger & BitwiseCopyable>(
        _ type: Integer.Type = Integer.self
    ) throws(ConnectorError) -> Integer {
        let size = MemoryLayout<Integer>.size
        guard rest >= size else { throw Self.malformed }
        defer { offset += size }
        return unsafe bytes.withUnsafeBytes { bytes in
            unsafe Integer(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Integer.self))
        }
    }

    /// Takes a Boolean.
    package mutating func bool() throws(ConnectorError) -> Bool { try integer(UInt8.self) != 0 }

    /// Takes bytes.
    package mutating func data() throws(ConnectorError) -> [UInt8] {
        let count = Int(try integer(UInt32.self))
        guard count <= rest else { throw Self.malformed }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    /// Takes a text; malformed UTF-8 is repaired.
    ///
    /// - Parameter limit: The most bytes to keep.
    package mutating func text(limit: Int = .max) throws(ConnectorError) -> String {
        String(decoding: try data().prefix(limit), as: UTF8.self)
    }

    /// Takes a value, if there is one.
    package mutating func optional<Value>(
        _ take: (inout MessageReader) throws(ConnectorError) -> Value
    ) throws(ConnectorError) -> Value? {
        try bool() ? try take(&self) : nil
    }

    /// Takes a list whose elements have at least one byte each.
    ///
    /// - Parameter limit: The most elements: each may take far more memory than its bytes in the message.
    package mutating func list<Element>(
        limit: Int,
        _ take: (inout MessageReader) throws(ConnectorError) -> Element
    ) throws(ConnectorError) -> [Element] {
        let count = Int(try integer(UInt32.self))
        guard count <= min(rest, limit) else { throw Self.malformed }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try take(&self)) }
        return elements
    }

    /// The error for a message that does not have the form of its kind.
    package static var malformed: ConnectorError {
        ConnectorError(.protocolViolation, "a message between host and runner is malformed")
    }
}
