// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

extension ConfigurationOption {
    /// The plugins in the plugin directories. Only the configuration's list of directories, its trust and its lock are used.
    ///
    /// If there is no file and the user named none, only the other directories are searched.
    ///
    /// - Parameter runsPlugins: Whether to run plugins. With a faulty file a host loads none; otherwise faults are ignored.
    /// - Throws: `ExitStatus.invalidConfiguration`, after showing why the file cannot be read or used.
    func lookup(
        _ options: ConnectorHost.Options,
        runsPlugins: Bool = false,
        answer: OutputOptions
    ) throws -> PluginLookup {
        try answer.checked { () throws(ConfigurationErrors) in try options.checkPaths() }
        let (configuration, problems, omitted) = Configuration.examine(file: file, environment: options.environment)
        let isAbsent = configuration == nil && problems.allSatisfy { $0.code == .notFound }
        let isUsable = configuration != nil && (problems.isEmpty || !runsPlugins)
        guard isUsable || (isAbsent && !isExplicit) else {
            answer.report(problems, omitted: omitted)
            throw ExitStatus.invalidConfiguration
        }
        guard let configuration else { return PluginLookup(directories: [], options: options) }
        return PluginLookup(configuration: configuration, options: options)
    }
}
