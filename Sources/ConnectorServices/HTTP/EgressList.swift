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
    /// Whether the connector's vendor is simulated, so that its file does not say what it may reach.
    private let isSimulated: Bool

    /// Reads the entries.
    package init(_ hosts: [String], isSimulated: Bool = false) {
        rules = hosts.compactMap(HostRule.init)
        isOpen = hosts.contains("*")
        self.isSimulated = isSimulated
    }

    /// Whether the connector may reach the URL's host.
    package func allows(_ url: URLParts) -> Bool {
        isOpen || rules.contains { $0.permits(host: url.host, port: url.effectivePort) }
    }

    /// Throws for a URL with another host; the error says how to allow it.
    ///
    /// - Parameter name: The URL as messages name it, if they name it otherwise.
    package func check(_ url: URLParts, named name: URLParts? = nil) throws(ServiceFailure) {
        guard !allows(url) else { return }
        let authority = (name ?? url).authority
        throw .denied(
            "the host \(authority) is not one that this connector may reach; "
                + remedy("to allow it", adding: [authority])
        )
    }

    /// What to do about a host that is not allowed.
    ///
    /// - Parameters:
    ///   - purpose: What that is for, as the beginning of a sentence.
    ///   - names: The hosts to allow. The connector's list replaces that of the plugin's manifest, so it needs the others, too.
    func remedy(_ purpose: String, adding names: [String]) -> String {
        guard !isSimulated else {
            return "it is simulated, and reaches only its simulation, by the URL in its configuration"
        }
        let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
        return "\(purpose), add \"allow\": {\"hosts\": [\(list)]} to the connector, with every other host that it "
            + "needs: the list replaces that of the plugin"
    }
}
