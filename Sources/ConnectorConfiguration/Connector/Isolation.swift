// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorPlatform

/// Where a leaf's plugin runs.
public struct Isolation: Sendable, Hashable {
    /// Whether the plugin has a process of its own or shares the host's.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// In the host's process: a call costs what a function costs.
        case none
        /// In a runner: a crash ends the runner, not the host.
        case process
        /// In the host's process, until the process has died there; then in a runner, until it has been quiet for a while.
        case auto
    }

    /// How long a plugin with ``Kind/auto`` stays in a runner after its last crash, by default: a week.
    public static let defaultQuiet: Duration = .seconds(7 * 24 * 3600)

    /// Where the plugin runs.
    public var kind: Kind
    /// The name of the runner, which connectors with the same name share; nil for the one that connectors of the same
    /// plugin share.
    public var runner: String?

    /// How long a plugin with ``Kind/auto`` stays in a runner after its last crash.
    public var quiet: Duration
    /// What the runner may do.
    public var sandbox = SandboxSettings()
    /// Whether a second instance with ``Kind/process`` waits, open and in another runner, to take over when the runner of the first ends.
    public var standby = false

    /// Creates a setting; by default, the plugin runs in the host's process.
    public init(
        _ kind: Kind = .none,
        runner: String? = nil,
        quiet: Duration = Self.defaultQuiet,
        sandbox: SandboxSettings = SandboxSettings(),
        standby: Bool = false
    ) {
        self.standby = standby
        self.quiet = quiet
        self.sandbox = sandbox
        self.kind = kind
        self.runner = runner
    }
}
