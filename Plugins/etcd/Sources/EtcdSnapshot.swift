// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The stored settings at one revision of etcd.
struct EtcdSnapshot: Sendable {
    private(set) var revision: Int64
    private(set) var values: JSONObject

    /// Reads the answer to ``EtcdRequests/all``.
    init(_ answer: JSONValue, _ requests: EtcdRequests) throws(PluginError) {
        revision = EtcdAnswer.revision(of: answer) ?? 0
        values = JSONObject()
        for pair in answer["kvs"]?.array ?? [] {
            guard let name = requests.setting(of: pair["key"]?.string ?? "") else { continue }
            values[name] = try EtcdAnswer.value(of: pair)
            try checkCount()
        }
    }

    /// Throws if there are too many settings: other clients may store their own keys below the prefix.
    private func checkCount() throws(PluginError) {
        guard values.members.count > SettingsChange.countLimit else { return }
        throw PluginError(
            .tooLarge,
            "etcd has more than \(SettingsChange.countLimit) settings below the prefix; use a longer prefix",
            domain: "etcd"
        )
    }

    /// Applies a report of the watch, and returns the snapshots that follow, one for each revision.
    func following(_ result: JSONValue, _ requests: EtcdRequests) throws(PluginError) -> [EtcdSnapshot] {
        var (snapshots, last): ([EtcdSnapshot], EtcdSnapshot) = ([], self)
        for event in result["events"]?.array ?? [] {
            let pair = event["kv"] ?? .null
            guard let revision = EtcdAnswer.revision(pair["mod_revision"]) else {
                throw PluginError(
                    .protocolViolation,
                    "etcd's watch reports a change without a revision",
                    domain: "etcd"
                )
            }
            // A server may repeat a revision after a reconnection.
            guard revision > self.revision else { continue }
            if revision != last.revision, last.revision != self.revision { snapshots.append(last) }
            last.revision = revision
            guard let name = requests.setting(of: pair["key"]?.string ?? "") else { continue }
            last.values[name] = event["type"] == "DELETE" ? JSONValue?.none : try EtcdAnswer.value(of: pair)
        }
        if last.revision != revision { snapshots.append(last) }
        for snapshot in snapshots { try snapshot.checkCount() }
        return snapshots
    }
}
