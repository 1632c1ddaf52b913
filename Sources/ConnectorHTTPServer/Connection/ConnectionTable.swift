// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Synchronization

/// The connections of a server. When there are too many, the one that has been idle longest is closed.
///
/// Clients that open connections and send nothing, send half a request, or do not read the response therefore cannot lock others
/// out, however many they are. Only connections with a request in progress are never closed. Safe to use from any thread.
package final class ConnectionTable: Sendable {
    private struct State {
        /// The idle connections, with sequence numbers in the order in which they became idle.
        var idle: [ObjectIdentifier: (sequence: UInt64, channel: any Channel)] = [:]
        /// The connections with a request in progress, and whether the response is a stream.
        var busy: [ObjectIdentifier: (isStream: Bool, channel: any Channel)] = [:]
        var streams = 0
        /// The idle connections by sequence number; entries are stale if their connection has not been idle ever since.
        var order: [(sequence: UInt64, key: ObjectIdentifier)] = []
        /// The number of entries at the front of ``order`` that have been consumed.
        var consumed = 0
        var sequence: UInt64 = 0
        var isClosed = false

        /// Adds an idle connection, behind all others.
        mutating func append(_ key: ObjectIdentifier, _ channel: any Channel) {
            sequence += 1
            idle[key] = (sequence, channel)
            order.append((sequence, key))
            // The cost of compaction is amortized: each entry is visited at most twice.
            guard order.count > 64, order.count > 4 * idle.count else { return }
            order = order[consumed...].filter { idle[$0.key]?.sequence == $0.sequence }
            consumed = 0
        }

        /// Removes and returns the connection that has been idle longest; nil if none is idle.
        mutating func popOldest() -> (any Channel)? {
            while consumed < order.count {
                let (sequence, key) = order[consumed]
                consumed += 1
                if idle[key]?.sequence == sequence { return idle.removeValue(forKey: key)?.channel }
            }
            return nil
        }

        /// Removes a connection, whether idle or busy.
        mutating func remove(_ key: ObjectIdentifier) {
            idle[key] = nil
            if let connection = busy.removeValue(forKey: key), connection.isStream { streams -= 1 }
        }
    }

    private let limit: Int
    private let state = Mutex(State())

    /// Creates a table for at most `limit` connections.
    init(limit: Int) {
        self.limit = limit
    }

    /// The number of connections.
    package var count: Int { state.withLock { $0.idle.count + $0.busy.count } }

    /// The number of connections with a request in progress.
    package var busyCount: Int { state.withLock { $0.busy.count } }

    /// Adds an idle connection or marks a busy one as idle; if there are too many, closes the one that has been idle longest.
    ///
    /// - Returns: False once the table is closed.
    @discardableResult
    func markIdle(_ channel: any Channel) -> Bool {
        let key = ObjectIdentifier(channel)
        let (surplus, isOpen) = state.withLock { state -> ((any Channel)?, Bool) in
            state.remove(key)
            state.append(key, channel)
            let isFull = state.idle.count + state.busy.count > limit
            return (isFull ? state.popOldest() : nil, !state.isClosed)
        }
        surplus?.close(promise: nil)
        return isOpen
    }

    /// Marks a connection as busy, which means that a request is in progress.
    ///
    /// At most seven eighths of the connections may be busy, and at most half may carry a stream, so there is always room for idle
    /// ones that can be closed.
    ///
    /// - Returns: False if there are too many, or the connection has been closed; the request must then be refused.
    func markBusy(_ channel: any Channel, isStream: Bool = false) -> Bool {
        let key = ObjectIdentifier(channel)
        return state.withLock { state in
            // A missing connection has been closed to make room.
            guard state.idle[key] != nil || state.busy[key] != nil else { return false }
            let isBusy = state.busy[key] != nil
            guard isBusy || state.busy.count < limit - limit / 8, !isStream || state.streams < limit / 2 else {
                return false
            }
            state.remove(key)
            state.busy[key] = (isStream, channel)
            if isStream { state.streams += 1 }
            return true
        }
    }

    /// Removes a connection that has ended.
    func remove(_ channel: any Channel) {
        let key = ObjectIdentifier(channel)
        state.withLock { $0.remove(key) }
    }

    /// Closes the table, which refuses connections from then on.
    ///
    /// - Returns: The remaining connections.
    func close() -> [any Channel] {
        state.withLock { state in
            state.isClosed = true
            return state.idle.values.map(\.channel) + state.busy.values.map(\.channel)
        }
    }
}
