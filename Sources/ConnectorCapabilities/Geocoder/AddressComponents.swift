// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The parts of a place's address that the geocoder knows.
public struct AddressComponents: Sendable, Hashable {
    /// The house number.
    public var houseNumber: String?
    /// The street.
    public var street: String?
    /// The district of the city.
    public var district: String?
    /// City, town or village.
    public var city: String?
    /// County or district of the state.
    public var county: String?
    /// State, canton or province.
    public var state: String?
    /// Postal code.
    public var postalCode: String?
    /// The country's name.
    public var country: String?
    /// The country's two-letter ISO 3166-1 code, in upper case.
    public var countryCode: String?

    /// Creates an address with no parts set.
    public init() {}

    /// Reads the parts.
    public init(json: JSONValue, path: String = "components") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        houseNumber = try reader.string("houseNumber")
        street = try reader.string("street")
        district = try reader.string("district")
        city = try reader.string("city")
        county = try reader.string("county")
        state = try reader.string("state")
        postalCode = try reader.string("postalCode")
        country = try reader.string("country")
        countryCode = try reader.string("countryCode")
    }

    /// The JSON form that operations return.
    public var json: JSONValue {
        var object = JSONObject()
        object.set("houseNumber", houseNumber)
        object.set("street", street)
        object.set("district", district)
        object.set("city", city)
        object.set("county", county)
        object.set("state", state)
        object.set("postalCode", postalCode)
        object.set("country", country)
        object.set("countryCode", countryCode)
        return .object(object)
    }
}
