// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A request for places by free text, or by the parts of an address.
///
/// ```json
/// {"query": "Bundesplatz 3, Bern", "limit": 1, "language": "de"}
/// {"address": {"street": "Bundesplatz 3", "city": "Bern", "country": "Switzerland"}, "countries": ["CH"]}
/// ```
public struct GeocodeRequest: Sendable, Hashable {
    /// The place to look for.
    public var subject: Subject
    /// The most places to return, 1 to 50.
    public var limit: Int
    /// The language of the answer as a BCP 47 tag: `de`, `pt-BR`; nil lets the vendor choose.
    public var language: String?
    /// The countries to search, as upper-case two-letter ISO 3166-1 codes; empty means everywhere.
    public var countries: [String]

    /// The place to look for.
    public enum Subject: Sendable, Hashable {
        /// Free text, as people type it.
        case text(String)
        /// The parts of an address.
        case address(Address)
    }

    /// The parts of an address; at least one must be set.
    public struct Address: Sendable, Hashable {
        /// House number and street, in the country's order.
        public var street: String?
        /// City, town or village.
        public var city: String?
        /// County or district.
        public var county: String?
        /// State or canton.
        public var state: String?
        /// Postal code.
        public var postalCode: String?
        /// The country's name.
        public var country: String?

        /// Creates an address.
        public init(
            street: String? = nil,
            city: String? = nil,
            county: String? = nil,
            state: String? = nil,
            postalCode: String? = nil,
            country: String? = nil
        ) {
            self.street = street
            self.city = city
            self.county = county
            self.state = state
            self.postalCode = postalCode
            self.country = country
        }

        /// The parts as one line, for vendors that take only text.
        public var line: String {
            let place = [postalCode, city].compactMap(\.self).joined(separator: " ")
            return [street, place.isEmpty ? nil : place, county, state, country].compactMap(\.self).joined(
                separator: ", "
            )
        }
    }

    /// Creates a request.
    public init(_ subject: Subject, limit: Int = 10, language: String? = nil, countries: [String] = []) {
        self.subject = subject
        self.limit = limit
        self.language = language
        self.countries = countries
    }
}
