// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorInvocation
package import ConnectorManifest

extension CallValue {
    /// Reads a value.
    package init(_ message: inout MessageReader) throws(ConnectorError) {
        switch try message.integer(UInt8.self) {
        case 0: self = .none
        case 1: self = .signed(try message.integer())
        case 2: self = .unsigned(try message.integer())
        case 3: self = .floating(Double(bitPattern: try message.integer()))
        case 4: self = .bytes(try message.data())
        case 5: self = .handle(UInt(try message.integer(UInt64.self)))
        default: throw MessageReader.malformed
        }
    }

    /// Writes the value.
    package func put(to message: inout MessageWriter) {
        switch self {
        case .none: message.put(UInt8(0))
        case .signed(let value):
            message.put(UInt8(1))
            message.put(value)
        case .unsigned(let value):
            message.put(UInt8(2))
            message.put(value)
        case .floating(let value):
            message.put(UInt8(3))
            message.put(value.bitPattern)
        case .bytes(let value):
            message.put(UInt8(4))
            message.put(value)
        case .handle(let value):
            message.put(UInt8(5))
            message.put(UInt64(value))
        }
    }

    /// Whether the value can be one of a type.
    package func fits(_ type: ValueType) -> Bool {
        switch self {
        case .none: true
        case .signed: [.i8, .i16, .i32, .i64].contains(type)
        case .unsigned: [.u8, .u16, .u32, .u64].contains(type)
        case .floating: [.f32, .f64].contains(type)
        case .bytes: !type.isScalar
        case .handle: type == .handle
        }
    }
}
