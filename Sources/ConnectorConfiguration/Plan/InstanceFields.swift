// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorOutbox
internal import ConnectorPlatform
internal import ConnectorServices

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
    init(_ connector: Connector, _ leaf: Result<ResolvedLeaf, ConnectorError>?, _ image: PlannedImage?) {
        if case .leaf(let written) = connector.kind { add("plugin", written.plugin.description) }
        switch leaf {
        case nil: break
        case .failure(let error): add("plugin", "\(error.message) [\(error.code)]")
        case .success(let resolved):
            add("version", resolved.manifest.version.description)
            for member in resolved.config.members {
                let secret = resolved.secrets[member.name].map(Value.secret)
                fields.append(("config.\(member.name)", secret ?? .json(member.value)))
            }
            add("hosts", resolved.egress.map(\.description).joined(separator: ", "))
            add("with", resolved.uses.map { "\($0.use.name): \($0.connector)" }.joined(separator: ", "))
            if resolved.simulated != nil { fields.append(("simulate", .simulator(resolved.specification.linked))) }
        }
        add("image", image?.mark ?? "")
        add("http.propagateTrace", connector.propagatesTrace ? "true" : "")
        add("http.cacheBytes", connector.cacheBytes > 0 ? "\(connector.cacheBytes)" : "")
        add("record", connector.recording?.path.withGivenPaths ?? "")
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

extension Connector {
    /// Whether two leaves are written alike, apart from what ``ResolvedLeaf`` has: then there is no need to make fields and
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

extension ResolvedLeaf {
    /// Whether an instance of both leaves would be the same.
    func givesInstances(like other: ResolvedLeaf) -> Bool {
        members.isCopy(of: other.members)
            || manifest.version == other.manifest.version && config == other.config && secrets == other.secrets
                && egress == other.egress && uses == other.uses && (simulated == nil) == (other.simulated == nil)
                && specification.linked == other.specification.linked
    }
}
