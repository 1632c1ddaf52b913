// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// The `geocoder/1` interface an application depends on: a ``GeocoderClient`` in production, `InMemoryGeocoder` in
/// tests.
public protocol Geocoder: Sendable {
    /// Finds places by free text or by the parts of an address.
    ///
    /// - Returns: The places, best first; empty if none match.
    func geocode(_ request: GeocodeRequest, options: CallOptions) async throws(ConnectorError) -> [Place]

    /// Finds places at a coordinate.
    ///
    /// - Parameters:
    ///   - coordinate: In degrees of WGS 84.
    ///   - limit: The maximum number of places to return, 1 to 50.
    ///   - language: A BCP 47 tag; nil lets the vendor choose.
    ///   - options: The timeout of the call.
    /// - Returns: The places, nearest first; empty if none are there.
    func reverse(
        _ coordinate: Coordinate,
        limit: Int,
        language: String?,
        options: CallOptions
    ) async throws(ConnectorError) -> [Place]
}

extension Geocoder {
    /// Finds places by free text.
    ///
    /// - Parameters:
    ///   - text: An address, a name, or both.
    ///   - limit: The maximum number of places to return, 1 to 50.
    ///   - language: A BCP 47 tag; nil lets the vendor choose.
    ///   - countries: ISO 3166-1 alpha-2 codes; empty means everywhere.
    ///   - options: The timeout of the call.
    /// - Returns: The places, best first; empty if none match.
    public func geocode(
        _ text: String,
        limit: Int = 10,
        language: String? = nil,
        countries: [String] = [],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [Place] {
        let request = GeocodeRequest(.text(text), limit: limit, language: language, countries: countries)
        return try await geocode(request, options: options)
    }

    /// Finds places by free text or by the parts of an address, with the default timeout.
    public func geocode(_ request: GeocodeRequest) async throws(ConnectorError) -> [Place] {
        try await geocode(request, options: CallOptions())
    }

    /// Finds places at a coordinate, with the default timeout.
    ///
    /// - Parameters:
    ///   - coordinate: In degrees of WGS 84.
    ///   - limit: The maximum number of places to return, 1 to 50.
    ///   - language: A BCP 47 tag; nil lets the vendor choose.
    public func reverse(
        _ coordinate: Coordinate,
        limit: Int = 1,
        language: String? = nil
    ) async throws(ConnectorError) -> [Place] {
        try await reverse(coordinate, limit: limit, language: language, options: CallOptions())
    }
}
