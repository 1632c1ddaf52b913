// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// The hosts that a connector may reach.
///
/// An entry is what ``HostRule`` reads, or `*` for every host; one that is neither allows nothing.
package struct EgressList: Sendable {
    private let rules: [HostRule]
    /// Whether `*` is one of the entries.
    private let isOpen: Bool

    /// Reads the entries.
    package init(_ hosts: [String]) {
        rules = hosts.compactMap(HostRule.init)
        isOpen = hosts.contains("*")
    }

    /// Whether a connection there is allowed.
    package func allows(_ url: URLParts) -> Bool {
        isOpen || rules.contains { $0.permits(host: url.host, port: url.effectivePort) }
    }

    /// Refuses a URL that goes elsewhere, and says how to allow it.
    package func check(_ url: URLParts) throws(ServiceFailure) {
        guard !allows(url) else { return }
        throw .denied(
            "the host \(url.authority) is not one that this connector may reach; "
                + "to allow it, add \"allow\": {\"hosts\": [\"\(url.authority)\"]} to the connector"
        )
    }
}

extension URLParts {
    /// The host, and the port if one is written.
    package var authority: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port.map { "\(host):\($0)" } ?? host
    }
}
