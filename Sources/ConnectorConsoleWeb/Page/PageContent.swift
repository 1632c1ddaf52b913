// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole
internal import ConnectorHost

/// What a page shows at one moment.
struct PageContent: Sendable, Equatable {
    /// Where it is.
    let address: PageAddress
    /// The scene, with the rows of this page alone.
    let scene: Scene
    /// How many rows each component has on all pages.
    let totals: [Int]
    /// Whether every required connector can be counted on.
    let isReady: Bool
    /// How many leaves are open, of how many.
    let gates: (open: Int, all: Int)
    /// Whether a gate is on its way to being open.
    let isOpening: Bool
    /// Whether the vendors are simulated.
    let isSimulated: Bool
    /// Whether there is anything at the route.
    let isFound: Bool
    /// The last changes of states, to be read out.
    let news: [HostHistory.Transition]

    /// The most rows of a component on one page.
    static let rowLimit = 100
    private static let newsLimit = 8

    /// Makes the page of a moment.
    init(_ address: PageAddress, _ registry: ConsoleRegistry, _ snapshot: ConsoleSnapshot) {
        let found = registry.knownScene(for: address.route, of: snapshot)
        isFound = found != nil
        var scene = (found ?? registry.scene(for: address.route, of: snapshot)).filtered(by: address.search)
        totals = scene.components.map(\.rows.count)
        var address = address
        let pages = max(1, ((totals.max() ?? 0) + Self.rowLimit - 1) / Self.rowLimit)
        address.page = min(address.page, pages)
        for index in scene.components.indices {
            let rows = scene.components[index].rows
            guard rows.count > Self.rowLimit else { continue }
            // The newest lines of a log are on its first page.
            let first = (address.page - 1) * Self.rowLimit
            if scene.components[index].shape == .log {
                let end = max(0, rows.count - first)
                scene.components[index].rows = Array(rows[max(0, end - Self.rowLimit)..<end])
            } else {
                scene.components[index].rows = Array(rows.dropFirst(first).prefix(Self.rowLimit))
            }
        }
        self.address = address
        self.scene = scene
        let leaves = snapshot.report.gates.filter { $0.policy == nil }
        gates = (leaves.count { $0.state == .open }, leaves.count)
        isOpening = leaves.contains { $0.state == .opening }
        isReady = snapshot.report.isReady
        isSimulated = snapshot.commands.isSimulated
        news = snapshot.history.transitions.suffix(Self.newsLimit)
    }

    /// How many pages there are.
    var pages: Int { max(1, ((totals.max() ?? 0) + Self.rowLimit - 1) / Self.rowLimit) }

    static func == (left: PageContent, right: PageContent) -> Bool {
        left.scene == right.scene && left.totals == right.totals && left.isReady == right.isReady
            && left.gates == right.gates && left.address == right.address && left.news == right.news
    }
}
