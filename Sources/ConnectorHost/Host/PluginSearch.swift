// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorConfiguration
internal import Synchronization

/// Finds the plugins of one configuration after another. An image that is as it was the last time is not read again.
package final class PluginSearch: Sendable {
    private let options: ConnectorHost.Options
    private let last: Mutex<PluginLookup?>

    /// Begins with what was found before; nil if nothing was searched yet.
    package init(_ options: ConnectorHost.Options, after lookup: PluginLookup? = nil) {
        self.options = options
        last = Mutex(lookup)
    }

    /// Searches for the plugins of a configuration. Blocks while files are read.
    ///
    /// - Parameter substitute: What is found in the place of one image; nil for no exception.
    package func plugins(of configuration: Configuration, _ substitute: PluginSubstitute?) -> PluginLookup {
        let earlier = last.withLock(\.self)
        let lookup = PluginLookup(configuration: configuration, options: options, after: earlier)
        last.withLock { $0 = lookup }
        return lookup.substituting(substitute)
    }
}
