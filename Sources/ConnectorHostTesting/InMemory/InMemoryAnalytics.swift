// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
public import ConnectorHost
public import ConnectorOutbox
internal import Synchronization

/// Analytics for an application's tests: keeps the events that it receives, and delivers them to no vendor.
///
/// ```swift
/// let analytics = InMemoryAnalytics()
/// try await Checkout(analytics: analytics).complete(order)
/// #expect(analytics.events.map(\.event) == ["Order Completed"])
/// ```
///
/// Like the outbox, it keeps only the first event with a `messageId`, and keeps one whatever the timeout of the call, also in a
/// cancelled task. Use it from any thread.
public final class InMemoryAnalytics: Analytics {
    private struct State {
        var userId: String?
        var anonymousId = "anonymous"
        var events: [AnalyticsEvent] = []
        var error: ConnectorError?
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Timestamp

    /// Starts without events.
    ///
    /// - Parameter now: The time for events that have none; by default, the time of day.
    public init(now: @escaping @Sendable () -> Timestamp = { Timestamp.now }) {
        self.now = now
    }

    /// The events so far, in the order of their arrival.
    public var events: [AnalyticsEvent] { state.withLock(\.events) }

    /// The error that every call throws from now on, instead of keeping events; nil for none.
    public var error: ConnectorError? {
        get { state.withLock(\.error) }
        set { state.withLock { $0.error = newValue } }
    }

    /// The user of the events; nil until it is known.
    public var userId: String? {
        get { state.withLock(\.userId) }
        set { state.withLock { $0.userId = newValue } }
    }

    /// The anonymous id of the events; `anonymous` unless it is set.
    public var anonymousId: String {
        get { state.withLock(\.anonymousId) }
        set { state.withLock { $0.anonymousId = newValue } }
    }

    /// Fills in the user and the time if the event has none of its own.
    public func stamped(_ event: AnalyticsEvent) -> AnalyticsEvent {
        var event = event
        if event.userId == nil, event.anonymousId == nil {
            (event.userId, event.anonymousId) = state.withLock { ($0.userId, $0.anonymousId) }
        }
        event.timestamp = event.timestamp ?? now().wholeMilliseconds
        return event
    }

    /// Keeps an event.
    ///
    /// - Throws: `invalid` for an event that breaks the specification; ``error`` if it is set.
    @discardableResult
    public func send(_ event: AnalyticsEvent, options: CallOptions) async throws(ConnectorError) -> Receipt {
        try event.check()
        try keep([event])
        return Receipt(id: event.messageId, connectors: [], outcomes: [CallOutcome("memory")], outbox: nil)
    }

    /// Keeps a batch, and accepts each event, except that it rejects one that breaks the specification.
    public func deliver(
        _ events: [AnalyticsEvent],
        options: CallOptions
    ) async throws(ConnectorError) -> [DeliveryAnswer] {
        let batch = CheckedBatch(events) { event, index throws(ConnectorError) -> AnalyticsEvent in
            try event.check("events[\(index)]")
            return event
        }
        try options.begin("deliver")
        try keep(batch.models)
        return batch.answers(batch.models.map { _ in .accepted })
    }

    /// Does nothing, because no event is held back; throws ``error`` if it is set.
    @discardableResult
    public func flush(options: CallOptions) async throws(ConnectorError) -> [CallOutcome] {
        try options.begin("flush")
        try keep([])
        return [CallOutcome("memory")]
    }

    private func keep(_ events: [AnalyticsEvent]) throws(ConnectorError) {
        try state.withLock { state throws(ConnectorError) in
            if let error = state.error { throw error }
            for event in events where !state.events.contains(where: { $0.messageId == event.messageId }) {
                state.events.append(event)
            }
        }
    }
}
