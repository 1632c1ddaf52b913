// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Encodes an `Encodable` value into one place of a ``JSONValue``.
struct JSONValueEncoder: Encoder {
    let node: EncodedNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(KeyedEncoding<Key>(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return UnkeyedEncoding(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleValueEncoding(node: node, codingPath: codingPath)
    }

    /// Encodes a value into the node.
    ///
    /// - Throws: An `EncodingError` for two forms in one place or nesting too deep to parse; otherwise the value's own
    ///   error.
    func write(_ value: some Encodable) throws {
        guard codingPath.count <= JSONParser.depthLimit else {
            throw failure(value, "nests deeper than \(JSONParser.depthLimit) levels")
        }
        try value.encode(to: self)
        guard !node.isTorn else { throw failure(value, "writes two values of different form into one place") }
    }

    /// The error for a value that cannot be written.
    func failure(_ value: Any, _ text: String) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: codingPath, debugDescription: text))
    }
}

/// The members of an object that is being encoded.
private struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodedNode
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { node.addMember(key.stringValue).set(.null) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try encoder(key).write(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }

    func superEncoder() -> any Encoder { encoder(PathKey.superclass) }

    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    private func encoder(_ key: some CodingKey) -> JSONValueEncoder {
        JSONValueEncoder(node: node.addMember(key.stringValue), codingPath: codingPath + [key])
    }
}

/// The elements of an array that is being encoded.
private struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let node: EncodedNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    func encodeNil() { node.appendElement().set(.null) }

    func encode<Value: Encodable>(_ value: Value) throws { try encoder().write(value) }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        encoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }

    func superEncoder() -> any Encoder { encoder() }

    private func encoder() -> JSONValueEncoder {
        JSONValueEncoder(node: node.appendElement(), codingPath: codingPath + [PathKey(node.count - 1)])
    }
}
