// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Delivers plugins' events to listeners; without listeners, an event costs one atomic load.
package final class EventBus: Sendable {
    /// One listener.
    private struct Listener: Sendable {
        /// Returns the paths of the connectors and composites that it listens to; nil for all.
        let paths: (@Sendable () -> Set<String>)?
        let mailbox: EventMailbox

        func receives(_ connector: String) -> Bool {
            guard let paths = paths?(), !paths.contains("") else { return true }
            return paths.contains { connector == $0 || connector.hasPrefix($0 + "/") }
        }
    }

    private struct State {
        var listeners: [UInt64: Listener] = [:]
        var isFinished = false
    }

    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    /// Creates a bus without listeners.
    package init() {}

    deinit { finish() }

    /// Whether there is any listener.
    package var hasListeners: Bool { count.load(ordering: .relaxed) > 0 }

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - paths: Returns, for each event, the connectors, and composites for all connectors below them; nil for all. Must not use the
    ///     bus, nor keep what keeps it.
    ///   - capacity: The most events that may wait; above it, the oldest are lost.
    package func events(among paths: (@Sendable () -> Set<String>)? = nil, capacity: Int = 256) -> ConnectorEvents {
        let id = ServiceIdentifier.next()
        let mailbox = EventMailbox(capacity: capacity)
        let isFinished = state.withLock { state in
            guard !state.isFinished else { return true }
            state.listeners[id] = Listener(paths: paths, mailbox: mailbox)
            count.store(state.listeners.count, ordering: .relaxed)
            return false
        }
        if isFinished { mailbox.finish() }
        return ConnectorEvents(EventSubscription(mailbox) { [weak self] in self?.remove(id) })
    }

    /// Whether any listener receives the events of a connector.
    package func hasListeners(for connector: String) -> Bool {
        hasListeners && state.withLock { $0.listeners.values.contains { $0.receives(connector) } }
    }

    /// Delivers an event to every listener of its connector.
    package func publish(_ event: ConnectorEvent) {
        guard hasListeners else { return }
        let mailboxes = state.withLock { state in
            state.listeners.values.filter { $0.receives(event.connector) }.map(\.mailbox)
        }
        for mailbox in mailboxes { mailbox.put(event) }
    }

    /// Finishes every listener's sequence, when the host closes, or when nothing is left that could publish.
    package func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            count.store(0, ordering: .relaxed)
            defer { state.listeners = [:] }
            return state.listeners
        }
        for listener in listeners.values { listener.mailbox.finish() }
    }

    private func remove(_ id: UInt64) {
        state.withLock { state in
            state.listeners[id] = nil
            count.store(state.listeners.count, ordering: .relaxed)
        }
    }
}
