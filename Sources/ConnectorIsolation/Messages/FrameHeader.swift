// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// What precedes each message: its size, its kind, and the instance that it is about.
package struct FrameHeader: Sendable, Hashable {
    /// The size of a header, in bytes.
    package static let size = 16
    /// The greatest size of a message, in bytes: arguments or results of 64 MiB, and what goes with them.
    package static let limit = 66 << 20

    /// The kind.
    package var kind: MessageKind
    /// Whether a descriptor comes with it.
    package var hasDescriptor: Bool
    /// The instance; 0 for none.
    package var instance: UInt32
    /// The size of what follows, in bytes.
    package var length: Int

    /// Creates a header.
    package init(_ kind: MessageKind, instance: UInt32, length: Int, hasDescriptor: Bool = false) {
        self.kind = kind
        self.hasDescriptor = hasDescriptor
        self.instance = instance
        self.length = length
    }

    /// Reads a header.
    package init(_ bytes: [UInt8]) throws(ConnectorError) {
        var message = MessageReader(bytes)
        let length = Int(try message.integer(UInt32.self))
        let number = try message.integer(UInt16.self)
        let flags = try message.integer(UInt16.self)
        let instance = try message.integer(UInt32.self)
        guard let kind = MessageKind(rawValue: number), flags <= 1, length <= Self.limit else {
            throw MessageReader.malformed
        }
        self.init(kind, instance: instance, length: length, hasDescriptor: flags == 1)
    }

    /// The header and the message.
    package static func frame(
        _ kind: MessageKind,
        instance: UInt32,
        _ payload: [UInt8],
        hasDescriptor: Bool = false
    ) -> [UInt8] {
        var message = MessageWriter()
        message.put(UInt32(clamping: payload.count))
        message.put(kind.rawValue)
        message.put(UInt16(hasDescriptor ? 1 : 0))
        message.put(instance)
        message.put(UInt32(0))
        return message.bytes + payload
    }
}
