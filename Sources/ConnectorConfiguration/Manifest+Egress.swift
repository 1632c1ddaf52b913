// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
internal import ConnectorServices

extension Manifest {
    /// The hosts that the manifest names, with the hosts of configuration fields in place of `{field}`.
    ///
    /// A field without a value adds no host. Neither does a malformed entry, so that it allows nothing.
    func egressRules(for config: [String: JSONValue]) -> [HostRule] {
        var rules: [HostRule] = []
        var known: Set<HostRule> = []
        for entry in egress {
            guard let rule = entry.hasPrefix("{") ? rule(for: entry, in: config) : HostRule(entry),
                known.insert(rule).inserted
            else { continue }
            rules.append(rule)
        }
        return rules
    }

    private func rule(for entry: String, in config: [String: JSONValue]) -> HostRule? {
        guard let text = config[String(entry.dropFirst().dropLast())]?.string else { return nil }
        guard let parts = URLParts(text) else { return HostRule(text) }
        return HostRule(host: parts.host, port: parts.port)
    }
}
