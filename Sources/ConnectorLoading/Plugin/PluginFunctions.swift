// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// Where a plugin's functions are.
package enum PluginFunctions: Sendable {
    /// In an image that the host has loaded.
    case image(LoadedImage)
    /// Linked into the application.
    case linked(LinkedPlugin)

    /// The loaded bytes; nil if the application links the plugin.
    package var content: ImageContent? {
        switch self {
        case .image(let image): image.content
        case .linked: nil
        }
    }

    /// The address of an exported function, valid until the process ends; nil if none has this symbol.
    package func symbol(named name: String) -> UnsafeMutableRawPointer? {
        switch self {
        case .image(let image): unsafe image.symbol(named: name)
        case .linked(let plugin): unsafe plugin.function(named: name)
        }
    }
}
