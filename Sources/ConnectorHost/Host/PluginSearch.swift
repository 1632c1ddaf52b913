// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConfiguration
internal import Synchronization

/// Finds the plugins of successive configurations. An image that has not changed since the last search is not read
/// again.
final class PluginSearch: Sendable {
    private let options: ConnectorHost.Options
    private let last = Mutex<PluginLookup?>(nil)

    /// Starts without having searched.
    init(_ options: ConnectorHost.Options) { self.options = options }

    /// Searches for the plugins of a configuration. Blocks while files are read.
    func plugins(of configuration: Configuration) -> PluginLookup {
        let earlier = last.withLock(\.self)
        let lookup = PluginLookup(configuration: configuration, options: options, after: earlier)
        last.withLock { $0 = lookup }
        return lookup
    }
}
