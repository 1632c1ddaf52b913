// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension JSONValue: Codable {
    /// Reads any value; this package's decoder hands it over without conversion.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? JSONValueDecoder {
            self = decoder.value
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try JSONObject(from: decoder))
        }
    }

    /// Writes the value; this package's encoder stores it without conversion.
    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? JSONValueEncoder {
            if case .number(let value) = self, !value.isFinite {
                throw encoder.failure(value, "\(value) is not a JSON number")
            }
            encoder.node.set(self)
            return
        }
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSONObject: Codable {
    /// Reads the members, in order if the decoder preserves it.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? JSONValueDecoder {
            guard case .object(let object) = decoder.value else {
                throw decoder.mismatch(JSONObject.self, "an object")
            }
            self = object
            return
        }
        let container = try decoder.container(keyedBy: PathKey.self)
        var members: [Member] = []
        for key in container.allKeys {
            members.append(Member(name: key.stringValue, value: try container.decode(JSONValue.self, forKey: key)))
        }
        self.init(unique: members)
    }

    /// Writes the members in order.
    public func encode(to encoder: any Encoder) throws {
        if encoder is JSONValueEncoder {
            try JSONValue.object(self).encode(to: encoder)
            return
        }
        var container = encoder.container(keyedBy: PathKey.self)
        for member in members { try container.encode(member.value, forKey: PathKey(stringValue: member.name)) }
    }
}

extension Timestamp: Codable {
    /// Reads a string in RFC 3339.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let timestamp = Timestamp(parsing: text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected a time from 1970 to 2500, such as 2026-01-31T09:30:00Z"
            )
        }
        self = timestamp
    }

    /// Writes a string in RFC 3339, in UTC and to the millisecond: what is read again equals the value only if it has whole milliseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
