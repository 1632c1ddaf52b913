// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
package import ConnectorPlatform

/// A plugin's functions, loaded or linked, with the manifest that describes them.
///
/// Any number of gates share it. It lives as long as it is referenced; its functions live as long as the process.
package final class Plugin: Sendable {
    /// The plugin's manifest.
    package let manifest: Manifest
    /// The file that it was read from, which may have changed since; or the name of a foreign library or of a linked plugin.
    package let path: String
    /// The plugin's function table; nil for a foreign library, which has none.
    package let table: PluginTable?
    private let functions: PluginFunctions
    /// The addresses of the operations' functions, by their symbols.
    ///
    /// Looked up when the plugin is loaded: while a constructor of another plugin runs, the dynamic linker answers no
    /// other thread, and a call would have to wait.
    private let addresses: [(symbol: String, address: UInt)]

    package init(
        manifest: Manifest,
        path: String,
        functions: PluginFunctions,
        table: PluginTable?
    ) {
        self.manifest = manifest
        self.path = path
        self.functions = functions
        self.table = table
        addresses = manifest.capabilities.flatMap { capability in
            capability.operations.compactMap { operation in
                unsafe functions.symbol(named: operation.symbol).map { (operation.symbol, UInt(bitPattern: $0)) }
            }
        }
    }

    /// The loaded bytes; nil if the application links the plugin.
    package var content: ImageContent? { functions.content }

    /// What the plugin's functions answer by, if they were made at run time; nil for any other plugin.
    package var owner: (any AnyObject & Sendable)? {
        if case .linked(let plugin) = functions { plugin.owner } else { nil }
    }

    /// Registers a gate that uses the plugin for crash notes. Crash notes of a linked plugin name the application.
    package func name(gate: String) {
        if case .image(let image) = functions { image.name(gate: gate) }
    }

    /// The plugin's image, by which crash notes know that a call of a foreign library is the plugin's; nil if it is linked.
    package var mark: NamedImage? {
        if case .image(let image) = functions { image.mark } else { nil }
    }

    /// The address of an exported function, valid as long as the process; nil if none has this name.
    package func symbol(named name: String) -> UnsafeMutableRawPointer? {
        if let known = addresses.first(where: { $0.symbol == name }) {
            return unsafe UnsafeMutableRawPointer(bitPattern: known.address)
        }
        return unsafe functions.symbol(named: name)
    }
}
