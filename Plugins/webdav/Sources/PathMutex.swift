// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorKit
internal import Synchronization

/// A mutex for each path, which lets one task at a time put something there.
///
/// A server may remove what is at a path just before it moves a file there: of two simultaneous moves, one would then
/// fail.
final class PathMutex: Sendable {
    /// The signal that the last task of each path sends when it unlocks the path.
    private let last = Mutex<[String: OneShot<Void>]>([:])

    /// Runs work once no other work is under way at the path. Tasks run in the order in which they asked.
    func withLock<Value: Sendable>(
        at path: String,
        _ body: () async throws(PluginError) -> Value
    ) async throws(PluginError) -> Value {
        let unlocked = OneShot<Void>()
        let before = last.withLock { last in
            defer { last[path] = unlocked }
            return last[path]
        }
        guard let before else {
            defer { unlock(path, unlocked) }
            return try await body()
        }
        guard await before.waitUnlessCancelled() != nil else {
            // Later tasks must still wait for the earlier ones.
            Task { [self] in
                await before.wait()
                unlock(path, unlocked)
            }
            throw PluginError(.cancelled, "the call was cancelled", domain: "webdav")
        }
        defer { unlock(path, unlocked) }
        return try await body()
    }

    private func unlock(_ path: String, _ unlocked: OneShot<Void>) {
        last.withLock { if $0[path] === unlocked { $0[path] = nil } }
        unlocked.send()
    }
}
