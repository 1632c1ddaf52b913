// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads the gateway's JSON (protobuf's JSON mapping): names in snake or camel case, 64-bit numbers as strings or numbers, bytes
/// as Base64.
struct EtcdRequestReader {
    private let object: JSONObject

    init(_ value: JSONValue) throws(EtcdFailure) {
        guard case .object(let object) = value else { throw .invalid("json: the request is not an object") }
        self.object = object
    }

    /// The member with a name, given in snake case; the request may spell it in camel case. Nil if absent or null.
    subscript(_ name: String) -> JSONValue? {
        let found = object[name] ?? object[Self.camelCase(name)]
        return found == .null ? nil : found
    }

    /// The name of the member that is set, of several that exclude each other; nil if none is.
    func only(of names: [String]) -> String? { names.first { self[$0] != nil } }

    func bytes(_ name: String) throws(EtcdFailure) -> [UInt8] {
        guard let value = self[name] else { return [] }
        guard let text = value.string, let bytes = Base64.decode(text) else {
            throw .invalid("json: \(name) is not Base64")
        }
        return bytes
    }

    func number(_ name: String) throws(EtcdFailure) -> Int64 {
        guard let value = self[name] else { return 0 }
        // A number with a fraction is none, even if that is 0.
        if case .integer(let number) = value { return number }
        guard let number = value.string.flatMap({ Int64($0) }) else {
            throw .invalid("json: \(name) is not a number")
        }
        return number
    }

    func flag(_ name: String) throws(EtcdFailure) -> Bool {
        guard let value = self[name] else { return false }
        guard let flag = value.bool else { throw .invalid("json: \(name) is not a boolean") }
        return flag
    }

    /// The name of an enumeration's value, which the request gives by name or number.
    func choice(_ name: String, _ names: [String]) throws(EtcdFailure) -> String {
        try self[name].map { value throws(EtcdFailure) in try Self.choice(value, of: name, names) } ?? names[0]
    }

    /// The names of several values of an enumeration.
    func choices(_ name: String, _ names: [String]) throws(EtcdFailure) -> [String] {
        guard let value = self[name] else { return [] }
        guard let elements = value.array else { throw .invalid("json: \(name) is not an array") }
        var chosen: [String] = []
        for element in elements { chosen.append(try Self.choice(element, of: name, names)) }
        return chosen
    }

    /// The name of an enumeration's value.
    private static func choice(
        _ value: JSONValue,
        of name: String,
        _ names: [String]
    ) throws(EtcdFailure) -> String {
        if let index = value.integer, let chosen = names.indices.contains(Int(clamping: index)) ? Int(index) : nil {
            return names[chosen]
        }
        guard let text = value.string, names.contains(text) else { throw .invalid("json: unknown value of \(name)") }
        return text
    }

    func list(_ name: String) throws(EtcdFailure) -> [EtcdRequestReader] {
        guard let value = self[name] else { return [] }
        guard let elements = value.array else { throw .invalid("json: \(name) is not an array") }
        var readers: [EtcdRequestReader] = []
        for element in elements { readers.append(try EtcdRequestReader(element)) }
        return readers
    }

    /// The range of `key` and `range_end`.
    func range() throws(EtcdFailure) -> EtcdRange {
        let (key, end) = (try bytes("key"), try bytes("range_end"))
        guard !key.isEmpty else { throw .noKey }
        return EtcdRange(key: key, end: end.isEmpty ? nil : end)
    }

    private static func camelCase(_ name: String) -> String {
        let parts = name.split(ascii: "_")
        return parts.dropFirst().reduce(String(parts.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }
}
