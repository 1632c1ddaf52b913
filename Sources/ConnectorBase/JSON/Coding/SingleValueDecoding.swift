// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The decoder of one scalar: a number, a string or a boolean.
struct SingleValueDecoding: SingleValueDecodingContainer {
    let decoder: JSONValueDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard let value = decoder.value.bool else { throw decoder.mismatch(type, "a boolean") }
        return value
    }

    func decode(_ type: String.Type) throws -> String {
        guard let value = decoder.value.string else { throw decoder.mismatch(type, "a string") }
        return value
    }

    func decode(_ type: Double.Type) throws -> Double { try number(type) }

    func decode(_ type: Float.Type) throws -> Float {
        let number = try number(type)
        guard Float(number).isFinite else { throw decoder.corrupted("\(number) does not fit Float") }
        return Float(number)
    }

    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try type.init(from: decoder) }

    private func number(_ type: Any.Type) throws -> Double {
        guard let value = decoder.value.number else { throw decoder.mismatch(type, "a number") }
        return value
    }

    private func integer<Value: FixedWidthInteger>() throws -> Value {
        if let value = decoder.value.integer {
            guard let fitting = Value(exactly: value) else {
                throw decoder.corrupted("\(value) does not fit \(Value.self)")
            }
            return fitting
        }
        switch decoder.value {
        case .number(let value): throw decoder.corrupted("\(value) is not a whole number of at most 64 bits")
        case .string(let digits):
            // SingleValueEncoding writes an integer beyond Int64 as a string of digits.
            if digits.utf8.allSatisfy(\.isDigit), let value = UInt64(digits), value > Int64.max,
                let fitting = Value(exactly: value)
            {
                return fitting
            }
            fallthrough
        default: throw decoder.mismatch(Value.self, "an integer")
        }
    }
}
