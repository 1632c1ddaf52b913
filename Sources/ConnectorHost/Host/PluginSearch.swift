// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorConfiguration
internal import Synchronization

/// Finds the plugins of successive configurations. An image that has not changed since the last search is not read
/// again.
package final class PluginSearch: Sendable {
    private let options: ConnectorHost.Options
    private let last: Mutex<PluginLookup?>

    /// Starts from what was found before; nil if nothing was searched yet.
    package init(_ options: ConnectorHost.Options, after lookup: PluginLookup? = nil) {
        self.options = options
        last = Mutex(lookup)
    }

    /// Searches for the plugins of a configuration. Blocks while files are read.
    ///
    /// - Parameter substitute: The substitute to find in the place of one image; nil for none.
    package func plugins(of configuration: Configuration, _ substitute: PluginSubstitute?) -> PluginLookup {
        let earlier = last.withLock(\.self)
        let lookup = PluginLookup(configuration: configuration, options: options, after: earlier)
        last.withLock { $0 = lookup }
        return lookup.substituting(substitute)
    }
}
