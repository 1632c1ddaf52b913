// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Where somebody is in the console: tabs, each with a stack of routes, and at most one dialog in front.
///
/// A state machine without I/O: a platform hands it what happened, and does what it answers.
///
/// ```
/// key, click, URL ──► event ──► Coordinator ──► actions ──► platform ──► slots, host
/// ```
package struct Coordinator: Sendable {
    /// The tabs, by the roots of their routes.
    package let tabs: [String]
    /// The tab that is shown.
    package private(set) var tab: String
    /// What is in front; nil for nothing.
    package private(set) var dialog: Dialog?
    /// What the host is doing; nil for nothing.
    package private(set) var pending: ConsoleAct?
    private var stacks: [String: [Route]]

    /// The deepest stack; the oldest routes above its root are forgotten.
    private static let depth = 32

    /// Something that happened.
    package enum Event: Sendable, Hashable {
        /// Somebody asks for a route.
        case move(Route)
        /// Somebody asks for the tab that is so many places to the right.
        case turn(Int)
        /// Somebody goes back, or closes the dialog.
        case back
        /// Somebody asks what the keys do.
        case help
        /// Somebody asks for an act.
        case act(ConsoleAct)
        /// Somebody answered the dialog's question.
        case answer(Bool)
        /// The host has done what it was told; it says so in a sentence.
        case done(String)
        /// Somebody leaves.
        case quit
    }

    /// Something to do.
    package enum Action: Sendable, Hashable {
        /// Mount the scene of a route.
        case show(Route)
        /// Mount a dialog in front.
        case present(Dialog)
        /// Remove the dialog.
        case dismiss
        /// Tell the host.
        case perform(ConsoleAct)
        /// Say a sentence.
        case tell(String)
        /// End.
        case quit
    }

    /// Begins at a route; at the first tab if no tab has it.
    package init(tabs: [String], at route: Route) {
        self.tabs = tabs
        let first = tabs.first ?? route.root
        tab = tabs.contains(route.root) ? route.root : first
        stacks = [:]
        for tab in tabs { stacks[tab] = [Route([tab])] }
        if tab == route.root, route != Route([tab]) { stacks[tab]?.append(route) }
    }

    /// The route that is shown.
    package var route: Route { stacks[tab]?.last ?? Route([tab]) }

    /// The routes that going back leads through, the root first.
    package var stack: [Route] { stacks[tab] ?? [] }

    /// Takes note of what happened.
    ///
    /// - Returns: What to do about it, in order.
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
        case .turn(let places):
            guard let index = tabs.firstIndex(of: tab) else { return [] }
            tab = tabs[((index + places) % tabs.count + tabs.count) % tabs.count]
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
        if let pending { return [.tell("wait until this is done: \(pending.title)")] }
        pending = act
        return [.perform(act), .tell("\(act.title) …")]
    }

    /// Turns to the tab of a root, and goes anywhere else from where somebody is, so that going back leads there again.
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
