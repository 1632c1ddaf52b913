// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

/// An image in this process's memory, where it stays until the process ends.
///
/// Never unloaded: after `dlclose` of an image with Swift metadata the next dynamic cast anywhere in the process crashes,
/// and Rust and C++ images that register thread-local destructors stay mapped anyway. A plugin is given up by destroying
/// its instances.
///
/// Sendable by this proof: the handle is never written after `init`; it serves `dlsym` only, which may be called from
/// any thread (POSIX, dlsym: "MT-Safe"); and what it names is never freed, since nothing here closes it.
@safe
package struct LoadedImage: @unchecked Sendable {
    /// What was loaded.
    package let content: ImageContent
    private let handle: UnsafeMutableRawPointer

    /// Takes a handle of `dlopen`, for good.
    package init(_ handle: UnsafeMutableRawPointer, content: ImageContent) {
        unsafe self.handle = handle
        self.content = content
    }

    /// Names the image in the notes of a crash, the first time.
    package func name(plugin: String, path: String) {
        unsafe PluginImages.shared.add(handle, plugin: plugin, path: path)
    }

    /// Names a gate that uses the image in the notes of a crash.
    package func name(gate: String) {
        unsafe PluginImages.shared.add(gate: gate, of: handle)
    }

    /// The address of an exported function; nil if none has this name.
    package func symbol(named name: String) -> UnsafeMutableRawPointer? {
        unsafe DynamicLinker.symbol(name, in: handle)
    }
}
