// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// That a configuration is resolved for a simulation: secrets that are missing are then no errors.
package struct SimulationRequest: Sendable {
    /// What replaces the vendors of leaves, by path, in place of what the file says.
    package var simulators: [String: SimulatorReference]
    /// The only leaves to simulate, by path; nil for all.
    package var paths: Set<String>?

    /// Describes a simulation in which the file says what replaces each vendor, but for the given leaves.
    package init(simulators: [String: SimulatorReference] = [:], paths: Set<String>? = nil) {
        self.simulators = simulators
        self.paths = paths
    }

    /// Whether a leaf is simulated.
    func includes(_ path: String) -> Bool { paths?.contains(path) ?? true }
}
