// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension GeocodeRequest {
    /// The members of a request, most commonly used first.
    static let members = [
        ModelMember("query", "the place, in free text; this or address", example: "Bundesplatz 3, Bern"),
        ModelMember(
            "address",
            "the place, in parts",
            .object(parts, isClosed: true),
            example: #"{"city": "Bern"}"#,
            insteadOf: "query"
        ),
        ModelMember("limit", "the most places, 1 to 50; 10 by default", .number),
        ModelMember("language", "the language of the answer", example: "de"),
        ModelMember(
            "countries",
            "where to search, as codes of ISO 3166-1; everywhere by default",
            .array(.text),
            example: #"["CH"]"#
        ),
    ]

    /// The parts of an address.
    private static let parts = [
        ModelMember("street", "house number and street, in the country's order"),
        ModelMember("city", "the city, town or village"),
        ModelMember("county", "the county or district"),
        ModelMember("state", "the state or canton"),
        ModelMember("postalCode", "the postal code"),
        ModelMember("country", "the country's name"),
    ]
}

extension ReverseRequest {
    /// The members of a request, most commonly used first.
    static let members = [
        ModelMember("latitude", "degrees north, -90 to 90", .number, isRequired: true, example: "46.9466"),
        ModelMember("longitude", "degrees east, -180 to 180", .number, isRequired: true, example: "7.4446"),
        ModelMember("limit", "the most places, 1 to 50; 1 by default", .number),
        ModelMember("language", "the language of the answer", example: "de"),
    ]
}
