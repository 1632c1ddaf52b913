// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Decodes a `Decodable` value from a ``JSONValue``.
struct JSONValueDecoder: Decoder {
    let value: JSONValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = value else { throw mismatch(JSONObject.self, "an object") }
        return KeyedDecodingContainer(KeyedDecoding<Key>(object, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw mismatch([JSONValue].self, "an array") }
        return UnkeyedDecoding(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { SingleValueDecoding(decoder: self) }

    /// The error for a value of the wrong kind.
    func mismatch(_ type: Any.Type, _ kind: String) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath,
            debugDescription: "expected \(kind), found \(value.kind)"
        )
        return value == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// The error for a value that does not fit its type.
    func corrupted(_ text: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: text))
    }
}

/// The members of an object that is being decoded.
private struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let codingPath: [any CodingKey]
    private let object: JSONObject

    init(_ object: JSONObject, codingPath: [any CodingKey]) {
        self.object = object.indexed
        self.codingPath = codingPath
    }

    var allKeys: [Key] { object.names.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { value(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).value == .null }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try type.init(from: decoder(key))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { optionalDecoder(PathKey.superclass) }

    func superDecoder(forKey key: Key) -> any Decoder { optionalDecoder(key) }

    private func value(_ key: some CodingKey) -> JSONValue? { object[key.stringValue] }

    private func decoder(_ key: Key) throws -> JSONValueDecoder {
        guard let value = value(key) else {
            let context = DecodingError.Context(codingPath: codingPath, debugDescription: "there is no such member")
            throw DecodingError.keyNotFound(key, context)
        }
        return JSONValueDecoder(value: value, codingPath: codingPath + [key])
    }

    /// A superclass that wrote nothing is decoded from null.
    private func optionalDecoder(_ key: some CodingKey) -> JSONValueDecoder {
        JSONValueDecoder(value: value(key) ?? .null, codingPath: codingPath + [key])
    }
}

/// The elements of an array that is being decoded, in order.
private struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let elements: [JSONValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    mutating func decodeNil() throws -> Bool {
        guard try decoder(JSONValue.self).value == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try type.init(from: decoder(type))
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let container = try decoder(JSONObject.self).container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try decoder([JSONValue].self).unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try decoder(JSONValue.self)
        currentIndex += 1
        return decoder
    }

    private func decoder(_ type: Any.Type) throws -> JSONValueDecoder {
        let path = codingPath + [PathKey(currentIndex)]
        guard !isAtEnd else {
            let context = DecodingError.Context(
                codingPath: path,
                debugDescription: "the array has no more than \(elements.count) elements"
            )
            throw DecodingError.valueNotFound(type, context)
        }
        return JSONValueDecoder(value: elements[currentIndex], codingPath: path)
    }
}
