// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Synchronization

/// The connections of a server. When there are too many, the one that has waited longest without an answer under way makes room.
///
/// So clients that open connections and say nothing, say half of something, or take no answer keep nobody out, however many
/// they are. Only connections for which the host is at work stay.
package final class ConnectionTable: Sendable {
    private struct State {
        /// Those that can make room, with the number of their last turn.
        var waiting: [ObjectIdentifier: (turn: UInt64, channel: any Channel)] = [:]
        /// Those that the host is at work for, and whether they have a stream.
        var busy: [ObjectIdentifier: (isStream: Bool, channel: any Channel)] = [:]
        var streams = 0
        /// Those of ``waiting`` in the order of their turns, among others that have had another turn since.
        var order: [(turn: UInt64, key: ObjectIdentifier)] = []
        /// How many at the front of ``order`` were looked at.
        var passed = 0
        var turn: UInt64 = 0
        var isClosed = false

        /// Lets a connection wait, behind all others.
        mutating func append(_ key: ObjectIdentifier, _ channel: any Channel) {
            turn += 1
            waiting[key] = (turn, channel)
            order.append((turn, key))
            // Each turn is looked at twice at most.
            guard order.count > 64, order.count > 4 * waiting.count else { return }
            order = order[passed...].filter { waiting[$0.key]?.turn == $0.turn }
            passed = 0
        }

        /// Takes the connection out that has waited longest.
        mutating func popOldest() -> (any Channel)? {
            while passed < order.count {
                let (turn, key) = order[passed]
                passed += 1
                if waiting[key]?.turn == turn { return waiting.removeValue(forKey: key)?.channel }
            }
            return nil
        }

        /// Counts a connection out.
        ///
        /// - Returns: Whether the host was at work for it.
        mutating func remove(_ key: ObjectIdentifier) -> Bool {
            waiting[key] = nil
            guard let connection = busy.removeValue(forKey: key) else { return false }
            if connection.isStream { streams -= 1 }
            return true
        }
    }

    private let limit: Int
    private let state = Mutex(State())

    /// Takes the most connections at once.
    init(limit: Int) {
        self.limit = limit
    }

    /// How many connections there are.
    package var count: Int { state.withLock { $0.waiting.count + $0.busy.count } }

    /// How many connections have a request that the host is at work for.
    package var busyCount: Int { state.withLock { $0.busy.count } }

    /// Counts a connection in that can make room, or moves it to the end of those that can.
    ///
    /// - Returns: False once no more are taken.
    @discardableResult
    func wait(_ channel: any Channel) -> Bool {
        let key = ObjectIdentifier(channel)
        let (surplus, isOpen) = state.withLock { state -> ((any Channel)?, Bool) in
            _ = state.remove(key)
            state.append(key, channel)
            let isFull = state.waiting.count + state.busy.count > limit
            return (isFull ? state.popOldest() : nil, !state.isClosed)
        }
        surplus?.close(promise: nil)
        return isOpen
    }

    /// Marks a connection as one that the host is at work for.
    ///
    /// An eighth of the connections is never at work, and half of them have no stream: so there is always one that can make room.
    ///
    /// - Returns: Whether the host may begin.
    func work(_ channel: any Channel, isStream: Bool = false) -> Bool {
        let key = ObjectIdentifier(channel)
        return state.withLock { state in
            // One that is not there has made room, and is about to end.
            guard state.waiting[key] != nil || state.busy[key] != nil else { return false }
            let isBusy = state.busy[key] != nil
            guard isBusy || state.busy.count < limit - limit / 8, !isStream || state.streams < limit / 2 else {
                return false
            }
            _ = state.remove(key)
            state.busy[key] = (isStream, channel)
            if isStream { state.streams += 1 }
            return true
        }
    }

    /// Counts a connection out.
    func leave(_ channel: any Channel) {
        let key = ObjectIdentifier(channel)
        state.withLock { state in _ = state.remove(key) }
    }

    /// Takes no more connections.
    ///
    /// - Returns: Those that there are.
    func close() -> [any Channel] {
        state.withLock { state in
            state.isClosed = true
            return state.waiting.values.map(\.channel) + state.busy.values.map(\.channel)
        }
    }
}
