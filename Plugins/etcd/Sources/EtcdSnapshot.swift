// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The stored settings at one revision of etcd.
struct EtcdSnapshot: Sendable {
    /// The most bytes of all settings as JSON: in Base64, they stay well below ``EtcdConnection/answerLimit``.
    private static let byteLimit = 8 << 20

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
    ///
    /// - Parameter verb: What etcd does, in the message.
    private func checkCount(_ verb: String = "has") throws(PluginError) {
        guard values.members.count > SettingsChange.countLimit else { return }
        throw Self.excess("\(verb) more than \(SettingsChange.countLimit) settings")
    }

    /// Throws if a change would leave too many settings, or more bytes than can be read at once; not if it leaves fewer bytes than there are.
    func check(_ change: SettingsChange) throws(PluginError) {
        var next = self
        for member in change.values.members {
            // In a conditional expression, a literal nil would become `JSONValue.null`.
            next.values[member.name] = member.value == .null ? JSONValue?.none : member.value
        }
        try next.checkCount("would have")
        let size = JSONValue.object(next.values).utf8().count
        guard size > Self.byteLimit, size > JSONValue.object(values).utf8().count else { return }
        throw Self.excess("would have more than \(Self.byteLimit >> 20) MiB of settings")
    }

    /// The error for more settings than there may be.
    static func excess(_ what: String) -> PluginError {
        PluginError(
            .tooLarge,
            "etcd \(what) below the prefix; remove some, or use a longer prefix",
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
