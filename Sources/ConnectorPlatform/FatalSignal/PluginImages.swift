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

/// An image as the image of one plugin, for ``CrashNote``.
package struct NamedImage: Sendable {
    /// Its place among the entries of ``PluginImages``.
    fileprivate let place: Int
    /// Its index in the table that the signal handlers read; negative if they do not name the plugin.
    let index: Int32
}

/// The plugin images loaded in this process, by address, for ``CrashNote``. Updated at every load, so that calls cost
/// nothing.
package final class PluginImages: Sendable {
    /// The table of this process, which has one address space.
    package static let shared = PluginImages()

    /// Whether an address in an image's code names the plugin: see `fatal_signal.h`.
    package enum Use: Sendable {
        /// Only the plugin uses the image.
        case own
        /// A foreign library that was loaded for the plugin.
        case brought
        /// A foreign library that the process had already.
        case shared
    }

    /// An image as the image of one plugin, and the gates that use it.
    private struct Entry {
        /// The handle that `dlopen` returned.
        let handle: UInt
        /// The plugin's id and version.
        let plugin: String
        /// The index in the table that the signal handlers read.
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

    /// Adds a loaded image as the image of a plugin, unless the table already has it as that plugin's.
    ///
    /// - Parameters:
    ///   - handle: The handle of `dlopen`, which is never closed.
    ///   - plugin: The plugin's id and version.
    ///   - path: The file that the image was read from, or the name of a library of the system.
    ///   - use: Whether other code uses the image. An image of another plugin is shared in any case.
    package func add(_ handle: UnsafeMutableRawPointer, plugin: String, path: String, use: Use) -> NamedImage {
        let key = UInt(bitPattern: handle)
        return state.withLock { state -> NamedImage in
            let known = state.entries.firstIndex { $0.handle == key && $0.plugin == plugin }
            if let known { return NamedImage(place: known, index: state.entries[known].index) }
            let isOthers = state.entries.contains { $0.handle == key }
            var index: Int32 = -1
            if let name = unsafe Self.forever(plugin), let path = unsafe Self.forever(path) {
                index = unsafe fatal_signal_add_image(handle, name, path, Self.number(of: isOthers ? .shared : use))
            }
            state.entries.append(Entry(handle: key, plugin: plugin, index: index))
            return NamedImage(place: state.entries.count - 1, index: index)
        }
    }

    /// The use as the signal handlers know it.
    private static func number(of use: Use) -> Int32 {
        switch use {
        case .own: FATAL_SIGNAL_OWN
        case .brought: FATAL_SIGNAL_BROUGHT
        case .shared: FATAL_SIGNAL_SHARED
        }
    }

    /// Adds a gate to those that use an image.
    package func add(gate: String, of image: NamedImage) {
        state.withLock { state in
            guard let text = state.entries[image.place].gates.add(gate), let names = unsafe Self.forever(text) else {
                return
            }
            unsafe fatal_signal_name_gates(state.entries[image.place].index, names)
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
