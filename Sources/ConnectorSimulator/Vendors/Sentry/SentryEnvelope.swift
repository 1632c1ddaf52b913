// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A Sentry envelope: a header line, then items, each with a header line and a payload.
struct SentryEnvelope {
    /// One item.
    struct Item {
        /// The type: `event`, `transaction`, `session`, `client_report` or another.
        var type: String
        /// The payload as sent.
        var payload: ArraySlice<UInt8>
    }

    /// The envelope's header.
    var header: JSONObject
    /// The items in order.
    var items: [Item] = []

    /// Parses an envelope; throws Relay's error.
    init(parsing bytes: [UInt8]) throws(SentryFailure) {
        var rest = bytes[...]
        guard let header = Self.line(&rest) else { throw .invalidEnvelope("missing envelope header") }
        guard let parsed = try? JSONValue(parsing: Array(header)), let object = parsed.object else {
            throw .invalidEnvelope("invalid envelope header")
        }
        self.header = object
        while !rest.isEmpty {
            guard let line = Self.line(&rest) else { break }
            if line.isEmpty { continue }
            guard let parsed = try? JSONValue(parsing: Array(line)), let item = parsed.object,
                let type = item["type"]?.string
            else { throw .invalidEnvelope("invalid item header") }
            items.append(Item(type: type, payload: try Self.payload(&rest, length: item["length"])))
        }
    }

    /// Reads up to the end of a line, or to the end.
    private static func line(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard !rest.isEmpty else { return nil }
        let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
        defer { rest = rest[min(end + 1, rest.endIndex)...] }
        return rest[..<end]
    }

    /// Reads a payload: `length` bytes and a newline; without a length, the rest of the line.
    private static func payload(
        _ rest: inout ArraySlice<UInt8>,
        length: JSONValue?
    ) throws(SentryFailure) -> ArraySlice<UInt8> {
        guard let length, length != .null else { return line(&rest) ?? [] }
        guard let integer = length.integer, let count = Int(exactly: integer), count >= 0 else {
            throw .invalidEnvelope("invalid item header")
        }
        guard count <= rest.count else { throw .invalidEnvelope("unexpected end of file") }
        let end = rest.startIndex + count
        guard end == rest.endIndex || rest[end] == UInt8(ascii: "\n") else {
            throw .invalidEnvelope("missing newline after header or payload")
        }
        defer { rest = rest[min(end + 1, rest.endIndex)...] }
        return rest[..<end]
    }
}
