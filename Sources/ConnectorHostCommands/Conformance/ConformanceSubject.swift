// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The file that `connector-host test` checks.
enum ConformanceSubject {
    /// The file that an argument names: by its path, or by the plugin's id.
    ///
    /// - Throws: `unknown-plugin` if there is neither.
    static func path(of argument: String) throws(ConnectorError) -> String {
        let isThere = unsafe access(argument, F_OK) == 0
        if isThere || argument.contains("/") {
            guard unsafe access(argument, R_OK) == 0 else {
                throw ConnectorError(.notFound, "\(argument) cannot be read", cause: SystemError().description)
            }
            return argument.absolutePath
        }
        let options = ConnectorHost.Options()
        let (configuration, _, _) = Configuration.examine(file: "connectors.json", environment: options.environment)
        let catalog = PluginLookup(directories: configuration?.pluginDirectories ?? [], options: options).everything
        let candidate = try catalog.find(argument)
        return (candidate.sidecar ?? candidate.path).absolutePath
    }

    /// The text of a file of at most 4 MiB.
    static func text(of path: String) throws(ConnectorError) -> [UInt8] {
        try SimulatorReference.text(of: path)
    }

    /// Waits until the file is another one, and has stayed the same for a while: a linker writes it in steps.
    static func change(of path: String, since stamp: FileIdentity?) async {
        var last = stamp
        while true {
            try? await Task.sleep(for: .milliseconds(300))
            let now = FileIdentity(path: path)
            if now != nil, now != stamp, now == last { return }
            last = now
        }
    }
}
