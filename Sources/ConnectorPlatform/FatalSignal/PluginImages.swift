// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CFatalSignal
internal import ConnectorBase
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The paths of the gates that use an image, as a crash note lists them: the first ``limit``, and whether there are more.
///
/// Every text is kept forever, so there must be few.
struct GateNames {
    /// How many are named.
    static let limit = 16

    private var gates: Set<String> = []
    private var text = ""

    /// Adds a gate.
    ///
    /// - Returns: The text, if it has changed.
    mutating func add(_ gate: String) -> String? {
        guard gates.count <= Self.limit, gates.insert(gate).inserted else { return nil }
        text = gates.count > Self.limit ? "\(text), and more" : text.isEmpty ? gate : "\(text), \(gate)"
        return text
    }
}

/// The plugin images loaded in this process, by address, for ``CrashNote``. Updated at every load, so that calls cost
/// nothing.
package final class PluginImages: Sendable {
    /// The table of this process, which has one address space.
    package static let shared = PluginImages()

    /// An image, and the gates that use it.
    private struct Entry {
        /// The handle that `dlopen` returned.
        let handle: UInt
        /// The image's index in the table that the signal handlers read.
        let index: Int32
        /// The gates.
        var gates = GateNames()
    }

    private struct State {
        /// The images, newest last.
        var entries: [Entry] = []
        /// The files whose constructors run or wait for the dynamic linker's lock; the first holds the lock.
        var loading: [String] = []
    }

    private let state = Mutex(State())

    private init() {}

    /// Adds a loaded image, unless the table already has it.
    ///
    /// - Parameters:
    ///   - handle: The handle of `dlopen`, which is never closed.
    ///   - plugin: The plugin's id and version.
    ///   - path: The file that the image was read from.
    package func add(_ handle: UnsafeMutableRawPointer, plugin: String, path: String) {
        let key = UInt(bitPattern: handle)
        state.withLock { state in
            guard !state.entries.contains(where: { $0.handle == key }), let name = unsafe Self.forever(plugin),
                let path = unsafe Self.forever(path)
            else { return }
            state.entries.append(Entry(handle: key, index: unsafe fatal_signal_add_image(handle, name, path)))
        }
    }

    /// Adds a gate to those that use an image.
    package func add(gate: String, of handle: UnsafeMutableRawPointer) {
        let key = UInt(bitPattern: handle)
        state.withLock { state in
            guard let place = state.entries.lastIndex(where: { $0.handle == key }),
                let text = state.entries[place].gates.add(gate), let names = unsafe Self.forever(text)
            else { return }
            unsafe fatal_signal_name_gates(state.entries[place].index, names)
        }
    }

    /// Records that a plugin's constructors are about to run on this thread. ``endLoading(_:)`` must follow.
    package func beginLoading(_ plugin: String, path: String) {
        unsafe fatal_signal_set_loading(Self.forever(plugin))
        state.withLock { $0.loading.append(path) }
    }

    /// Records that the constructors of a file have run.
    package func endLoading(_ path: String) {
        fatal_signal_set_loading(nil)
        state.withLock { state in
            if let place = state.loading.firstIndex(of: path) { state.loading.remove(at: place) }
        }
    }

    /// The file whose constructors are running and hold up every other load; nil if none are.
    package var pathBeingLoaded: String? { state.withLock(\.loading.first) }

    /// A copy for a signal handler, escaped for JSON. It is never freed, since a handler may read it at any time.
    private static func forever(_ text: String) -> UnsafeMutablePointer<CChar>? {
        // Copy without the enclosing quotes.
        unsafe JSONValue.string(text).utf8().withUnsafeBytes { bytes in
            guard let text = bytes.baseAddress else { return nil }
            return unsafe strndup(text.assumingMemoryBound(to: CChar.self) + 1, bytes.count - 2)
        }
    }
}
