// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorLoading
internal import ConnectorManifest

/// The operations of a loaded plugin, resolved by the first call to any of them.
///
/// Thread-safe without a lock: once resolved, a look-up takes one atomic load and no reference counting.
package struct PluginOperations: Sendable {
    /// The plugin that exports the operations.
    package let plugin: Plugin
    private let operations = LazyReference<ResolvedOperations>()

    /// Creates the value without resolving any operation.
    package init(of plugin: Plugin) {
        self.plugin = plugin
    }

    /// The function of an operation whose signature the caller knows.
    ///
    /// - Parameter name: The operation's name, or `capability/operation` if two capabilities share the name.
    package func function(of name: String) throws(ConnectorError) -> UnsafeMutableRawPointer {
        let found = unsafe operations.with({ ResolvedOperations(of: plugin) }) { unsafe $0.function(of: name) }
        guard let found = unsafe found else { throw plugin.manifest.unknownOperation(name) }
        return try unsafe found.get()
    }

    /// An operation, resolved and ready to call.
    ///
    /// - Parameter name: The operation's name, or `capability/operation` if two capabilities share the name.
    package func operation(named name: String) throws(ConnectorError) -> ResolvedOperation {
        let found = operations.with({ ResolvedOperations(of: plugin) }) { $0[name] }
        guard let found else { throw plugin.manifest.unknownOperation(name) }
        return try found.get()
    }

    /// An operation that has run to completion on its caller's thread so far; nil for any other. It lives as long as this value.
    package func prompt(named name: String) -> Unmanaged<ResolvedOperation>? {
        unsafe operations.with({ ResolvedOperations(of: plugin) }) { unsafe $0.prompt(named: name) }
    }

    /// An operation, resolved and ready to call.
    ///
    /// - Parameter position: Its position among all operations of the manifest, in its order.
    package func operation(at position: Int) throws(ConnectorError) -> ResolvedOperation {
        let found = operations.with({ ResolvedOperations(of: plugin) }) { $0[position] }
        guard let found else { throw plugin.manifest.unknownOperation("\(position)") }
        return try found.get()
    }
}
