// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// Encodes a Swift value.
    ///
    /// ```swift
    /// struct Order: Codable {
    ///     var id: String
    ///     var total: Double
    /// }
    ///
    /// let json = try JSONValue(encoding: Order(id: "A-1", total: 42.5))
    /// let order = try json.decode(as: Order.self)
    /// ```
    ///
    /// Foundation's types get no special treatment: a `Date` becomes its seconds since 2001, a `Data` an array of
    /// numbers. Give times as ``Timestamp`` and bytes as a string, or choose their form in `encode(to:)`. Members are
    /// in the order in which the value writes them. An integer beyond `Int64` becomes a string of its digits, which
    /// ``decode(as:)`` reads again; most readers would round it as a JSON number.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` with the path to the value that JSON cannot express: a number
    ///   that is not finite, nesting deeper than ``JSONParser/depthLimit``, a value that writes nothing.
    public init(encoding value: some Encodable) throws(ConnectorError) {
        let node = EncodedNode()
        do {
            let encoder = JSONValueEncoder(node: node, codingPath: [])
            try encoder.write(value)
            if case .nothing = node.form { throw encoder.failure(value, "writes nothing") }
        } catch {
            throw ConnectorError(coding: error, "\(type(of: value)) cannot be written as JSON")
        }
        self = node.json
    }

    /// Decodes a Swift value.
    ///
    /// Numbers are exact: an integer that overflows its type is an error, and so is a fraction for an integer type.
    /// Foundation's types are read in the form that they encode to: see ``init(encoding:)``.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` with the path to the value that does not fit the type.
    public func decode<Value: Decodable>(as type: Value.Type = Value.self) throws(ConnectorError) -> Value {
        do {
            return try type.init(from: JSONValueDecoder(value: self, codingPath: []))
        } catch {
            throw ConnectorError(coding: error, "the JSON is not a valid \(type)")
        }
    }
}

extension JSONObject {
    /// Encodes a Swift value that becomes a JSON object: see ``JSONValue/init(encoding:)``.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid`, also for a value that does not become a JSON object.
    public init(encoding value: some Encodable) throws(ConnectorError) {
        let json = try JSONValue(encoding: value)
        guard case .object(let object) = json else {
            throw ConnectorError(.invalid, "\(type(of: value)) becomes \(json.kind) in JSON, and an object is needed")
        }
        self = object
    }

    /// Decodes a Swift value: see ``JSONValue/decode(as:)``.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` with the path to the value that does not fit the type.
    public func decode<Value: Decodable>(as type: Value.Type = Value.self) throws(ConnectorError) -> Value {
        try JSONValue.object(self).decode(as: type)
    }
}

extension ConnectorError {
    /// Wraps an encoder's or decoder's error, with the path to the value at fault.
    fileprivate init(coding error: any Error, _ what: String) {
        switch error {
        case let error as ConnectorError: self = error
        case EncodingError.invalidValue(_, let context):
            self.init(what, at: context.codingPath, context.debugDescription, cause: context.underlyingError)
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            self.init(what, at: context.codingPath, context.debugDescription, cause: context.underlyingError)
        case DecodingError.keyNotFound(let key, let context):
            self.init(what, at: context.codingPath + [key], "is missing", cause: context.underlyingError)
        default: self.init(.invalid, what, cause: "\(error)")
        }
    }

    private init(_ what: String, at path: [any CodingKey], _ text: String, cause: (any Error)?) {
        let place = path.isEmpty ? "" : "\(JSONPath(path)): "
        self.init(.invalid, "\(what): \(place)\(text)", cause: cause.map { "\($0)" })
    }
}
