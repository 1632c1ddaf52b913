// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
internal import ConnectorServices

/// Reads, changes and watches settings through a connector of `connectors.json`.
///
/// ```swift
/// let settings = try host.settings("settings")
/// try await settings.set("dark", for: "theme")
/// ```
///
/// Declare each setting once as a ``Setting``, with a type and a default; values of any other type are rejected.
///
/// A call that fails throws a `ConnectorError`: `invalid` for a malformed key or a value of the wrong type; `too-large`
/// beyond the plugin's limits; `unavailable` if a change could not be stored, in which case nothing has changed;
/// `not-open`; `timed-out`; `cancelled` if the caller's task was cancelled. A change that timed out or was cancelled
/// may have taken effect.
///
/// A client gives access to its own connector only. Use it from any thread. Do not store secrets in settings.
public struct SettingsClient: Sendable {
    let target: ClientTarget
    private let listen: @Sendable () -> ConnectorEvents

    init(_ target: ClientTarget, listen: @escaping @Sendable () -> ConnectorEvents) {
        self.target = target
        self.listen = listen
    }

    /// Reads a setting of any type.
    ///
    /// - Returns: The value, which may be the plugin's default; nil if there is none.
    public func value(
        of key: String,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> JSONValue? {
        let texts: [(name: String, text: [UInt8]?)] = [("key", Array(key.utf8))]
        return try await target.call("get", texts: texts, options) { json in json == .null ? JSONValue?.none : json }
    }

    /// Sets a value.
    ///
    /// - Returns: Once the value is stored.
    public func set(
        _ value: JSONValue,
        for key: String,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        try target.checked { () throws(ConnectorError) in try SettingsChange.check(value, for: key) }
        let texts: [(name: String, text: [UInt8]?)] = [("key", Array(key.utf8)), ("value", value.utf8())]
        _ = try await target.call("set", CallArguments(texts: texts), options)
    }

    /// Removes a setting's value; a setting without a value is not an error. The plugin's default, if any, remains.
    public func remove(_ key: String, options: CallOptions = CallOptions()) async throws(ConnectorError) {
        _ = try await target.call("remove", CallArguments(texts: [("key", Array(key.utf8))]), options)
    }

    /// Reads several settings, all at the same moment.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of their keys; empty for all settings.
    ///   - options: The timeout of the call.
    /// - Returns: Values by key, in byte order of the keys.
    public func list(
        startingWith prefix: String = "",
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> JSONObject {
        let texts: [(name: String, text: [UInt8]?)] = [("prefix", prefix.isEmpty ? nil : Array(prefix.utf8))]
        return try await target.call("list", texts: texts, options) { json throws(ConnectorError) in
            guard let settings = json.object else {
                throw ConnectorError(.invalid, "expected an object of settings, not \(json.kind)")
            }
            return settings
        }
    }

    /// Changes several settings atomically: all of them, or none if it throws.
    ///
    /// ```swift
    /// var change = SettingsChange()
    /// try change.set("dark", for: theme)
    /// try change.remove(volume)
    /// try await settings.change(change)
    /// ```
    public func change(
        _ change: SettingsChange,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        _ = try await target.call("change", CallArguments(texts: [("changes", change.json.utf8())]), options)
    }

    /// New changes made through this host's own gate, whichever client makes them.
    ///
    /// Watching begins with this call, and ends when the host closes or the sequence is released. Changes made by
    /// another process are not reported. The connector's secrets are redacted from the values, as in every event.
    ///
    /// - Returns: A sequence for one consumer.
    public func changes() -> SettingsChanges {
        SettingsChanges(listen())
    }
}
