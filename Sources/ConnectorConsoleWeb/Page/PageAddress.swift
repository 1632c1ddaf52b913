// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole

/// Which part of which scene a page shows: a route, what is searched for in it, and which of its pages.
struct PageAddress: Sendable, Hashable {
    /// The scene.
    var route: Route
    /// What is searched for; empty for everything.
    var search = ""
    /// Which rows of long lists, from 1.
    var page = 1

    /// The longest search.
    private static let searchLimit = 200

    /// Takes its parts.
    init(_ route: Route, search: String = "", page: Int = 1) {
        self.route = route
        self.search = String(search.prefix(Self.searchLimit))
        self.page = min(max(1, page), 1_000_000)
    }

    /// Reads the target of a request, or a URL without scheme and host; nil for one that is no route.
    init?(_ target: String) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let route = Route(String(parts[0])) else { return nil }
        let fields = QueryItems(form: parts.count > 1 ? parts[1] : "")
        self.init(route, search: fields["q"] ?? "", page: fields["page"].flatMap { Int($0) } ?? 1)
    }

    /// The URL, without scheme and host.
    var url: String {
        var fields: [String] = []
        if !search.isEmpty { fields.append("q=\(PercentCoding.encode(search))") }
        if page > 1 { fields.append("page=\(page)") }
        return route.description + (fields.isEmpty ? "" : "?" + fields.joined(separator: "&"))
    }
}
