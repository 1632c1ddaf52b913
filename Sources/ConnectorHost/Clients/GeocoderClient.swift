// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// Finds places by name, and names by coordinate, through a connector of `connectors.json`.
///
/// ```swift
/// let places = try await host.geocoder("geocoder").geocode("Brandenburg Gate, Berlin")
/// ```
///
/// ``Geocoder`` declares the free-text calls. Code that takes an `any Geocoder` can be tested without a host.
///
/// A call that fails throws a `ConnectorError`: the vendor's own error with a code from <doc:Errors>; `unsupported` for
/// a feature the vendor lacks; `not-open`; `timed-out`; `cancelled` if the caller's task was cancelled. An empty result
/// is not an error. The `timeout` of the options covers the whole call, including queueing at the gate and the
/// adapter's retries.
///
/// A client gives access to its own connector only. Use it from any thread.
public struct GeocoderClient: Geocoder {
    private let target: ClientTarget

    init(_ target: ClientTarget) {
        self.target = target
    }

    /// Finds places by free text or by the parts of an address.
    public func geocode(
        _ request: GeocodeRequest,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [Place] {
        try await places("geocode", request.json, options)
    }

    /// Finds places at a coordinate.
    ///
    /// - Parameters:
    ///   - coordinate: In degrees of WGS 84.
    ///   - limit: The maximum number of places to return, 1 to 50.
    ///   - language: A BCP 47 tag; nil lets the vendor choose.
    ///   - options: The timeout of the call.
    /// - Returns: The places, nearest first; empty if none are there.
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
