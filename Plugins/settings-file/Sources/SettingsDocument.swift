// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The stored settings, one JSON object under one key of the host's storage.
///
/// The host replaces a value atomically, so a change of several settings is atomic too. The object is read for every
/// call, and replaced only if it has not changed since: another instance of the gate may, because a reload opens the
/// next one before the earlier one ends, and so may another host of the application.
actor SettingsDocument {
    private static let key = "settings"

    private let storage: any StorageService
    /// The latest change; each change awaits the one before it.
    private var last: Task<Void, Never>?

    init(_ storage: any StorageService) {
        self.storage = storage
    }

    /// The stored values.
    nonisolated func values() async throws(PluginError) -> JSONObject {
        try Self.values(in: await storage.value(of: Self.key))
    }

    private static func values(in text: [UInt8]?) throws(PluginError) -> JSONObject {
        guard let text else { return JSONObject() }
        guard case .object(let values)? = try? JSONValue(document: text) else {
            throw PluginError(
                .failed,
                "the stored settings are not a JSON object, so they are neither read nor overwritten",
                domain: "settings"
            )
        }
        return values
    }

    /// Changes the stored values, after all earlier changes of this instance.
    ///
    /// - Parameters:
    ///   - edit: Computes the new values from the old ones, and the values to announce; again for values that another
    ///     instance has changed meanwhile.
    ///   - announce: Announces the values once the change is on disk, and before this instance's next change begins.
    /// - Throws: `tooLarge` beyond the limits, and the storage's errors; in either case nothing has changed.
    func change(
        _ edit: @escaping @Sendable (_ old: JSONObject) -> (new: JSONObject, changes: JSONObject),
        announce: @escaping @Sendable (_ changes: JSONObject) -> Void
    ) async throws(PluginError) {
        let earlier = last
        let change = Task { [self] () -> Result<Void, PluginError> in
            await earlier?.value
            return await result { () async throws(PluginError) in announce(try await apply(edit)) }
        }
        last = Task { _ = await change.value }
        try await change.value.get()
    }

    /// Changes the stored values, and returns those to announce.
    private nonisolated func apply(
        _ edit: @Sendable (_ old: JSONObject) -> (new: JSONObject, changes: JSONObject)
    ) async throws(PluginError) -> JSONObject {
        while true {
            let text = try await storage.value(of: Self.key)
            let old = try Self.values(in: text)
            let (new, changes) = edit(old)
            try SettingsDefaults.checkSize(of: new, "the settings")
            try SettingsDefaults.checkSize(of: changes, "the change")
            if new == old { return changes }
            if try await storage.replace(text, with: JSONValue.object(new).utf8(), for: Self.key) { return changes }
        }
    }

    /// Awaits the changes in progress.
    func finish() async {
        await last?.value
    }

    private nonisolated func result(
        _ body: () async throws(PluginError) -> Void
    ) async -> Result<Void, PluginError> {
        do throws(PluginError) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
