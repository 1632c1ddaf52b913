// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// A plugin of `geocoder/1`. What the vendor cannot do is left out of the manifest.
public protocol GeocoderPlugin: Plugin {
    /// Finds places by name or address, best first; none is no error.
    func geocode(_ request: GeocodeRequest) async throws -> [Place]

    /// Finds what is at a point, nearest first; nothing is no error.
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
