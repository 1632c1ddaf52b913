// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// Reads a connector's delivery settings.
extension ConfigurationReader {
    /// The keys of a connector's `outbox`.
    private static let outboxKeys = ["batch", "maxAge", "maxBytes", "whenFull", "pace", "retry"]

    /// Reads whether and how the outbox delivers the connector's events.
    ///
    /// - Returns: Nil for direct delivery.
    mutating func delivery(in object: JSONObject, at path: JSONPath) -> DeliveryPolicy? {
        var policy = DeliveryPolicy()
        let text = json.string("delivery", in: object, at: path) ?? "queued"
        if text != "queued", text != "direct" {
            json.report(
                .invalidValue,
                "delivery is \"\(text.excerpt)\"; it must be \"queued\" or \"direct\"",
                at: path.appending("delivery")
            )
        }
        guard let value = object["outbox"] else { return text == "direct" ? nil : policy }
        let here = path.appending("outbox")
        guard text != "direct" else {
            json.report(.invalidValue, "a connector whose delivery is \"direct\" has no outbox", at: here, .name)
            return nil
        }
        guard let members = json.members(of: value, at: here, allowed: Self.outboxKeys) else { return policy }
        batch(in: members, at: here, &policy)
        policy.maximumAge = duration("maxAge", in: members, at: here)
        policy.maximumBytes = json.integer("maxBytes", in: members, at: here, within: SettingRange.queueBytes).map {
            Int($0)
        }
        policy.pace = pace(in: members, at: here)
        if let text = json.string("whenFull", in: members, at: here) {
            if let known = DeliveryPolicy.WhenFull(rawValue: text) {
                policy.whenFull = known
            } else {
                let allowed = DeliveryPolicy.WhenFull.allCases.map(\.rawValue)
                json.report(
                    .invalidValue,
                    "whenFull is \"\(text.excerpt)\"; it must be \"block\", \"dropOldest\" or \"dropNewest\"",
                    fix: suggestion(for: text, among: allowed),
                    at: here.appending("whenFull")
                )
            }
        }
        if members["whenFull"] != nil, members["maxBytes"] == nil {
            json.report(
                .missingValue,
                "whenFull needs maxBytes: an outbox without it is never full",
                fix: "write \"maxBytes\": 1000000000, for example",
                at: here.appending("whenFull"),
                .name
            )
        }
        if let value = members["retry"],
            let waits = json.members(of: value, at: here.appending("retry"), allowed: ["initial", "max"])
        {
            (policy.initialWait, policy.longestWait) = self.waits(
                in: waits,
                at: here.appending("retry"),
                unless: (policy.initialWait, policy.longestWait)
            )
        }
        return policy
    }

    private mutating func batch(in members: JSONObject, at path: JSONPath, _ policy: inout DeliveryPolicy) {
        guard let value = members["batch"] else { return }
        let here = path.appending("batch")
        guard let batch = json.members(of: value, at: here, allowed: ["count", "bytes", "age"]) else { return }
        policy.batchCount = json.integer("count", in: batch, at: here, within: SettingRange.batchCount).map { Int($0) }
        policy.batchBytes = json.integer("bytes", in: batch, at: here, within: SettingRange.batchBytes).map { Int($0) }
        policy.batchAge = duration("age", in: batch, at: here) ?? .zero
    }

    /// Reads a rate limit such as `"100/s"`, `"30/m"` or `"1000/h"`, as events per second.
    private mutating func pace(in members: JSONObject, at path: JSONPath) -> Double? {
        let kind = "a number of events in a time, such as \"100/s\" or \"30/m\""
        guard let text = json.value("pace", in: members, at: path, kind: kind, { $0.string }) else { return nil }
        let parts = text.split(ascii: "/", omittingEmptySubsequences: false)
        let seconds: [Substring: Double] = ["s": 1, "m": 60, "h": 3600]
        guard parts.count == 2, parts[0].utf8.allSatisfy(\.isDigit), let number = UInt32(parts[0]), number > 0,
            let span = seconds[parts[1]]
        else {
            json.report(
                .invalidValue,
                "pace is \"\(text.excerpt)\"; it must be \(kind)",
                at: path.appending("pace")
            )
            return nil
        }
        return Double(number) / span
    }

    /// Reads the directory of the outbox; nil for the default.
    mutating func stateDirectory(in object: JSONObject) -> String? {
        guard let text = json.string("state", in: object, at: JSONPath()) else { return nil }
        let here = JSONPath().appending("state")
        guard let directory = filled(text, at: here) else { return nil }
        guard directory.canBePath else {
            json.report(.invalidValue, "state must be the path of a directory", at: here)
            return nil
        }
        return base.resolve(directory)
    }
}
