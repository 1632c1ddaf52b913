// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorManifest

/// The steps of opening, one after the other on one thread: where the time goes.
enum Steps {
    /// Prints the nanoseconds that each step took.
    static func measure(folder: String) throws {
        let clock = ContinuousClock()
        let start = clock.now
        let catalog = PluginCatalog(directories: ["\(folder)/plugins"])
        let scanned = clock.now
        let candidates = try catalog.entries.compactMap(\.manifest).map { try catalog.find($0.id) }
        let found = clock.now
        let loader = PluginLoader()
        let plugins = try candidates.map { try loader.load($0) }
        let loaded = clock.now
        let count = Int64(plugins.count)
        print(
            "scan",
            (scanned - start).nanoseconds / count,
            "find",
            (found - scanned).nanoseconds / count,
            "load",
            (loaded - found).nanoseconds / count
        )
    }
}
