// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The stored settings, one JSON object under one key of the host's storage.
///
/// The host replaces a value whole or not at all, so a change of several settings takes effect whole or not at all. The
/// object is read anew each time, since other hosts of the application may change it, too.
actor SettingsDocument {
    /// The greatest size of all settings together as JSON, in bytes: a value of `storage/1` has at most 65,536, and so has
    /// an event with all of them.
    static let limit = 60 * 1024
    private static let key = "settings"

    private let storage: any StorageService
    /// The change that came last; each one awaits the one before it.
    private var last: Task<Void, Never>?

    init(_ storage: any StorageService) {
        self.storage = storage
    }

    /// The stored values.
    nonisolated func values() async throws(PluginError) -> JSONObject {
        guard let text = try await storage.value(of: Self.key) else { return JSONObject() }
        guard case .object(let values)? = try? JSONValue(parsing: text) else {
            throw PluginError(
                .failed,
                "the stored settings are no JSON object, so they are neither read nor overwritten",
                domain: "settings"
            )
        }
        return values
    }

    /// Changes the stored values after every change that came earlier.
    ///
    /// - Parameters:
    ///   - edit: Makes the new values of the old ones, and the news of it.
    ///   - tell: Takes the news once the change is on the disk, and before the next one begins.
    /// - Throws: `tooLarge` beyond the limits, and what the storage throws; then nothing has changed.
    func change(
        _ edit: @escaping @Sendable (_ old: JSONObject) -> (new: JSONObject, news: JSONObject),
        tell: @escaping @Sendable (_ news: JSONObject) -> Void
    ) async throws(PluginError) {
        let earlier = last
        let change = Task { [self] () -> Result<Void, PluginError> in
            await earlier?.value
            return await result { () async throws(PluginError) in
                let old = try await values()
                let (new, news) = edit(old)
                try Self.checkSize(of: new, "the settings")
                try Self.checkSize(of: news, "what changes")
                if new != old { try await storage.set(JSONValue.object(new).utf8(), for: Self.key) }
                tell(news)
            }
        }
        last = Task { _ = await change.value }
        try await change.value.get()
    }

    /// Awaits the changes that are under way.
    func finish() async {
        await last?.value
    }

    /// Throws if values are more than `SettingsChange.countLimit`, or longer than ``limit``.
    static func checkSize(of values: JSONObject, _ what: String) throws(PluginError) {
        let count = values.members.count
        guard count <= SettingsChange.countLimit else {
            throw PluginError(.tooLarge, "\(what) would be \(count) values; the limit is \(SettingsChange.countLimit)")
        }
        let size = JSONValue.object(values).utf8().count
        guard size <= limit else {
            throw PluginError(.tooLarge, "\(what) would have \(size) bytes as JSON; the limit is \(limit)")
        }
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
