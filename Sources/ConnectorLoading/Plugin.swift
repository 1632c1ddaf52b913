// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// A loaded image with the manifest that describes it.
///
/// Any number of gates share it. It lives as long as it is referenced; its image lives as long as the process.
package final class Plugin: Sendable {
    /// The plugin's manifest.
    package let manifest: Manifest
    /// The file that it was read from, which may have changed since; or a foreign library's name.
    package let path: String
    /// The plugin's function table; nil for a foreign library, which has none.
    package let table: PluginTable?
    private let image: LoadedImage

    package init(
        manifest: Manifest,
        path: String,
        image: LoadedImage,
        table: PluginTable?
    ) {
        self.manifest = manifest
        self.path = path
        self.image = image
        self.table = table
    }

    /// The loaded bytes.
    package var content: ImageContent { image.content }

    /// The SHA-256 of the loaded bytes, in hexadecimal.
    package var sha256: String { content.sha256 }

    /// Registers a gate that uses the plugin for crash notes.
    package func name(gate: String) { image.name(gate: gate) }

    /// The address of an exported function, valid as long as the process; nil if none has this name.
    package func symbol(named name: String) -> UnsafeMutableRawPointer? {
        unsafe image.symbol(named: name)
    }
}
