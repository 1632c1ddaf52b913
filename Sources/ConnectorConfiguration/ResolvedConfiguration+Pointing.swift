// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorManifest
internal import ConnectorServices

/// What a leaf opens against instead of its vendor.
package enum SimulationTarget: Sendable {
    /// A server on this machine, which takes the vendor's place.
    case server(URLParts)
    /// No host at all: the plugin needs none.
    case local
    /// Nothing; the gate fails with this error and is not opened.
    case none(ConnectorError)
}

extension ResolvedConfiguration {
    /// The same connectors without access to real vendors, as `status --simulate` opens them.
    ///
    /// Every URL among the values gets a new scheme and authority, and keeps its user and path:
    /// `https://KEY@sentry.io/1` becomes `http://KEY@127.0.0.1:8080/sentry/1`. A leaf may then connect to that server
    /// only, whatever the file allows, and follows no redirect elsewhere. Open gates are proved every two seconds.
    ///
    /// - Parameter target: What takes the place of the vendor of a leaf, by its path.
    package func pointing(
        _ target: @escaping @Sendable (_ path: String, LeafPlan) -> SimulationTarget
    ) -> ResolvedConfiguration {
        var result = self
        for (path, leaf) in leaves { result.leaves[path] = leaf.flatMap { $0.pointing(target(path, $0), path) } }
        // Proofs cost no vendor anything here, and injected faults become visible.
        result.longestProbeInterval = .seconds(2)
        result.renew = { [renew] path in renew(path).flatMap { try? $0.pointing(target(path, $0), path).get() } }
        return result
    }
}

extension LeafPlan {
    /// Whether, as far as the host knows, the plugin makes no requests: it has no hosts, no URLs and no secrets, and is no
    /// foreign library that opens something.
    package var makesNoRequests: Bool {
        egress.isEmpty && secrets.isEmpty && manifest.lifecycle == nil
            && !manifest.requiredServices.contains("http/1")
            && !manifest.configuration.contains { $0.type == .url }
    }

    /// The leaf with its URLs moved to the server that replaces its vendor.
    fileprivate func pointing(_ target: SimulationTarget, _ path: String) -> Result<LeafPlan, ConnectorError> {
        var plan = self
        switch target {
        case .none(var error):
            error.connector = path
            return .failure(error)
        case .local: plan.egress = []
        case .server(let base):
            for field in manifest.configuration {
                if let text = secrets[field.name]?.reveal() {
                    guard let url = URLParts(text) else { continue }
                    plan.secrets[field.name] = Secret(url.moved(to: base).description)
                    plan.movedFields.insert(field.name)
                } else if field.type == .url, let url = config[field.name]?.string.flatMap(URLParts.init) {
                    plan.config[field.name] = .string(url.moved(to: base).description)
                    plan.movedFields.insert(field.name)
                }
            }
            guard !plan.movedFields.isEmpty else { return .failure(unmovable(path)) }
            plan.egress = [HostRule(host: base.host, port: base.effectivePort)]
        }
        return .success(plan)
    }
}

extension LeafPlan {
    /// The error of a leaf without an address that could lead to a simulator.
    private func unmovable(_ path: String) -> ConnectorError {
        let fields = manifest.configuration.filter { $0.type == .url }.map(\.name)
        return ConnectorError(
            .notSimulated,
            "not opened: the plugin \(manifest.id) has no URL in its configuration that could lead to a simulator",
            fix: fields.first.map { "set \"\($0.excerpt)\" in \"config\"" }
                ?? "let the plugin take its endpoint from a configuration field of type url",
            connector: path
        )
    }
}

extension URLParts {
    /// The same user and path below another URL.
    fileprivate func moved(to base: URLParts) -> URLParts {
        var moved = base
        moved.user = user
        let prefix = base.rest.hasSuffix("/") ? String(base.rest.dropLast()) : base.rest
        let needsSlash = !rest.isEmpty && !rest.hasPrefix("/") && prefix.isEmpty
        moved.rest = prefix + (needsSlash ? "/" : "") + rest
        return moved
    }
}
