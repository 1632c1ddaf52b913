// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest

/// The hosts that a connector may reach.
///
/// An entry is what ``HostRule`` reads, or `*` for every host; one that is neither allows nothing.
struct EgressList: Sendable {
    private let rules: [HostRule]
    /// Whether `*` is one of the entries.
    private let isOpen: Bool

    /// Reads the entries.
    init(_ hosts: [String]) {
        rules = hosts.compactMap(HostRule.init)
        isOpen = hosts.contains("*")
    }

    /// Whether a connection there is allowed.
    func allows(_ url: URLParts) -> Bool {
        isOpen || rules.contains { $0.permits(host: url.host, port: url.effectivePort) }
    }

    /// Refuses a URL that goes elsewhere, and says how to allow it.
    func check(_ url: URLParts) throws(ServiceFailure) {
        guard !allows(url) else { return }
        throw .denied(
            "the host \(url.authority) is not one that this connector may reach; "
                + "to allow it, add \"allow\": {\"hosts\": [\"\(url.authority)\"]} to the connector"
        )
    }
}

extension URLParts {
    /// The host, and the port if one is written.
    var authority: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port.map { "\(host):\($0)" } ?? host
    }
}
