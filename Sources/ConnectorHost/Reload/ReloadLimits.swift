// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The time limit of each phase of a reload.
///
/// A phase that takes longer ends the reload without a change, except `switch` and `drain`: the reload then stops
/// awaiting them.
public struct ReloadLimits: Sendable, Hashable {
    /// Reading files, variables, secrets and manifests.
    public var read: Duration = .seconds(30)
    /// Comparing the configurations.
    public var plan: Duration = .seconds(30)
    /// Loading images.
    public var load: Duration = .seconds(30)
    /// Opening all gates together, each of which also has its own `timeout`.
    public var open: Duration = .seconds(60)
    /// Awaiting the batches in flight of connectors that move, and the move of their stored values.
    public var `switch`: Duration = .seconds(10)
    /// Awaiting the last calls of earlier instances. They continue after that, within the `timeout` of their gate.
    public var drain: Duration = .seconds(1)

    /// The defaults.
    public init() {}

    /// The limit of a phase.
    func callAsFunction(_ phase: Reload.Phase) -> Duration {
        switch phase {
        case .read: read
        case .plan: plan
        case .load: load
        case .open: open
        case .switch: `switch`
        case .drain: drain
        }
    }
}
