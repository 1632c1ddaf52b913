// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Whether a layer holds.
public struct SandboxOutcome: Sendable, Equatable {
    /// The layer.
    public var layer: SandboxLayer
    /// Whether it holds.
    public var holds: Bool
    /// The version of Landlock's ABI, or the id of the user; 0 for other layers.
    public var version: Int
    /// What failed, or what holds less than asked for; empty if nothing.
    public var detail: String

    /// Creates an outcome.
    public init(layer: SandboxLayer, holds: Bool, version: Int = 0, detail: String = "") {
        self.layer = layer
        self.holds = holds
        self.version = version
        self.detail = detail
    }
}
