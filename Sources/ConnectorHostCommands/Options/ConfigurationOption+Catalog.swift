// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorLoading

extension ConfigurationOption {
    /// Every plugin in the plugin directories. Only the configuration's list of directories is used; its faults are ignored.
    ///
    /// If there is no file and the user named none, only the other directories are searched.
    ///
    /// - Throws: `ExitStatus.invalidConfiguration`, after showing why the file cannot be read.
    func catalog(_ options: ConnectorHost.Options, answer: OutputOptions) throws -> PluginCatalog {
        let (configuration, problems, omitted) = Configuration.examine(file: file, environment: options.environment)
        let isAbsent = configuration == nil && problems.allSatisfy { $0.code == .notFound }
        guard configuration != nil || (isAbsent && !isExplicit) else {
            answer.report(problems, omitted: omitted)
            throw ExitStatus.invalidConfiguration
        }
        return PluginLookup(
            directories: configuration?.pluginDirectories ?? [],
            requiresTrust: configuration?.requiresTrust ?? false,
            options: options
        ).everything
    }
}
