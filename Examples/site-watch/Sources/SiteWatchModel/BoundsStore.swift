// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost
internal import Synchronization

/// Where the bounds of sensors are kept.
public protocol BoundsStore: Sendable {
    /// The bounds that were set for a sensor; nil if none were.
    func bounds(of sensor: String) async throws -> Bounds?
    /// Keeps the bounds of a sensor.
    func setBounds(_ bounds: Bounds, of sensor: String) async throws
}

/// Bounds among the settings of a gate, under keys such as `bounds.temperature`.
public struct SettingsBounds: BoundsStore {
    private let settings: SettingsClient

    /// Uses a gate of settings.
    public init(_ settings: SettingsClient) {
        self.settings = settings
    }

    /// Reads the setting.
    public func bounds(of sensor: String) async throws -> Bounds? {
        try await settings.value(of: Self.setting(sensor))
    }

    /// Writes the setting.
    public func setBounds(_ bounds: Bounds, of sensor: String) async throws {
        try await settings.set(bounds, for: Self.setting(sensor))
    }

    private static func setting(_ sensor: String) -> Setting<Bounds?> {
        let allowed = sensor.map { $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) ? $0 : "_" }
        return Setting("bounds.\(String(allowed.prefix(100)))", default: nil)
    }
}
