// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A value read from a damaged file.
enum SalvagedValue: Hashable {
    case none
    case integer(Int64)
    case text([UInt8])
    case blob([UInt8])

    /// The number; nil if it is not a number in the range.
    func integer(in range: ClosedRange<Int64>) -> Int64? {
        guard case .integer(let number) = self, range.contains(number) else { return nil }
        return number
    }

    /// The text; nil if it is not a text.
    var text: String? {
        guard case .text(let bytes) = self else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes of a blob or a text; nil for any other value.
    var bytes: [UInt8]? {
        switch self {
        case .none, .integer: nil
        case .text(let bytes), .blob(let bytes): bytes
        }
    }
}
