// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorConsole

/// The places of the watch: the list, and each site.
public enum SiteRoute: RouteValue {
    case list
    case site(String)

    /// The name of the tab.
    public static let root = "sites"

    /// The name of a site; none for the list.
    public var parts: [String] { if case .site(let name) = self { [name] } else { [] } }

    /// Reads a place from the parts of its URL.
    public init?(parts: [String]) {
        guard parts.count < 2 else { return nil }
        self = parts.first.map { .site($0) } ?? .list
    }
}
