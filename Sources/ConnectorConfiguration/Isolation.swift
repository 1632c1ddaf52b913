// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorSandbox

/// Where a leaf's plugin runs.
public struct Isolation: Sendable, Hashable {
    /// Whether the plugin has a process of its own or shares the host's.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// In the host's process: a call costs what a function costs.
        case none
        /// In a runner: a crash ends the runner, not the host.
        case process
    }

    /// Where the plugin runs.
    public var kind: Kind
    /// The name of the runner, which connectors with the same name share; nil for that of the connectors of the same plugin.
    public var runner: String?

    /// What the runner may do.
    public var sandbox = SandboxSettings()

    /// Creates a setting; by default, the plugin runs in the host's process.
    public init(_ kind: Kind = .none, runner: String? = nil, sandbox: SandboxSettings = SandboxSettings()) {
        self.sandbox = sandbox
        self.kind = kind
        self.runner = runner
    }
}
