// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The operator's position in the console: tabs, each with a stack of routes, and at most one dialog in front.
///
/// A state machine without I/O: a platform passes in events and performs the actions that it returns.
///
/// ```
/// key, click, URL ──► event ──► Coordinator ──► actions ──► platform ──► slots, host
/// ```
package struct Coordinator: Sendable {
    /// The tabs, each named by the root of its routes.
    package let tabs: [String]
    /// The selected tab.
    package private(set) var tab: String
    /// The dialog in front; nil for none.
    package private(set) var dialog: Dialog?
    /// The action that the host is performing; nil for none.
    package private(set) var pending: ConsoleAct?
    private var stacks: [String: [Route]]

    /// The deepest stack; beyond it the oldest routes above the root are dropped.
    private static let depth = 32

    /// Input to the coordinator.
    package enum Event: Sendable, Hashable {
        /// The operator opens a route.
        case move(Route)
        /// The operator moves this many tabs to the right.
        case turn(Int)
        /// The operator goes back, or closes the dialog.
        case back
        /// The operator asks for the list of keys.
        case help
        /// The operator requests an action.
        case act(ConsoleAct)
        /// The operator answered the dialog's question.
        case answer(Bool)
        /// The host has finished an action, and describes the result in a sentence.
        case done(String)
        /// The operator quits.
        case quit
    }

    /// Output for the platform to perform.
    package enum Action: Sendable, Hashable {
        /// Mount the scene of a route.
        case show(Route)
        /// Mount a dialog in front.
        case present(Dialog)
        /// Remove the dialog.
        case dismiss
        /// Pass the action to the host.
        case perform(ConsoleAct)
        /// Show a message.
        case tell(String)
        /// Quit.
        case quit
    }

    /// Starts at a route, or at the first tab if no tab has the route.
    package init(tabs: [String], at route: Route) {
        self.tabs = tabs
        let first = tabs.first ?? route.root
        tab = tabs.contains(route.root) ? route.root : first
        stacks = [:]
        for tab in tabs { stacks[tab] = [Route([tab])] }
        if tab == route.root, route != Route([tab]) { stacks[tab]?.append(route) }
    }

    /// The current route.
    package var route: Route { stacks[tab]?.last ?? Route([tab]) }

    /// The routes to go back through, root first.
    package var stack: [Route] { stacks[tab] ?? [] }

    /// Handles an event.
    ///
    /// - Returns: The actions to perform, in order.
    package mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .quit: return [.quit]
        case .done(let sentence):
            pending = nil
            return [.tell(sentence), .show(route)]
        case .answer(let isYes):
            guard let dialog else { return [] }
            self.dialog = nil
            guard case .confirmation(let act) = dialog, isYes else { return [.dismiss] }
            return [.dismiss] + perform(act)
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
        case .act(let act): return act.question == nil ? perform(act) : present(.confirmation(act))
        }
    }

    private mutating func present(_ dialog: Dialog) -> [Action] {
        self.dialog = dialog
        return [.present(dialog)]
    }

    private mutating func perform(_ act: ConsoleAct) -> [Action] {
        if let pending { return [.tell("still running: \(pending.title)")] }
        pending = act
        return [.perform(act), .tell("\(act.title) …")]
    }

    /// Selects the tab if the route is a tab's root; otherwise pushes the route onto the current tab, so that going back returns.
    private mutating func move(to route: Route) -> [Action] {
        guard tabs.contains(route.root) else { return [.tell("there is nothing at \(route)")] }
        if route == Route([route.root]) { tab = route.root }
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
