// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The file that `connector-host test` checks.
enum ConformanceSubject {
    /// The file that an argument names, by path or by the plugin's id.
    ///
    /// An id stands for what a host on connectors.json would load, and nothing else of it runs. A path stands for itself, so that a
    /// plugin can be checked before it is locked.
    ///
    /// - Throws: `not-found` for a file that cannot be read; `unknown-plugin` or another error for an id without a usable plugin, such
    ///   as `not-locked`.
    static func path(of argument: String) throws(ConnectorError) -> String {
        guard !isID(argument) else { return try admittedPath(ofPlugin: argument).absolutePath }
        guard unsafe access(argument, R_OK) == 0 else {
            throw ConnectorError(.notFound, "\(argument) cannot be read", cause: SystemError().description)
        }
        return argument.absolutePath
    }

    /// Whether an argument without a slash is the id of a plugin rather than a file here.
    ///
    /// A directory is not a file: the project of a plugin has the plugin's name.
    static func isID(_ argument: String) -> Bool {
        !argument.contains("/") && FileStamp(path: argument).map { $0.kind == S_IFDIR } ?? true
    }

    /// The file of the plugin with an id that connectors.json leads to, if its lock, its keys and its "trust" admit it. Its other faults
    /// are ignored.
    private static func admittedPath(ofPlugin id: String) throws(ConnectorError) -> String {
        let options = ConnectorHost.Options()
        if let problem = options.pathProblems.first { throw problem }
        let (read, problems, _) = Configuration.examine(file: "connectors.json", environment: options.environment)
        guard let configuration = read else { return try path(ofPlugin: id) }
        // Nobody knows what a damaged lock admits. Its faults come last.
        if configuration.lock == nil, let problem = problems.last,
            FileStamp(itself: PluginLock.file(of: configuration.path)) != nil
        {
            throw problem
        }
        let lookup = PluginLookup(configuration: configuration, options: options)
        let candidate = try lookup.candidate(PluginSpecification(id)).get()
        if let refusal = lookup.refusal(of: candidate) { throw refusal }
        return candidate.sidecar ?? candidate.path
    }

    /// The file of the plugin with an id, in the directories of the configuration and those that every command searches. Only the
    /// configuration's list of directories is used; its faults are ignored.
    ///
    /// - Parameter isRequired: Whether the configuration must exist.
    /// - Throws: `unknown-plugin`, or why the plugin is not usable or the configuration cannot be read.
    static func path(
        ofPlugin id: String,
        in file: String = "connectors.json",
        isRequired: Bool = false
    ) throws(ConnectorError) -> String {
        let options = ConnectorHost.Options()
        let (configuration, problems, _) = Configuration.examine(file: file, environment: options.environment)
        if configuration == nil, let problem = problems.first(where: { isRequired || $0.code != .notFound }) {
            throw problem
        }
        let catalog = PluginLookup(directories: configuration?.pluginPaths ?? [], options: options).everything
        let candidate = try catalog.find(id)
        // A command stays in its directory.
        return (candidate.sidecar ?? candidate.path).withGivenPaths
    }

    /// The bytes of a file of at most 4 MiB.
    static func text(of path: String) throws(ConnectorError) -> [UInt8] {
        try SimulatorReference.text(of: path)
    }

    /// Waits until the file has changed and then stayed the same for a while, because a linker writes it in steps.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    static func change(of path: String, since stamp: FileStamp?) async throws {
        var last = stamp
        while true {
            try await Task.sleep(for: .milliseconds(300))
            let now = FileStamp(path: path)
            if now != nil, now != stamp, now == last { return }
            last = now
        }
    }
}
