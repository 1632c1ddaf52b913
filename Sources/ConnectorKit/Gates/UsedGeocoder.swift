// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
public import ConnectorCapabilities

/// `geocoder/1` at a used gate.
public struct UsedGeocoder: UsedCapability {
    private let gate: UsedGate

    /// Wraps a used gate that offers `geocoder/1`.
    public init(_ gate: UsedGate) {
        self.gate = gate
    }

    /// Finds places by free text or by the parts of an address, best first; empty if none match.
    public func geocode(_ request: GeocodeRequest) async throws(PluginError) -> [Place] {
        try await places("geocode", request.json)
    }

    /// Finds the places at a coordinate, nearest first; empty if none are there.
    public func reverse(_ request: ReverseRequest) async throws(PluginError) -> [Place] {
        try await places("reverse", request.json)
    }

    private func places(_ operation: String, _ request: JSONValue) async throws(PluginError) -> [Place] {
        try await gate.call(operation, ["request": request]) { json throws(ConnectorError) in
            try Place.places(json: json)
        }
    }
}
