// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A question for places: by free text, or by the parts of an address.
///
/// ```json
/// {"query": "Bundesplatz 3, Bern", "limit": 1, "language": "de"}
/// {"address": {"street": "Bundesplatz 3", "city": "Bern", "country": "Switzerland"}, "countries": ["CH"]}
/// ```
public struct GeocodeRequest: Sendable, Hashable {
    /// What to look for.
    public var subject: Subject
    /// How many places to answer at most, 1 to 50.
    public var limit: Int
    /// In which language, as a tag of BCP 47: `de`, `pt-BR`; nil leaves it to the vendor.
    public var language: String?
    /// Only in these countries, as two letters of ISO 3166-1 in upper case; empty is everywhere.
    public var countries: [String]

    /// What to look for.
    public enum Subject: Sendable, Hashable {
        /// Whatever people type.
        case text(String)
        /// The parts of an address.
        case address(Address)
    }

    /// The parts of an address; at least one is there.
    public struct Address: Sendable, Hashable {
        /// House number and street, in the order of the country.
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

        /// Makes an address.
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

        /// The parts as one line, for vendors that take nothing else.
        public var line: String {
            let place = [postalCode, city].compactMap(\.self).joined(separator: " ")
            return [street, place.isEmpty ? nil : place, county, state, country].compactMap(\.self).joined(
                separator: ", "
            )
        }
    }

    /// Makes a request.
    public init(_ subject: Subject, limit: Int = 10, language: String? = nil, countries: [String] = []) {
        self.subject = subject
        self.limit = limit
        self.language = language
        self.countries = countries
    }
}
