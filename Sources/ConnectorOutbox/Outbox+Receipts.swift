// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// What receipts report about their events.
extension Outbox {
    /// Yields the state of an event and every change of it, until the state is final at each connector.
    ///
    /// - Parameter onFailure: Called with the error of an outbox that cannot be read, before the changes end.
    func follow(
        _ id: String,
        at paths: [String],
        _ continuation: AsyncStream<DeliveryChange>.Continuation,
        onFailure: @escaping @Sendable (ConnectorError) -> Void = { _ in }
    ) {
        let subscriber = ReceiptSubscriber(of: paths, continuation)
        let subscription = receipts.subscribe(subscriber, to: id)
        let reading = Mutex<Task<Void, Never>?>(nil)
        continuation.onTermination = { [receipts] _ in
            receipts.unsubscribe(subscription, from: id)
            reading.withLock { $0?.cancel() }
        }
        let task = Task {
            // Read after the registration, so that no change between the two is missed.
            let places = state.withLock { state in paths.map { state.currentPath(of: $0) } }
            let changes: [DeliveryChange]
            do throws(ConnectorError) {
                let engine = try await engine()
                let records = try await engine.records(RecordSelection(paths: Set(places + paths), ids: [id]))
                if !engine.isShared { state.withLock { watch(&$0) } }
                changes = zip(paths, places).map { path, place in
                    // The event of a connector that is moving may still be at the old path, where it is dropped once it is at the new one.
                    let old = records.first { $0.path == path && (path == place || $0.state != .dropped) }
                    let record = records.first { $0.path == place } ?? old
                    // An event that the engine has forgotten was delivered, or dropped long ago.
                    return record?.change(at: path) ?? DeliveryChange(path, .delivered)
                }
                if changes.contains(where: \.state.isFinal) {
                    await awaitCount(of: id, at: Set(places + paths), engine)
                }
            } catch {
                // If the host closes, the engine may have closed under the call.
                if !isClosing { onFailure(error) }
                return continuation.finish()
            }
            for change in changes { subscriber.begin(with: change) }
        }
        reading.withLock { $0 = task }
    }

    /// Waits until the statistics include what the engine's records say of an event, so that a subscriber finds it counted.
    private func awaitCount(of id: String, at paths: Set<String>, _ engine: any OutboxEngine) async {
        let (deliveries, isElsewhere) = state.withLock { state in
            (paths.compactMap { state.deliveries[$0] }, state.lock == nil && !engine.isShared)
        }
        for delivery in deliveries { await delivery.counted(id) }
        // Another process delivers.
        if isElsewhere { try? await refresh(engine) }
    }

    /// Notifies receipts of what became of their events in other processes, and of the events that operators dropped: this
    /// process learns only of its own deliveries.
    ///
    /// Does nothing for an engine that would have to read its whole queue for it.
    func notifyReceipts(_ engine: any OutboxEngine) async throws(ConnectorError) {
        let awaited = receipts.ids
        guard !awaited.isEmpty, !engine.isShared else { return }
        let final: Set<OutboxRecord.State> = [.delivered, .dead, .dropped]
        let records = try await engine.records(RecordSelection(ids: awaited, states: final))
        guard !records.isEmpty else { return }
        // Refresh first, so that a subscriber finds the event counted.
        try await refresh(engine)
        for record in records {
            // At the old path of a moved connector, events were dropped once they were at the new one.
            if record.state == .dropped, state.withLock({ $0.renames[record.path] != nil }) { continue }
            for path in receiptPaths(of: record.path) {
                receipts.publish(record.change(at: path), of: record.event.id)
            }
        }
    }

    /// Notifies receipts that a connector's queue has dropped their events.
    func notifyDropped(_ ids: some Sequence<String>, at path: String) {
        guard !receipts.isEmpty else { return }
        for name in receiptPaths(of: path) {
            for id in ids { receipts.publish(.dropped(at: name), of: id) }
        }
    }

    /// The paths that receipts may know a connector by: a receipt from before a move knows the old path.
    func receiptPaths(of path: String) -> [String] { state.withLock { [path] + $0.names(of: path) } }
}

extension OutboxRecord {
    /// What became of the event, for a receipt that knows the connector by a path.
    fileprivate func change(at path: String) -> DeliveryChange {
        let state: DeliveryChange.State
        switch self.state {
        case .queued: state = attempts.isEmpty ? .queued : .retrying
        case .delivered: return DeliveryChange(path, .delivered)
        case .dead: state = .dead
        case .dropped: return .dropped(at: path)
        }
        let failure = attempts.last?.failure
        return DeliveryChange(path, state, error: failure.map { ConnectorError($0.code, $0.reason, connector: path) })
    }
}
