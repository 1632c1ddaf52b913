// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
internal import ConnectorServices

extension Manifest {
    /// The hosts in the manifest; `{field}` stands for the host in that configuration field.
    ///
    /// A field without a value, or a malformed entry, allows no host.
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
