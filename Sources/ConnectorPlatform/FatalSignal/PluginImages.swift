// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CFatalSignal
internal import ConnectorManifest
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The plugins' images of this process by their addresses, for ``CrashNote``; filled at every load, so calls pay nothing.
package final class PluginImages: Sendable {
    /// The one table: the process has one set of addresses.
    package static let shared = PluginImages()

    private struct State {
        /// The images by their handles.
        var entries: [UInt: (index: Int32, gates: [String])] = [:]
        /// The files whose constructors run, or wait for the dynamic linker's lock; the first one has it.
        var loading: [String] = []
    }

    private let state = Mutex(State())

    private init() {}

    /// Adds a loaded image, unless it is there already.
    ///
    /// - Parameters:
    ///   - handle: The handle of `dlopen`, which is never closed.
    ///   - plugin: The plugin's id and version.
    ///   - path: The file that the image was read from.
    package func add(_ handle: UnsafeMutableRawPointer, plugin: String, path: String) {
        let key = UInt(bitPattern: handle)
        state.withLock { state in
            guard state.entries[key] == nil, let name = unsafe Self.forever(plugin),
                let path = unsafe Self.forever(path)
            else { return }
            state.entries[key] = (unsafe fatal_signal_add_image(handle, name, path), [])
        }
    }

    /// Adds a gate to those that use an image.
    package func add(gate: String, of handle: UnsafeMutableRawPointer) {
        let key = UInt(bitPattern: handle)
        state.withLock { state in
            guard let entry = state.entries[key], !entry.gates.contains(gate) else { return }
            state.entries[key]?.gates.append(gate)
            guard let names = unsafe Self.forever((entry.gates + [gate]).joined(separator: ", ")) else { return }
            unsafe fatal_signal_name_gates(entry.index, names)
        }
    }

    /// Remembers whose constructors run on this thread from now on; ``endLoading(_:)`` follows.
    package func beginLoading(_ plugin: String, path: String) {
        unsafe fatal_signal_set_loading(Self.forever(plugin))
        state.withLock { $0.loading.append(path) }
    }

    /// Forgets it: the constructors of the file have run.
    package func endLoading(_ path: String) {
        fatal_signal_set_loading(nil)
        state.withLock { state in
            if let place = state.loading.firstIndex(of: path) { state.loading.remove(at: place) }
        }
    }

    /// The file whose constructors run now and keep every other image waiting; nil if none do.
    package var pathBeingLoaded: String? { state.withLock(\.loading.first) }

    /// A copy for a signal handler, escaped for JSON. It is never freed, since a handler may read it at any time.
    private static func forever(_ text: String) -> UnsafeMutablePointer<CChar>? {
        unsafe strdup(String(JSONValue.string(text).serialized().dropFirst().dropLast()))
    }
}
