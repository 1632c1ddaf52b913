// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    internal import ConnectorBase
    internal import ConnectorPlatform
    internal import Synchronization

    /// The sealed images that are being handed to runners: however many gates of an image open at once, its bytes are read, checked
    /// and sealed once, and are in memory once.
    ///
    /// The gates that open own them; the record forgets what none of them keeps.
    final class SealedPlugins: Sendable {
        /// The record of this process.
        static let shared = SealedPlugins()

        /// What was sealed last for a path.
        private struct Sealed: Sendable {
            let request: LoadedFiles.Request
            weak var plugin: SealedPlugin?
        }

        /// Lets one thread at a time seal a path's file. Not a `Mutex`, whose waiters would spin.
        private let locks = Mutex<[String: Monitor<Sealed?>]>([:])

        /// The sealed image of a candidate. Blocks.
        ///
        /// - Parameter seal: Reads, checks and seals the file; not called if what it would return is still in use.
        func plugin(
            of candidate: PluginCandidate,
            _ admission: PluginAdmission,
            _ seal: () throws(ConnectorError) -> SealedPlugin
        ) throws(ConnectorError) -> SealedPlugin {
            let lock = locks.withLock { locks in
                let lock = locks[candidate.path] ?? Monitor(nil)
                locks[candidate.path] = lock
                return lock
            }
            return try lock.withLock { last throws(ConnectorError) in
                // Read the stamps before the bytes: a file that changes after this counts as another one the next time.
                let request = LoadedFiles.Request(candidate, admission)
                if let last, last.request == request, let plugin = last.plugin,
                    plugin.libraries.allSatisfy({ $0.stamp == FileStamp(path: $0.path) })
                {
                    return plugin
                }
                let plugin = try seal()
                last = Sealed(request: request, plugin: plugin)
                return plugin
            }
        }
    }
#endif
