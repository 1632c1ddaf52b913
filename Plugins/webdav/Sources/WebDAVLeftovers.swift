// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Removes temporary files that nobody needs any more: later, if the server is away, and also those that a killed host has left.
final class WebDAVLeftovers: Sendable {
    private let host: Host
    private let requests: WebDAVRequests
    private let connection: WebDAVConnection
    private let state = Mutex(State())

    private struct State {
        /// The paths whose removal has failed.
        var paths: [String] = []
        /// When the collection of uploads was last searched, in nanoseconds on the monotonic clock; nil if it never was.
        var searchedAt: UInt64?
    }

    /// The most paths to remember.
    private static let limit = 1000
    /// How long each of the requests may take that clean up beside other work.
    private static let patience = Duration.seconds(3)
    /// How old a file must be, in nanoseconds, that no upload of another host can be using: an upload is idle for at most an hour.
    private static let staleAge: UInt64 = 86_400_000_000_000
    /// How long after a search of the collection the next one follows, in nanoseconds.
    private static let searchInterval: UInt64 = 3_600_000_000_000

    init(host: Host, requests: WebDAVRequests, connection: WebDAVConnection) {
        (self.host, self.requests, self.connection) = (host, requests, connection)
    }

    /// Removes a file. If that fails, ``clean()`` tries again.
    func remove(_ path: String) async {
        // A detached task, because this one may have been cancelled, and the call's deadline may have passed.
        let left = await Task.detached { [self] in await removing([path]) }.value
        remember(left)
    }

    /// Removes what is left of earlier uploads, as far as half of the call's time suffices. Call it when the server has just answered.
    func clean() async {
        let paths = state.withLock { state in
            defer { state.paths = [] }
            return state.paths
        }
        let left = await removing(paths, within: Self.patience)
        remember(left)
        guard left.isEmpty else { return }
        // The next search finds again what remains of these.
        _ = await removing(await stale(), within: Self.patience)
    }

    /// Removes files, one after the other, until the server does not answer.
    ///
    /// - Returns: The paths that are still to be removed.
    private func removing(_ paths: [String], within timeout: Duration? = nil) async -> [String] {
        var left: [String] = []
        for (index, path) in paths.enumerated() {
            var request = requests.delete(path)
            request.timeout = timeout
            guard !Deadline.isHalfOver, let response = try? await host.http.send(request) else {
                return left + paths[index...]
            }
            // A request that is refused now would be refused again.
            let isSettled = (200..<500).contains(response.status) && ![408, 423, 429].contains(response.status)
            if !isSettled { left.append(path) }
        }
        return left
    }

    private func remember(_ paths: [String]) {
        state.withLock { $0.paths = ($0.paths + paths).suffix(Self.limit) }
    }

    /// The temporary files of hosts that were killed. Asks the server once an hour.
    private func stale() async -> [String] {
        let now = host.clock.monotonic
        let isDue = state.withLock { state in
            if let last = state.searchedAt, last + Self.searchInterval > now { return false }
            state.searchedAt = now
            return true
        }
        guard isDue else { return [] }
        let paths = await connection.files(in: WebDAVRequests.uploadsName, unchangedFor: Self.staleAge)
        return paths.filter { Self.isStale($0, at: host.clock.now) }
    }

    /// Whether a file has a name that this adapter gives, and was begun long ago. The time of its last change does not say so: a server such
    /// as lighttpd gives a copy that of the original.
    private static func isStale(_ path: String, at now: Timestamp) -> Bool {
        let name = WebDAVRequests.segments(of: path).last ?? ""
        guard name.utf8.count == 36, name.utf8.allSatisfy({ "0123456789abcdef-".utf8.contains($0) }),
            // The first 48 bits of such a UUID are milliseconds.
            let beginning = UInt64(name.filter { $0 != "-" }.prefix(12), radix: 16)
        else { return false }
        return beginning + staleAge / 1_000_000 <= now.nanoseconds / 1_000_000
    }
}
