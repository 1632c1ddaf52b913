// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorConfiguration
internal import ConnectorHost

extension ConfigurationOption {
    /// Reads the file as ``resolve(_:)`` does, in a task that the first signal cancels, so that no program that prints a secret
    /// outlives the command.
    ///
    /// - Throws: The exit status for a signal that came before everything was read.
    func resolve(
        _ source: ConfigurationSource,
        until interruption: Interruption
    ) async throws(ExitCode) -> Result<ConfigurationSource.Checked, ConfigurationErrors> {
        let result = await interruption.cancelling {
            Result { () throws(ConfigurationErrors) in try resolve(source) }
        }
        if case .failure = result, let status = interruption.exitStatus { throw status }
        return result
    }
}
