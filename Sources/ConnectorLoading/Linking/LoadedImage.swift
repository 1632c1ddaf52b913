// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

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

    /// Wraps a handle of `dlopen`, which is never closed.
    package init(_ handle: UnsafeMutableRawPointer, content: ImageContent) {
        unsafe self.handle = handle
        self.content = content
    }

    /// Registers the image for crash notes, on the first call.
    package func name(plugin: String, path: String) {
        unsafe PluginImages.shared.add(handle, plugin: plugin, path: path)
    }

    /// Registers a gate that uses the image for crash notes.
    package func name(gate: String) {
        unsafe PluginImages.shared.add(gate: gate, of: handle)
    }

    /// The address of an exported function; nil if none has this name.
    package func symbol(named name: String) -> UnsafeMutableRawPointer? {
        unsafe DynamicLinker.symbol(name, in: handle)
    }
}
