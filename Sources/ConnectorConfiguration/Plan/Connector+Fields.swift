// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorOutbox
internal import ConnectorPlatform
internal import ConnectorServices

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

extension Connector {
    /// Whether two leaves are written alike, apart from what ``LeafPlan`` has: then there is no need to make fields and
    /// compare them.
    func isWritten(like other: Connector) -> Bool {
        guard case .leaf(let one) = kind, case .leaf(let two) = other.kind else { return false }
        return one.plugin == two.plugin && isRequired == other.isRequired && after == other.after
            && timeout == other.timeout && trial == other.trial && retry == other.retry && heal == other.heal
            && breaker == other.breaker && probeInterval == other.probeInterval && isolation == other.isolation
            && delivery == other.delivery && propagatesTrace == other.propagatesTrace
            && cacheBytes == other.cacheBytes && recording?.path == other.recording?.path
    }
}

extension LeafPlan {
    /// Whether an instance would be the same under both plans.
    func givesInstances(like other: LeafPlan) -> Bool {
        members.isCopy(of: other.members)
            || manifest.version == other.manifest.version && config == other.config && secrets == other.secrets
                && egress == other.egress && uses == other.uses && (simulated == nil) == (other.simulated == nil)
                && specification.linked == other.specification.linked
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

/// The settings that belong to an instance of the leaf's plugin: changing one needs another instance.
struct InstanceFields {
    /// Each setting with its value.
    private(set) var fields: [(name: String, value: Value)] = []

    /// A setting in the form that is compared. What is shown may be less: only settings that differ get a text.
    enum Value: Equatable {
        case text(String)
        case json(JSONValue)
        case secret(Secret)
        /// The plugin that takes the place of the leaf's own; nil if a server takes the place of the vendor.
        case simulator(LinkedPlugin?)

        /// The text to show.
        ///
        /// - Parameters:
        ///   - shown: Makes the part of a value that may be shown.
        ///   - fingerprint: Makes a text that differs from secret to secret, and reveals nothing else about it.
        func text(shown: (JSONValue) -> String, fingerprint: (String) -> String) -> String {
            switch self {
            case .text(let text): text
            case .json(let value): shown(value)
            case .secret(let secret): "secret \(fingerprint(secret.reveal()))"
            case .simulator: "a simulator"
            }
        }
    }

    /// Lists the settings of a leaf.
    ///
    /// - Parameter leaf: The resolved leaf, or why its plugin cannot be used.
    init(_ connector: Connector, _ leaf: Result<LeafPlan, ConnectorError>?, _ image: PlannedImage?) {
        if case .leaf(let written) = connector.kind { add("plugin", written.plugin.description) }
        switch leaf {
        case nil: break
        case .failure(let error): add("plugin", "\(error.message) [\(error.code)]")
        case .success(let plan):
            add("version", plan.manifest.version.description)
            for member in plan.config.members {
                let secret = plan.secrets[member.name].map(Value.secret)
                fields.append(("config.\(member.name)", secret ?? .json(member.value)))
            }
            add("hosts", plan.egress.map(\.description).joined(separator: ", "))
            add("with", plan.uses.map { "\($0.use.name): \($0.connector)" }.joined(separator: ", "))
            if plan.simulated != nil { fields.append(("simulate", .simulator(plan.specification.linked))) }
        }
        add("image", image?.mark ?? "")
        add("http.propagateTrace", connector.propagatesTrace ? "true" : "")
        add("http.cacheBytes", connector.cacheBytes > 0 ? "\(connector.cacheBytes)" : "")
        add("record", connector.recording?.path ?? "")
        if connector.isolation.kind != .none {
            add("isolation", connector.isolation.kind.rawValue)
            if connector.isolation.kind == .auto { add("quiet", connector.isolation.quiet.brief) }
            add("runner", connector.isolation.runner ?? "")
            add("sandbox", connector.isolation.sandbox.description)
        }
    }

    private mutating func add(_ name: String, _ text: String) {
        if !text.isEmpty { fields.append((name, .text(text))) }
    }
}
