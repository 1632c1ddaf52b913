// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorCapabilities

/// The same calls, with typed settings.
extension SettingsClient {
    /// Reads a setting, or a value computed from several settings read at the same moment.
    ///
    /// - Throws: `invalid`, with the key, if a setting's value has the wrong type; the default never replaces it.
    public func value<Value>(
        of setting: some ReadableSetting<Value>,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Value {
        let keys = setting.keys
        var settings = JSONObject()
        if keys.count == 1, let key = keys.first {
            settings[key] = try await value(of: key, options: options)
        } else {
            settings = try await list(options: options)
        }
        return try target.checked { () throws(ConnectorError) in try setting.value(in: settings) }
    }

    /// Sets a value.
    ///
    /// - Returns: Once the value is stored.
    /// - Throws: `invalid` for a value that JSON cannot express, before anything is stored.
    public func set<Value>(
        _ value: Value,
        for setting: Setting<Value>,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        var change = SettingsChange()
        try target.checked { () throws(ConnectorError) in try change.set(value, for: setting) }
        try await self.change(change, options: options)
    }

    /// Removes a setting's value, which restores its default.
    public func remove<Value>(
        _ setting: Setting<Value>,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        try await remove(setting.key, options: options)
    }

    /// The current value, then every new value after a change, or after a reload that changes the default. A slow reader gets only
    /// the latest value.
    ///
    /// Watching begins with this call, so no later change is lost. The sequence ends when the host closes or the task
    /// is cancelled, and throws what ``value(of:options:)`` throws.
    ///
    /// - Returns: A sequence for one consumer.
    public func values<Value: Equatable>(
        of setting: some ReadableSetting<Value>,
        options: CallOptions = CallOptions()
    ) -> SettingValues<Value> {
        let keys = Set(setting.keys)
        return SettingValues(changes(), of: keys) { () async throws(ConnectorError) in
            try await value(of: setting, options: options)
        }
    }
}

/// The values of a setting: see ``SettingsClient/values(of:options:)``.
public struct SettingValues<Value: Equatable & Sendable>: AsyncSequence, Sendable {
    /// The value.
    public typealias Element = Value
    /// Thrown if reading the value fails.
    public typealias Failure = ConnectorError

    typealias Read = @Sendable () async throws(ConnectorError) -> Value

    private let changes: SettingsChanges
    private let keys: Set<String>
    private let read: Read

    init(_ changes: SettingsChanges, of keys: Set<String>, read: @escaping Read) {
        self.changes = changes
        self.keys = keys
        self.read = read
    }

    /// Starts consuming values.
    public func makeAsyncIterator() -> Iterator {
        Iterator(changes: changes.makeAsyncIterator(), keys: keys, read: read)
    }

    /// Reads the value, then reads it again after each change.
    public struct Iterator: AsyncIteratorProtocol {
        private var changes: SettingsChanges.Iterator
        private let keys: Set<String>
        private let read: Read
        private var last: Value?

        init(changes: SettingsChanges.Iterator, keys: Set<String>, read: @escaping Read) {
            self.changes = changes
            self.keys = keys
            self.read = read
        }

        /// Awaits the next value; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ConnectorError) -> Value? {
            if last == nil {
                last = try await read()
                return last
            }
            while let element = await changes.next(isolation: actor) {
                let names = element.change.values.names
                guard element.missed > 0 || names.isEmpty || names.contains(where: keys.contains) else { continue }
                let value = try await read()
                guard value != last else { continue }
                last = value
                return value
            }
            return nil
        }
    }
}
