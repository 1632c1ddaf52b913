// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
public import ConnectorCapabilities
package import ConnectorServices

/// New changes of settings, in order: see ``SettingsClient/changes()``.
public struct SettingsChanges: AsyncSequence, Sendable {
    /// A change, and how many events were lost before it.
    public struct Element: Sendable, Hashable {
        /// The new values; null for a removed setting.
        ///
        /// Empty after another instance of the plugin has taken over, perhaps with other defaults: after a reload, or once the gate has
        /// opened again. So is it if a value is too long for an event. Then read the settings again.
        public var change: SettingsChange
        /// How many events of the connector were lost just before this one because the consumer was slow. If not zero,
        /// read the settings again.
        public var missed: Int
    }

    /// Watching cannot fail.
    public typealias Failure = Never

    private let events: ConnectorEvents

    init(_ events: ConnectorEvents) {
        self.events = events
    }

    /// Starts consuming changes.
    public func makeAsyncIterator() -> Iterator {
        Iterator(events: events.makeAsyncIterator())
    }

    /// Awaits each change; finishes when the task is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        private var events: ConnectorEvents.Iterator
        /// Events lost before an event unrelated to settings.
        private var missed = 0

        init(events: ConnectorEvents.Iterator) {
            self.events = events
        }

        /// Awaits the next change; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            while let event = await events.next(isolation: actor) {
                missed += event.missed
                guard event.name == SettingsChange.event, let change = try? SettingsChange(json: event.payload) else {
                    continue
                }
                defer { missed = 0 }
                return Element(change: change, missed: missed)
            }
            return nil
        }
    }
}

extension ConnectorEvent {
    /// What has happened, for people, if the payload does not say it: nil for any other event.
    ///
    /// After another instance of a plugin of `settings/1` has taken over, the host itself sends an empty change; a plugin sends one for a
    /// value that is too long for an event.
    package var explanation: String? {
        guard name == SettingsChange.event, payload == SettingsChange().json else { return nil }
        return "its instance was replaced, or a value is too long to show: read its settings again"
    }
}
