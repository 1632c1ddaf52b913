// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The encoder of one scalar: a number, a string or a boolean.
struct SingleValueEncoding: SingleValueEncodingContainer {
    let node: EncodedNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.set(.null) }
    func encode(_ value: Bool) { node.set(.bool(value)) }
    func encode(_ value: String) { node.set(.string(value)) }
    func encode(_ value: Int) { integer(value) }
    func encode(_ value: Int8) { integer(value) }
    func encode(_ value: Int16) { integer(value) }
    func encode(_ value: Int32) { integer(value) }
    func encode(_ value: Int64) { integer(value) }
    func encode(_ value: UInt) { integer(value) }
    func encode(_ value: UInt8) { integer(value) }
    func encode(_ value: UInt16) { integer(value) }
    func encode(_ value: UInt32) { integer(value) }
    func encode(_ value: UInt64) { integer(value) }
    func encode(_ value: Double) throws { try number(value, value) }

    /// Writes the shortest decimal that reads back as the same `Float`.
    func encode(_ value: Float) throws {
        let short = Double("\(value)") ?? Double(value)
        try number(Float(short) == value ? short : Double(value), value)
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        try JSONValueEncoder(node: node, codingPath: codingPath).write(value)
    }

    /// Writes the digits as a string where JSON readers, including this one, would round the number.
    private func integer(_ value: some FixedWidthInteger) {
        node.set(Int64(exactly: value).map { .integer($0) } ?? .string("\(value)"))
    }

    private func number(_ number: Double, _ value: Any) throws {
        guard number.isFinite else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(codingPath: codingPath, debugDescription: "\(value) is not a JSON number")
            )
        }
        node.set(.number(number))
    }
}
