// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
internal import ConnectorServices

extension ResolvedConfiguration {
    /// The same connectors, pointed at other servers: this is what `status --simulate` opens.
    ///
    /// Every URL among the values gets a new scheme and authority, and keeps its user and path:
    /// `https://KEY@sentry.io/1` becomes `http://KEY@127.0.0.1:8080/sentry/1`. A redirected leaf may connect to that
    /// server alone, whatever the file allows.
    ///
    /// - Parameter base: The URL that replaces the vendor of a plugin's id; nil leaves the leaf as it is.
    package func pointing(_ base: @escaping @Sendable (_ plugin: String) -> URLParts?) -> ResolvedConfiguration {
        var result = self
        for (path, leaf) in leaves { result.leaves[path] = leaf.map { $0.pointing(base) } }
        result.renew = { [renew] path in renew(path)?.pointing(base) }
        return result
    }
}

extension LeafPlan {
    /// The leaf with its URLs moved to the server that replaces its vendor.
    fileprivate func pointing(_ base: (_ plugin: String) -> URLParts?) -> LeafPlan {
        guard let base = base(manifest.id) else { return self }
        var plan = self
        for field in manifest.configuration where field.type == .url {
            guard let url = config[field.name]?.string.flatMap(URLParts.init) else { continue }
            plan.config[field.name] = .string(url.moved(to: base).description)
        }
        plan.egress = [HostRule(host: base.host, port: base.effectivePort)]
        return plan
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
