// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorHost

/// The content of a page at one moment.
struct PageContent: Sendable, Equatable {
    /// The address, with the page number clamped to the last page.
    let address: PageAddress
    /// The sections, in order.
    let tabs: [Tab]
    /// The scene, with only the rows of this page.
    let scene: Scene
    /// The number of rows of each component on all pages.
    let totals: [Int]
    /// Whether there is a host.
    let hasHost: Bool
    /// Whether every required connector is usable.
    let isReady: Bool
    /// The number of open leaves, and of all leaves.
    let gates: (open: Int, all: Int)
    /// Whether a gate is opening.
    let isOpening: Bool
    /// Whether the vendors are simulated.
    let isSimulated: Bool
    /// Whether there is a scene at the route.
    let isFound: Bool
    /// The last changes of state, for announcements.
    let transitions: [HostHistory.Transition]
    /// The moment that it shows. Contents that differ only in it are equal.
    let time: Timestamp

    /// A section: the root of its routes, and its title.
    struct Tab: Sendable, Hashable {
        var root: String
        var title: String
    }

    /// The maximum number of rows of a component on one page.
    static let rowLimit = 100
    private static let transitionLimit = 8

    /// Makes the content of a page from a snapshot.
    init(_ address: PageAddress, _ registry: ConsoleRegistry, _ snapshot: ConsoleSnapshot) {
        let found = registry.knownScene(for: address.sceneRoute, of: snapshot)
        isFound = found != nil
        var scene = (found ?? registry.scene(for: address.sceneRoute, of: snapshot)).filtered(by: address.search)
        scene.route = address.route
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
                let above = scene.components[index].shape == .tree ? Self.ancestors(of: first, in: rows) : []
                scene.components[index].rows = above + rows.dropFirst(first).prefix(Self.rowLimit)
            }
        }
        self.address = address
        tabs = registry.tabs.map { Tab(root: $0.root, title: $0.title) }
        self.scene = scene
        let leaves = snapshot.report.gates.filter { $0.policy == nil }
        gates = (leaves.count { $0.state == .open }, leaves.count)
        isOpening = leaves.contains { $0.state == .opening }
        hasHost = snapshot.hasHost
        isReady = snapshot.report.isReady
        isSimulated = snapshot.commands.isSimulated
        transitions = snapshot.history.transitions.suffix(Self.transitionLimit)
        time = snapshot.time
    }

    /// The ancestors of a row of a tree, from the top: without them, a page that begins below one would not say where.
    private static func ancestors(of index: Int, in rows: [Row]) -> [Row] {
        guard rows.indices.contains(index) else { return [] }
        var ancestors: [Row] = []
        var depth = rows[index].depth
        for row in rows[..<index].reversed() where row.depth < depth {
            ancestors.append(row)
            depth = row.depth
        }
        return ancestors.reversed()
    }

    /// The number of pages.
    var pages: Int { max(1, ((totals.max() ?? 0) + Self.rowLimit - 1) / Self.rowLimit) }

    static func == (left: PageContent, right: PageContent) -> Bool {
        left.scene == right.scene && left.totals == right.totals && left.isReady == right.isReady
            && left.gates == right.gates && left.address == right.address && left.transitions == right.transitions
            && left.tabs == right.tabs
    }
}
