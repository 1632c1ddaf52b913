// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// A loaded image with the manifest that describes it.
///
/// Any number of gates share one; it lives as long as somebody refers to it, its image as long as the process.
package final class Plugin: Sendable {
    /// What it says of itself.
    package let manifest: Manifest
    /// The file that it was read from, which may have changed since; or a library's name.
    package let path: String
    /// The life of its instances; nil for a foreign library, which has none.
    package let lifecycle: PluginLifecycle?
    private let image: LoadedImage
    /// Made at the first call.
    private let operations = LazyReference<ResolvedOperations>()

    init(
        manifest: Manifest,
        path: String,
        image: LoadedImage,
        lifecycle: PluginLifecycle?
    ) {
        self.manifest = manifest
        self.path = path
        self.image = image
        self.lifecycle = lifecycle
    }

    /// The bytes that are loaded.
    var content: ImageContent { image.content }

    /// The SHA-256 of the bytes that are loaded, in hexadecimal.
    package var sha256: String { content.digest.description }

    /// The address of an exported function, valid as long as the process; nil if there is none of this name.
    package func symbol(named name: String) -> UnsafeMutableRawPointer? {
        unsafe image.symbol(named: name)
    }

    /// The function of an operation, whose signature the caller knows.
    ///
    /// - Parameter name: The operation's name, or `capability/operation` where two capabilities share one.
    func function(of name: String) throws(ConnectorError) -> UnsafeMutableRawPointer {
        let found = unsafe operations.with({ ResolvedOperations(of: self) }) { unsafe $0.function(of: name) }
        guard let found = unsafe found else { throw manifest.unknownOperation(name) }
        return try unsafe found.get()
    }

    /// An operation, ready to be called.
    ///
    /// - Parameter name: Its name, or `capability/operation` where two capabilities share one.
    func operation(named name: String) throws(ConnectorError) -> ResolvedOperation {
        let found = operations.with({ ResolvedOperations(of: self) }) { $0[name] }
        guard let found else { throw manifest.unknownOperation(name) }
        return try found.get()
    }
}
