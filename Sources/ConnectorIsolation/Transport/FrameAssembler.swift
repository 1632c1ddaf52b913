// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Puts messages together from what arrives in pieces.
package struct FrameAssembler: ~Copyable, Sendable {
    private var buffer: [UInt8] = []
    private var start = 0
    private var descriptors: [Int32] = []

    /// The most capacity that the buffer keeps after a large message, in bytes.
    private static let keptCapacity = 1 << 20

    /// The most descriptors that wait for their messages.
    private static let descriptorLimit = 16

    /// Creates an assembler that has nothing yet.
    package init() {}

    deinit {
        for descriptor in descriptors { _ = OwnedDescriptor(descriptor) }
    }

    /// Adds what has arrived.
    package mutating func add(_ bytes: UnsafeRawBufferPointer, _ descriptor: consuming OwnedDescriptor?)
        throws(ConnectorError)
    {
        unsafe buffer.append(contentsOf: bytes)
        guard let descriptor = descriptor.take() else { return }
        guard descriptors.count < Self.descriptorLimit else { throw MessageReader.malformed }
        descriptors.append(descriptor.take())
    }

    /// Whether the next message needs a descriptor that has not arrived.
    package var awaitsDescriptor: Bool {
        guard descriptors.isEmpty, buffer.count - start >= FrameHeader.size else { return false }
        let header = try? FrameHeader(Array(buffer[start..<start + FrameHeader.size]))
        return header?.hasDescriptor == true
    }

    /// Takes the next message; nil if it is incomplete.
    ///
    /// - Throws: `protocol` if it is malformed; nothing after it can be read either.
    package mutating func next() throws(ConnectorError) -> Frame? {
        guard buffer.count - start >= FrameHeader.size else { return nil }
        let header = try FrameHeader(Array(buffer[start..<start + FrameHeader.size]))
        let end = start + FrameHeader.size + header.length
        guard buffer.count >= end else { return nil }
        let payload = Array(buffer[start + FrameHeader.size..<end])
        start = end
        if start == buffer.count || start > 1 << 20 {
            if buffer.capacity > Self.keptCapacity {
                buffer = Array(buffer[start...])
            } else {
                buffer.removeFirst(start)
            }
            start = 0
        }
        var descriptor: OwnedDescriptor?
        if header.hasDescriptor {
            guard !descriptors.isEmpty else { throw MessageReader.malformed }
            descriptor = OwnedDescriptor(descriptors.removeFirst())
        }
        return Frame(kind: header.kind, instance: header.instance, payload: payload, descriptor: descriptor)
    }
}
