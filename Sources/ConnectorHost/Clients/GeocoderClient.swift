// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorInvocation
public import ConnectorManifest

/// Finds places by name and names by coordinate, wherever `connectors.json` says.
///
/// ```swift
/// let places = try await host.geocoder("geocoder").geocode("Brandenburg Gate, Berlin")
/// ```
///
/// Every call throws a `ConnectorError`: what the vendor said, in the codes of <doc:Errors>; `unsupported` for what the vendor
/// cannot do; `not-open`, `timed-out`; `cancelled` if the caller's own task was. That nothing was found is no error. The `timeout` of
/// the options covers all of a call, a wait for the gate's turn and the adapter's retries included.
///
/// A value that holds nothing else of the host. From any thread.
public struct GeocoderClient: Sendable {
    private let target: ClientTarget

    init(_ target: ClientTarget) {
        self.target = target
    }

    /// Finds places by what people type.
    ///
    /// - Parameters:
    ///   - text: An address, a name, or both.
    ///   - limit: How many places at most, 1 to 50.
    ///   - language: As a tag of BCP 47; nil leaves it to the vendor.
    ///   - countries: Two letters of ISO 3166-1 each; empty is everywhere.
    ///   - options: How long the call may take.
    /// - Returns: The best first; empty if there is nothing.
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

    /// Finds places by free text or by the parts of an address.
    public func geocode(
        _ request: GeocodeRequest,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [Place] {
        try await places("geocode", request.json, options)
    }

    /// Finds what is at a coordinate.
    ///
    /// - Parameters:
    ///   - coordinate: In degrees of WGS 84.
    ///   - limit: How many places at most, 1 to 50.
    ///   - language: As a tag of BCP 47; nil leaves it to the vendor.
    ///   - options: How long the call may take.
    /// - Returns: The nearest first; empty if there is nothing.
    public func reverse(
        _ coordinate: Coordinate,
        limit: Int = 1,
        language: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [Place] {
        try await places("reverse", ReverseRequest(coordinate, limit: limit, language: language).json, options)
    }

    private func places(
        _ operation: String,
        _ request: JSONValue,
        _ options: CallOptions
    ) async throws(ConnectorError) -> [Place] {
        try await target.call(operation, texts: [("request", request.utf8())], options) { json throws(ConnectorError) in
            guard let elements = json.array else {
                throw ConnectorError(.invalid, "expected an array of places, not \(json.kind)")
            }
            var places: [Place] = []
            for (index, element) in elements.enumerated() {
                places.append(try Place(json: element, path: "[\(index)]"))
            }
            return places
        }
    }
}
