// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorManifest
internal import ConnectorServices

/// What a leaf connects to in a simulation, instead of its vendor.
package enum SimulationTarget: Sendable {
    /// A server on this machine that replaces the vendor. If it replays a recording, it may know it by a name, and there is the
    /// recording's time of day. If it knows only the vendor's own paths, those of the URLs in the configuration are not kept where the
    /// manifest has the vendor's URL: they may lead through a gateway.
    case server(URLParts, name: String? = nil, time: Timestamp? = nil, keepsPaths: Bool = true)
    /// No host: the plugin makes no requests.
    case local
    /// A plugin in this process that takes the place of the leaf's own, and makes no requests.
    case plugin(LinkedPlugin)
    /// Nothing: the gate fails with this error instead of opening.
    case none(ConnectorError)
}

extension ResolvedConfiguration {
    /// The same connectors without access to real vendors, for `status --simulate`.
    ///
    /// Every URL in the configuration gets a new scheme and authority, and keeps its user and path:
    /// `https://KEY@sentry.io/1` becomes `http://KEY@127.0.0.1:8080/sentry/1`. A leaf may then connect only to that server,
    /// regardless of `allow`, and follows no redirect elsewhere. Open gates are probed every two seconds.
    ///
    /// - Parameter target: Chooses what replaces the vendor of the leaf at a path. Called in the order of the paths, so
    ///   that what it makes up is the same each time.
    package func pointing(
        _ target: @escaping @Sendable (_ path: String, ResolvedLeaf) -> SimulationTarget
    ) -> ResolvedConfiguration {
        var result = self
        for (path, leaf) in leaves.sorted(by: { $0.key < $1.key }) {
            result.leaves[path] = leaf.flatMap { $0.pointing(target(path, $0), path) }
        }
        // Here, probes are free, and frequent ones show injected faults soon.
        result.longestProbeInterval = .seconds(2)
        result.renew = { [renew] path, renewal in
            renew(path, renewal).compactMap { try? $0.pointing(target(path, $0), path).get() }
        }
        return result
    }
}

extension ResolvedConfiguration {
    /// The same connectors, with plugins of this process in place of the leaves' own.
    ///
    /// - Parameter plugins: The plugins by the leaves' paths.
    package func replacing(_ plugins: [String: LinkedPlugin]) -> ResolvedConfiguration {
        var result = self
        for (path, plugin) in plugins {
            result.leaves[path] = leaves[path]?.flatMap { $0.pointing(.plugin(plugin), path) }
        }
        result.renew = { [renew] path, renewal in
            let renewed = renew(path, renewal)
            guard let plugin = plugins[path] else { return renewed }
            return renewed.compactMap { try? $0.pointing(.plugin(plugin), path).get() }
        }
        return result
    }
}

extension ResolvedLeaf {
    /// Whether the plugin apparently makes no requests: it has no hosts, URLs or secrets, does not require `http/1`, and is not
    /// a foreign library with a life cycle.
    package var makesNoRequests: Bool {
        egress.isEmpty && secrets.isEmpty && manifest.lifecycle == nil
            && !manifest.requiredServices.contains("http/1")
            && !manifest.configuration.contains { $0.type == .url }
    }

    /// Whether this leaf was made by pointing another one to a target.
    package func points(to target: SimulationTarget) -> Bool {
        switch target {
        case .server(let base, let name, let time, _):
            vendor == SimulatedVendor(path: base.rest, name: name, time: time)
        case .plugin(let plugin): specification.linked == plugin
        case .local, .none: simulated == nil
        }
    }

    /// The leaf with its URLs pointing to the server that replaces the vendor.
    fileprivate func pointing(_ target: SimulationTarget, _ path: String) -> Result<ResolvedLeaf, ConnectorError> {
        var members = members.value
        switch target {
        case .none(var error):
            error.connector = path
            return .failure(error)
        case .local: members.egress = []
        case .plugin(let plugin):
            members.egress = []
            members.specification = PluginSpecification(plugin)
            members.simulated = .plugin
        case .server(let base, let name, let time, let keepsPaths):
            members.vendor = SimulatedVendor(path: base.rest, name: name, time: time)
            func moved(_ url: URLParts, _ field: ConfigurationField) -> String {
                var url = url
                let own = field.defaultValue?.string.flatMap(URLParts.init)
                if !keepsPaths, let own { url.rest = own.rest }
                return url.moved(to: base).description
            }
            for field in members.manifest.configuration {
                if let text = members.secrets[field.name]?.reveal() {
                    guard let url = URLParts(text) else { continue }
                    members.secrets[field.name] = Secret(moved(url, field))
                    members.movedFields.insert(field.name)
                } else if field.type == .url, let url = members.config[field.name]?.string.flatMap(URLParts.init) {
                    members.config[field.name] = .string(moved(url, field))
                    members.movedFields.insert(field.name)
                }
            }
            guard !members.movedFields.isEmpty else { return .failure(noURLError(path)) }
            members.egress = [HostRule(host: base.host, port: base.effectivePort)]
            members.simulated = .vendor
        }
        return .success(ResolvedLeaf(members))
    }
}

extension ResolvedLeaf {
    /// The error for a leaf without a URL that could point to a simulator.
    private func noURLError(_ path: String) -> ConnectorError {
        let fields = manifest.configuration.filter { $0.type == .url }.map(\.name)
        return ConnectorError(
            .notSimulated,
            "not opened: the plugin \(manifest.id) has no URL in its configuration that could point to a simulator",
            fix: fields.first.map { "set \"\($0.excerpt)\" in \"config\"" }
                ?? "make the plugin read its endpoint from a configuration field of type url",
            connector: path
        )
    }
}

extension URLParts {
    /// The URL with its user and path kept, below another URL.
    fileprivate func moved(to base: URLParts) -> URLParts {
        var moved = base
        moved.user = user
        let prefix = base.rest.hasSuffix("/") ? String(base.rest.dropLast()) : base.rest
        let needsSlash = !rest.isEmpty && !rest.hasPrefix("/") && prefix.isEmpty
        moved.rest = prefix + (needsSlash ? "/" : "") + rest
        return moved
    }
}
