// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole

/// The address of a page: a route, a search in its scene, and a page number.
struct PageAddress: Sendable, Hashable {
    /// The route of the scene.
    var route: Route
    /// The text to search for; empty for everything.
    var search = ""
    /// The page number within long lists, from 1.
    var page = 1

    /// The route whose scene the page shows: that of what the search finds, if the search is part of a route.
    var sceneRoute: Route { route.searched(by: search) }

    /// The maximum length of a search, in characters.
    private static let searchLimit = 200

    /// Creates an address, clamping the search and the page number to their limits.
    init(_ route: Route, search: String = "", page: Int = 1) {
        self.route = route
        self.search = String(search.prefix(Self.searchLimit))
        self.page = min(max(1, page), 1_000_000)
    }

    /// Parses the target of a request; nil if its path is not a route.
    init?(_ target: String) {
        let parts = target.split(ascii: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let route = Route(String(parts[0])) else { return nil }
        let fields = QueryItems(form: parts.count > 1 ? parts[1] : "")
        self.init(route, search: fields["q"] ?? "", page: fields["page"].flatMap { Int($0) } ?? 1)
    }

    /// The relative URL: path and query.
    var url: String {
        var fields = QueryItems()
        if !search.isEmpty { fields.append("q", search) }
        if page > 1 { fields.append("page", "\(page)") }
        return fields.appended(to: route.description)
    }
}
