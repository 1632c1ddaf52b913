// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A request to resolve a configuration for a simulation, in which missing secrets are not errors.
package struct SimulationRequest: Sendable {
    /// What replaces the vendors of leaves, by path; it takes precedence over the file.
    package var simulators: [String: SimulatorReference]
    /// The only leaves to simulate, by path; nil for all.
    package var paths: Set<String>?
    /// Whether no gate opens, so that no leaf needs its secrets and variables, not even one without a vendor.
    package var opensNothing: Bool

    /// Describes a simulation in which the file says what replaces each vendor, except for the given leaves.
    package init(
        simulators: [String: SimulatorReference] = [:],
        paths: Set<String>? = nil,
        opensNothing: Bool = false
    ) {
        self.simulators = simulators
        self.paths = paths
        self.opensNothing = opensNothing
    }

    /// Whether a leaf is simulated.
    func includes(_ path: String) -> Bool { paths?.contains(path) ?? true }
}
