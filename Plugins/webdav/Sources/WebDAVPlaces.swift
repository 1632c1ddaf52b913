// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorKit
internal import Synchronization

/// Lets one task at a time put something at a path.
///
/// A server may remove what is at a path just before it moves a file there: of two simultaneous moves, one would then
/// fail.
final class WebDAVPlaces: Sendable {
    /// The signal that the last task at each path sends when it leaves.
    private let last = Mutex<[String: OneShot<Void>]>([:])

    /// Runs work once no other work is under way at the path.
    func alone<Value: Sendable>(
        at path: String,
        _ body: () async throws(PluginError) -> Value
    ) async throws(PluginError) -> Value {
        let left = OneShot<Void>()
        let before = last.withLock { last in
            defer { last[path] = left }
            return last[path]
        }
        guard let before else {
            defer { leave(path, left) }
            return try await body()
        }
        guard await before.waitUnlessCancelled() != nil else {
            // Later tasks must still wait for the earlier ones.
            Task { [self] in
                await before.wait()
                leave(path, left)
            }
            throw PluginError(.cancelled, "the call was cancelled", domain: "webdav")
        }
        defer { leave(path, left) }
        return try await body()
    }

    private func leave(_ path: String, _ left: OneShot<Void>) {
        last.withLock { if $0[path] === left { $0[path] = nil } }
        left.send()
    }
}
