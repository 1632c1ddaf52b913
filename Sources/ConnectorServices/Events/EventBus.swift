// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Takes events from plugins to whoever listens; without listeners it costs one atomic load.
package final class EventBus: Sendable {
    /// Somebody who listens.
    private struct Listener: Sendable {
        /// The path of the connectors that count; nil for all.
        let path: String?
        let mailbox: EventMailbox

        func hears(_ connector: String) -> Bool {
            guard let path, !path.isEmpty else { return true }
            return connector == path || connector.hasPrefix(path + "/")
        }
    }

    private struct State {
        var listeners: [UInt64: Listener] = [:]
        var isFinished = false
    }

    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    /// Nobody listens.
    package init() {}

    /// Whether somebody listens, to anything.
    package var isHeard: Bool { count.load(ordering: .relaxed) > 0 }

    /// Listens.
    ///
    /// - Parameters:
    ///   - path: A connector, or a composite for all below it; nil for all.
    ///   - capacity: How many events wait for the listener before the oldest are lost.
    package func events(of path: String? = nil, capacity: Int = 256) -> ConnectorEvents {
        let id = ServiceIdentifier.next()
        let mailbox = EventMailbox(capacity: capacity)
        let isFinished = state.withLock { state in
            guard !state.isFinished else { return true }
            state.listeners[id] = Listener(path: path, mailbox: mailbox)
            count.store(state.listeners.count, ordering: .relaxed)
            return false
        }
        if isFinished { mailbox.finish() }
        return ConnectorEvents(EventSubscription(mailbox) { [weak self] in self?.remove(id) })
    }

    /// Whether somebody listens to a connector.
    package func isHeard(_ connector: String) -> Bool {
        isHeard && state.withLock { $0.listeners.values.contains { $0.hears(connector) } }
    }

    /// Tells everybody who listens to the event's connector.
    package func publish(_ event: ConnectorEvent) {
        guard isHeard else { return }
        let mailboxes = state.withLock { state in
            state.listeners.values.filter { $0.hears(event.connector) }.map(\.mailbox)
        }
        for mailbox in mailboxes { mailbox.put(event) }
    }

    /// Ends all listening, when the host is closed.
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
