// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
package import ConnectorPlatform

/// An image in this process's memory, where it stays until the process ends.
///
/// Never unloaded: after `dlclose` of an image with Swift metadata, the next dynamic cast anywhere in the process
/// crashes, and Rust and C++ images that register thread-local destructors stay mapped anyway. To stop using a plugin,
/// destroy its instances.
///
/// Sendable: the handle is never written after `init`; it is used only for `dlsym`, which may be called from any thread
/// (POSIX, dlsym: "MT-Safe"); and the image is never unloaded, because nothing closes the handle.
@safe
package struct LoadedImage: @unchecked Sendable {
    /// The bytes that were loaded.
    package let content: ImageContent
    private let handle: UnsafeMutableRawPointer
    /// Whether the process had the image before the host loaded it.
    private let wasLoaded: Bool
    /// The image as crash notes name it; nil until ``named(as:)``.
    package private(set) var mark: NamedImage?

    /// Wraps a handle of `dlopen`, which is never closed.
    package init(_ handle: UnsafeMutableRawPointer, content: ImageContent, wasLoaded: Bool = false) {
        unsafe self.handle = handle
        self.content = content
        self.wasLoaded = wasLoaded
    }

    /// The image of a plugin, registered for crash notes.
    func named(as candidate: PluginCandidate) -> LoadedImage {
        // Other plugins may be linked with a foreign library, and the host itself may be.
        let use: PluginImages.Use = candidate.manifest.entry != nil ? .own : wasLoaded ? .shared : .brought
        var image = self
        image.mark = unsafe PluginImages.shared.add(
            handle,
            plugin: candidate.name,
            path: candidate.absolutePath,
            use: use
        )
        return image
    }

    /// Registers a gate that uses the image for crash notes.
    package func name(gate: String) {
        if let mark { PluginImages.shared.add(gate: gate, of: mark) }
    }

    /// The address of an exported function; nil if none has this name.
    package func symbol(named name: String) -> UnsafeMutableRawPointer? {
        unsafe DynamicLinker.symbol(name, in: handle)
    }
}
