// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
internal import Synchronization

/// Examines many images on several threads. Each image costs about 15 µs, nearly all of it in system calls; for a known
/// image, only the metadata is read.
package enum PluginScan {
    /// An image, and the sidecar beside it.
    package typealias Pair = (image: String, sidecar: String?)

    /// The number of images for which another thread pays off.
    private static let batch = 32

    /// Examines images, and returns the entries in the order of the pairs. Blocks the calling thread.
    ///
    /// - Parameter known: The entries of an earlier scan, by path, which are returned again where nothing has changed.
    package static func entries(of pairs: [Pair], _ known: [String: PluginEntry] = [:]) -> [PluginEntry] {
        @Sendable func entry(_ pair: Pair) -> PluginEntry {
            if let entry = known[pair.image], entry.isCurrent(sidecar: pair.sidecar) { return entry }
            return PluginEntry(image: pair.image, sidecar: pair.sidecar)
        }
        guard pairs.count > batch else { return pairs.map(entry) }
        let batches = (pairs.count + batch - 1) / batch
        let results = Mutex<[[PluginEntry]]>(Array(repeating: [], count: batches))
        DispatchQueue.concurrentPerform(iterations: batches) { number in
            let part = pairs[(number * batch)..<min((number + 1) * batch, pairs.count)]
            let entries = part.map(entry)
            results.withLock { $0[number] = entries }
        }
        return results.withLock { $0.flatMap(\.self) }
    }
}
