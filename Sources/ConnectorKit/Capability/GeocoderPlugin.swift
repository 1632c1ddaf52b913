// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// A plugin of `geocoder/1`. Its manifest omits the operations that the vendor cannot do.
public protocol GeocoderPlugin: Plugin {
    /// Finds places by name or address, best first; finding none is not an error.
    func geocode(_ request: GeocodeRequest) async throws -> [Place]

    /// Finds the places at a point, nearest first; finding none is not an error.
    func reverse(_ request: ReverseRequest) async throws -> [Place]
}

extension GeocoderPlugin {
    /// The operation `geocode`.
    public func geocode(request: JSONValue) async throws -> JSONValue {
        .array(try await geocode(GeocodeRequest(json: request)).map(\.json))
    }

    /// The operation `reverse`.
    public func reverse(request: JSONValue) async throws -> JSONValue {
        .array(try await reverse(ReverseRequest(json: request)).map(\.json))
    }
}
