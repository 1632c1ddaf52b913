// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorInvocation

/// The hosts that a connector may reach.
///
/// An entry is a ``HostRule``, or `*` for every host. Any other entry allows nothing.
package struct EgressList: Sendable {
    private let rules: [HostRule]
    /// Whether `*` is one of the entries.
    private let isOpen: Bool

    /// Reads the entries.
    package init(_ hosts: [String]) {
        rules = hosts.compactMap(HostRule.init)
        isOpen = hosts.contains("*")
    }

    /// Whether the connector may reach the URL's host.
    package func allows(_ url: URLParts) -> Bool {
        isOpen || rules.contains { $0.permits(host: url.host, port: url.effectivePort) }
    }

    /// Throws for a URL with another host; the error says how to allow it.
    package func check(_ url: URLParts) throws(ServiceFailure) {
        guard !allows(url) else { return }
        throw .denied(
            "the host \(url.authority) is not one that this connector may reach; "
                + "to allow it, add \"allow\": {\"hosts\": [\"\(url.authority)\"]} to the connector"
        )
    }
}
