// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The operator's position in the console: tabs, each with a stack of routes, and at most one dialog in front.
///
/// A state machine without I/O: a platform passes in events and performs the actions that come back.
///
/// ```
/// key, click, URL ──► event ──► Coordinator ──► actions ──► platform ──► slots, console
/// ```
///
/// ```swift
/// var coordinator = Coordinator(console.registry, at: Route(SiteRoute.list))
/// for action in coordinator.handle(.move(SiteRoute.detail("berlin"))) { … }
/// ```
public struct Coordinator: Sendable {
    /// The tabs, each named by the root of its routes.
    public private(set) var tabs: [String]
    /// The selected tab.
    public private(set) var tab: String
    /// The dialog in front; nil for none.
    public private(set) var dialog: Dialog?
    /// The act that is being performed; nil for none.
    public private(set) var pending: ConsoleAct?
    /// The acts that wait for the pending one to end, in the order of their requests.
    public private(set) var waiting: [ConsoleAct] = []
    /// How many acts were dropped because too many were waiting, since the operator was last told.
    private var droppedCount = 0
    private var stacks: [String: [Route]]
    /// The roots of scenes without a tab, which are shown in the current one.
    private var others: Set<String> = []

    /// The deepest stack; beyond it the oldest routes above the root are dropped.
    private static let depth = 32
    /// The maximum number of acts that wait.
    static let waitingLimit = 64

    /// Starts at a route, or at the first tab if no tab has the route.
    public init(tabs: [String], at route: Route) {
        self.tabs = tabs
        let first = tabs.first ?? route.root
        tab = tabs.contains(route.root) ? route.root : first
        stacks = [:]
        for tab in tabs { stacks[tab] = [Route([tab])] }
        if tab == route.root, route != Route([tab]) { stacks[tab]?.append(route) }
    }

    /// Starts at a route, with a tab for each scene of a registry.
    public init(_ registry: ConsoleRegistry, at route: Route) {
        self.init(tabs: registry.tabs.map(\.root), at: route)
        others = Self.others(in: registry)
        if others.contains(route.root) { stacks[tab]?.append(route) }
    }

    private static func others(in registry: ConsoleRegistry) -> Set<String> {
        Set(registry.scenes.filter { !$0.hasTab }.map(\.root))
    }

    /// Adopts the tabs of a registry whose scenes may have changed. If the selected tab is gone, the first one is selected.
    public mutating func follow(_ registry: ConsoleRegistry) {
        let roots = registry.tabs.map(\.root)
        others = Self.others(in: registry)
        guard roots != tabs else { return }
        tabs = roots
        for tab in tabs where stacks[tab] == nil { stacks[tab] = [Route([tab])] }
        for tab in stacks.keys where !tabs.contains(tab) && tab != self.tab { stacks[tab] = nil }
        guard !tabs.contains(tab), let first = tabs.first else { return }
        stacks[tab] = nil
        tab = first
    }

    /// The current route.
    public var route: Route { stacks[tab]?.last ?? Route([tab]) }

    /// The routes of the current tab, from its root to the current route.
    public var stack: [Route] { stacks[tab] ?? [] }

    /// Whether going back, in this tab or another one, can lead to a route.
    package func remembers(_ route: Route) -> Bool { stacks.values.contains { $0.contains(route) } }

    /// Handles an event.
    ///
    /// - Returns: The actions to perform, in order.
    public mutating func handle(_ event: Event) -> [Action] {
        switch event.kind {
        case .quit: return [.quit]
        case .done(let outcome):
            pending = nil
            let next = outcome.isFailure ? nil : outcome.route
            let actions = [.tell(outcome.sentence + droppedNote())] + (next.map { move(to: $0) } ?? [.show(route)])
            return waiting.isEmpty ? actions : actions + perform(waiting.removeFirst())
        case .answer(let isYes):
            guard let dialog else { return [] }
            self.dialog = nil
            guard let act = dialog.confirmed, isYes else { return [.dismiss] }
            return [.dismiss] + perform(act)
        case .choice(let index):
            guard let dialog, dialog.choices.indices.contains(index) else { return [] }
            self.dialog = nil
            return [.dismiss] + request(dialog.choices[index])
        case .back:
            guard dialog == nil else {
                dialog = nil
                return [.dismiss]
            }
            guard stack.count > 1 else { return [] }
            stacks[tab]?.removeLast()
            return [.show(route)]
        case _ where dialog != nil: return []
        case .move(let route): return move(to: route)
        case .turn(let offset):
            guard let index = tabs.firstIndex(of: tab) else { return [] }
            tab = tabs[((index + offset) % tabs.count + tabs.count) % tabs.count]
            return [.show(route)]
        case .help: return present(.help)
        case .act(let act): return request(act)
        case .choose(let acts): return acts.isEmpty ? [.tell("there is nothing to do here")] : present(.menu(acts))
        }
    }

    /// The note on dropped acts, whose own messages were replaced at once; empty while acts still wait or if none were dropped.
    private mutating func droppedNote() -> String {
        guard waiting.isEmpty, droppedCount > 0 else { return "" }
        defer { droppedCount = 0 }
        return " (\(droppedCount) action\(droppedCount == 1 ? "" : "s") dropped: too many waited)"
    }

    private mutating func request(_ act: ConsoleAct) -> [Action] {
        act.question == nil ? perform(act) : present(.confirmation(act))
    }

    private mutating func present(_ dialog: Dialog) -> [Action] {
        self.dialog = dialog
        return [.present(dialog)]
    }

    private mutating func perform(_ act: ConsoleAct) -> [Action] {
        guard let pending else {
            pending = act
            return [.perform(act), .tell("\(act.title) …")]
        }
        guard waiting.count < Self.waitingLimit else {
            droppedCount += 1
            return [.tell("\(act.title) was dropped: \(waiting.count) actions wait for \(pending.title)")]
        }
        waiting.append(act)
        return [.tell("\(act.title) waits for \(pending.title)")]
    }

    /// Selects the tab if the route is a tab's root; otherwise pushes the route onto the current tab, so that going back returns here.
    private mutating func move(to route: Route) -> [Action] {
        guard tabs.contains(route.root) || others.contains(route.root) else {
            return [.tell("there is nothing at \(route)")]
        }
        if route == Route([route.root]), tabs.contains(route.root) { tab = route.root }
        var stack = stack
        if let index = stack.firstIndex(of: route) {
            stack.removeSubrange((index + 1)...)
        } else {
            stack.append(route)
            if stack.count > Self.depth { stack.remove(at: 1) }
        }
        stacks[tab] = stack
        return [.show(route)]
    }
}
