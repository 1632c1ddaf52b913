// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorServices
internal import Synchronization

extension Gate {
    /// The maximum number of events that wait for a gate to open for the first time; beyond it, the oldest are lost.
    static let earlyLimit = 256

    /// Sends an event as if the plugin had sent it: at once if the gate is open, otherwise when it first opens.
    ///
    /// A gate that was open before and no longer is drops the event.
    func emit(_ name: String, _ payload: JSONValue) {
        let event = ConnectorEvent(
            connector: path,
            name: name,
            payload: dependencies.redactor.redact(payload),
            time: dependencies.clock.wallTime()
        )
        let (isOpen, isFull) = storage.withLock { storage in
            let isOpen = storage.machine.state.isUsable
            guard isOpen || storage.history.successCount == 0 else { return (false, false) }
            storage.early.append(event)
            guard storage.early.count > Self.earlyLimit else { return (isOpen, false) }
            storage.early.removeFirst()
            return (isOpen, true)
        }
        if isFull { misbehaved("the gate has not opened yet, and the oldest of its simulated events was lost") }
        if isOpen { sendEarlyEvents() }
    }

    /// Sends the events that waited for the gate to open.
    func sendEarlyEvents() {
        let events = storage.withLock { storage in
            defer { storage.early = [] }
            return storage.early
        }
        for event in events { dependencies.services.events.publish(event) }
    }
}
