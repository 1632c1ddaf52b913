// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Keeps each setting under a key of etcd, as JSON, and announces every change that etcd reports.
final class Etcd: SettingsPlugin {
    private let defaults: SettingsDefaults
    private let connection: EtcdConnection
    private let watch: EtcdWatch
    /// The task that follows the changes while the gate is open.
    private let following = Mutex<Task<Void, Never>?>(nil)

    init(configuration: PluginConfiguration, host: Host) throws {
        let (name, password) = (configuration.optionalString("username"), configuration.optionalSecret("password"))
        var user: EtcdRequests.User?
        switch (name, password) {
        case (let name?, let password?): user = EtcdRequests.User(name: name, password: password)
        case (nil, nil): break
        case (_?, nil): throw PluginError(.invalid, "username has no password; set both, or neither")
        case (nil, _?): throw PluginError(.invalid, "password has no username; set both, or neither")
        }
        let requests = try EtcdRequests(
            endpoint: configuration.url("endpoint"),
            prefix: configuration.string("prefix"),
            user: user
        )
        defaults = try SettingsDefaults(configuration["defaults"] ?? [:])
        connection = EtcdConnection(requests, host: host)
        watch = EtcdWatch(connection: connection, defaults: defaults, host: host)
    }

    /// Reads the settings, and follows their changes from then on.
    func open() async throws -> [Evidence] {
        let snapshot = try await connection.snapshot()
        let task = Task { [watch] in await watch.run(from: snapshot) }
        following.withLock { following in
            following?.cancel()
            following = task
        }
        return evidence(of: snapshot)
    }

    /// Reads the settings. The evidence says so if they are not being watched: a failed proof would also end the reading. An answer ends a
    /// wait that the server has requested of the watch.
    func probe() async throws -> [Evidence] {
        let snapshot = try await connection.snapshot()
        watch.resume()
        return evidence(of: snapshot)
    }

    /// Ends the watch.
    func close() async {
        let task = following.withLock { following in
            defer { following = nil }
            return following
        }
        task?.cancel()
        await task?.value
    }

    func settings() async throws -> JSONObject {
        defaults.completing(try await connection.snapshot().values)
    }

    /// Asks for the setting's own key, and for no other.
    func get(key: String) async throws -> JSONValue {
        try SettingsChange.checkKey(key)
        let stored = try await connection.stored(key)
        return defaults.completing(stored)[key] ?? .null
    }

    func change(_ change: SettingsChange) async throws {
        try defaults.check(change)
        try SettingsDefaults.checkSize(of: change.values, "the change")
        // A removal always fits, also where other clients have stored too much.
        let adds = change.values.members.contains { $0.value != .null }
        if adds { try await connection.snapshot().check(change) }
        try await connection.change(change)
    }

    private func evidence(of snapshot: EtcdSnapshot) -> [Evidence] {
        var detail = "the server answers; settings stored: \(snapshot.values.members.count)"
        if let failure = watch.failure { detail += "; they are not being watched for changes: \(failure.message)" }
        return [connection.requests.token == nil ? .reachable(detail) : .authenticated(detail)]
    }
}
