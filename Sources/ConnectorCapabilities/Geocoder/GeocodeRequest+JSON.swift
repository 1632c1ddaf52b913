// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension GeocodeRequest {
    /// Reads a request.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` for any unknown member, and unless the request has either a
    ///   query or an address.
    public init(json: JSONValue, path: String = "request") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        try reader.checkNames(Self.members.map(\.name))
        let query = try reader.string("query")
        let address = try reader.object("address")
        switch (query, address.isEmpty) {
        case (let query?, true):
            guard query.contains(where: { !$0.isWhitespace }) else {
                throw ConnectorError(.invalid, "\(path).query is empty")
            }
            subject = .text(query)
        case (nil, false): subject = .address(try Address(json: .object(address), path: "\(path).address"))
        default: throw ConnectorError(.invalid, "\(path) must have either a query or an address")
        }
        limit = try reader.integer("limit", within: 1...50) ?? 10
        language = try languageTag(reader)
        countries = try reader.strings("countries").map { $0.uppercased() }
        for code in countries where code.utf8.count != 2 || !code.utf8.allSatisfy(\.isUppercaseLetter) {
            throw ConnectorError(
                .invalid,
                "\(path).countries: \"\(code)\" is not two letters of ISO 3166-1, such as \"CH\""
            )
        }
    }

    /// The JSON form that operations take.
    public var json: JSONValue {
        var object = JSONObject()
        switch subject {
        case .text(let query): object["query"] = .string(query)
        case .address(let address): object["address"] = address.json
        }
        object.set("limit", limit)
        object.set("language", language)
        object.set("countries", countries.map { .string($0) })
        return .object(object)
    }
}

extension GeocodeRequest.Address {
    init(json: JSONValue, path: String) throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        try reader.checkNames(["street", "city", "county", "state", "postalCode", "country"])
        self.init(
            street: try reader.string("street"),
            city: try reader.string("city"),
            county: try reader.string("county"),
            state: try reader.string("state"),
            postalCode: try reader.string("postalCode"),
            country: try reader.string("country")
        )
        guard !line.isEmpty else { throw ConnectorError(.invalid, "\(path) is empty") }
    }

    var json: JSONValue {
        var object = JSONObject()
        object.set("street", street)
        object.set("city", city)
        object.set("county", county)
        object.set("state", state)
        object.set("postalCode", postalCode)
        object.set("country", country)
        return .object(object)
    }
}

/// Reads the member `language`, which ends up in headers and URLs: only letters, digits and hyphens.
func languageTag(_ reader: ModelReader) throws(ConnectorError) -> String? {
    try reader.value("language", "a tag of BCP 47, such as \"de\" or \"pt-BR\"") { value in
        guard let tag = value.string, (2...35).contains(tag.utf8.count) else { return nil }
        return tag.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") } ? tag : nil
    }
}
