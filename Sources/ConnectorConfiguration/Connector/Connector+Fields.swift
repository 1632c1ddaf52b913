// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// The settings of a connector, to be compared and shown.
extension Connector {
    /// The settings that do not belong to an instance of a plugin: changing them opens nothing. Absent ones are left out.
    var gateFields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        func add(_ name: String, _ text: String?) {
            if let text { fields.append((name, text)) }
        }
        add("same", same)
        add("required", isRequired.map { "\($0)" })
        add("after", after.isEmpty ? nil : after.joined(separator: ", "))
        if let policy {
            add("policy", policy.description)
            add("quorum", policy.quorum.map { "\($0)" })
            add("canary", policy.canary?.text)
            add("order", children.filter(\.isEnabled).map(\.name).joined(separator: ", "))
        } else if same == nil {
            add("timeout", timeout?.brief)
            add("trial", trial?.brief)
            add("retry", retry.map { "\($0.attempts) attempts, \($0.initial.brief) to \($0.max.brief)" })
            add("heal", heal.map { "\($0.initial.brief) to \($0.max.brief)" } ?? "off")
            add(
                "breaker",
                breaker.map { "\($0.failures) failures within \($0.window.brief), a trial every \($0.probe.brief)" }
            )
            add("probe", probeInterval?.brief ?? "off")
            add("standby", isolation.standby ? "true" : nil)
        }
        add("delivery", deliveryMode.rawValue)
        add("outbox", delivery.flatMap(\.text))
        return fields
    }
}

extension DeliveryPolicy {
    /// The settings that differ from the defaults; nil if none does.
    fileprivate var text: String? {
        let defaults = DeliveryPolicy()
        guard self != defaults else { return nil }
        var parts: [String] = []
        if let batchCount { parts.append("batch.count \(batchCount)") }
        if let batchBytes { parts.append("batch.bytes \(batchBytes)") }
        if batchAge != defaults.batchAge { parts.append("batch.age \(batchAge.brief)") }
        if let maximumAge { parts.append("maxAge \(maximumAge.brief)") }
        if let maximumBytes { parts.append("maxBytes \(maximumBytes)") }
        if whenFull != defaults.whenFull { parts.append("whenFull \(whenFull.rawValue)") }
        if let pace { parts.append("pace \(pace)/s") }
        if initialWait != defaults.initialWait || longestWait != defaults.longestWait {
            parts.append("retry \(initialWait.brief) to \(longestWait.brief)")
        }
        return parts.joined(separator: ", ")
    }
}
