// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
internal import ConnectorServices

/// Reads, changes and watches settings through the connector that `connectors.json` names.
///
/// ```swift
/// let settings = try host.settings("settings")
/// try await settings.set("dark", for: "theme")
/// ```
///
/// Give each setting a type and a default once, as a ``Setting``, and no value of another type gets in or out.
///
/// A call that fails throws a `ConnectorError`: `invalid` for a text that is no key and for a value of the wrong type,
/// `too-large` beyond the plugin's limits, `unavailable` if a change could not be stored, and then nothing has changed;
/// `not-open`; `timed-out`; `cancelled` if the caller's task was cancelled. A change that timed out or was cancelled may
/// have taken effect.
///
/// A client gives access to its connector alone. Use it from any thread. Settings are no place for secrets.
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

    /// Gives a setting a value.
    ///
    /// - Returns: Once the value is stored.
    public func set(
        _ value: JSONValue,
        for key: String,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        let texts: [(name: String, text: [UInt8]?)] = [("key", Array(key.utf8)), ("value", value.utf8())]
        _ = try await target.call("set", CallArguments(texts: texts), options)
    }

    /// Takes a setting's value away; one without a value is not an error. The plugin's default, if it has one, stays.
    public func remove(_ key: String, options: CallOptions = CallOptions()) async throws(ConnectorError) {
        _ = try await target.call("remove", CallArguments(texts: [("key", Array(key.utf8))]), options)
    }

    /// Reads several settings, as they were at one moment.
    ///
    /// - Parameters:
    ///   - prefix: What their keys start with; empty for all settings.
    ///   - options: The timeout of the call.
    /// - Returns: Values by key, in the order of the keys' bytes.
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

    /// Changes several settings: all of them, or none if it throws.
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

    /// The changes from now on that this host's own gate makes, whoever asks it to.
    ///
    /// Watching begins with this call, and ends when the host closes or the sequence is dropped. A change by another
    /// process is not told. Secrets of the connector's own are removed from the values, as from every event.
    ///
    /// - Returns: A sequence for one consumer.
    public func changes() -> SettingsChanges {
        SettingsChanges(listen())
    }
}
