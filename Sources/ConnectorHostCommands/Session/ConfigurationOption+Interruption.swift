// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorConfiguration
internal import ConnectorHost

extension ConfigurationOption {
    /// Reads the file as ``resolve(_:simulation:opensNothing:)`` does, in a task that the first signal cancels, so that no program that
    /// prints a secret outlives the command.
    ///
    /// - Throws: The exit status for a signal that came before everything was read.
    func resolve(
        _ options: ConnectorHost.Options,
        simulation: SimulationRequest? = nil,
        opensNothing: Bool = false,
        until interruption: Interruption
    ) async throws(ExitCode) -> Result<(resolved: ResolvedConfiguration, plugins: PluginLookup), ConfigurationErrors> {
        let result = await interruption.cancelling {
            Result { () throws(ConfigurationErrors) in
                try resolve(options, simulation: simulation, opensNothing: opensNothing)
            }
        }
        if case .failure = result, let status = interruption.exitStatus { throw status }
        return result
    }
}
