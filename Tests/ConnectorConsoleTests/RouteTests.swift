// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorConsole
import Testing

/// Routes are text, and text is a route.
@Suite
struct RouteTests {
    @Test(
        arguments: [
            "/gates": Route.gates,
            "/gates/analytics": .gate("analytics"),
            "/gates/analytics/segment": .gate("analytics/segment"),
            "/gates/analytics/segment/operations/track": .operation("track", of: "analytics/segment"),
            "/outbox": .outbox,
            "/outbox/01963a7e-4b5c-7d8e-9f01-23456789abcd": .event("01963a7e-4b5c-7d8e-9f01-23456789abcd"),
            "/dead": .dead,
            "/events": .events,
            "/plugins": .plugins,
            "/plugins/segment": .plugin("segment"),
            "/configuration": .configuration,
            "/plan": .plan,
            "/calculator/history": Route(["calculator", "history"]),
        ]
    )
    func `a route prints and parses as its path`(path: String, route: Route) {
        #expect(route.description == path)
        #expect(Route(path) == route)
    }

    @Test(
        arguments: [
            Route.gate("operations/operations"), .operation("operations", of: "operations"),
            .gate("a/operations/b"), .operation("b", of: "a"), .event("an id/with ?#%&"), .event("größe 漢字"),
            .plugin("operations"), .event("\u{1B}[2J"),
        ]
    )
    func `parts that look like something else survive a round trip`(route: Route) {
        #expect(Route(route.description) == route)
        #expect(route.description.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    }

    @Test(
        arguments: [
            "", "/", "gates", "//", "/gates/", "/gates//a", "/gates/operations/a", "/gates/a/operations",
            "/gates/a/operations/b/c", "/outbox/%", "/outbox/%zz", "/outbox/%ff", "/%",
        ]
    )
    func `a text that is not a path is not a route`(text: String) {
        #expect(Route(text) == nil)
    }
}
