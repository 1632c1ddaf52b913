// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@testable import ConnectorConsole

/// Tabs, stacks and dialogs, without a platform.
@Suite
struct CoordinatorTests {
    private static let tabs = ["gates", "outbox", "dead", "events", "plugins", "configuration"]
    private static let drop = ConsoleAct(.drop, .letters, title: "drop every dead letter", question: "Drop?")
    private static let retry = ConsoleAct(.retry, .gate("a"), title: "retry a")
    private var coordinator = Coordinator(tabs: tabs, at: .gates)

    @Test(
        arguments: [
            Route.gates, .gate("analytics/segment"), .operation("track", of: "analytics/segment"), .outbox,
            .event("m1"),
            .dead, .events, .plugins, .plugin("segment"), .configuration,
        ]
    )
    func `every route can be moved to or started at, and going back leads to the previous one or to its root`(
        route: Route
    ) {
        var moved = Coordinator(tabs: Self.tabs, at: .events)
        #expect(moved.handle(.move(route)) == [.show(route)])
        #expect(moved.route == route)
        #expect(moved.handle(.back) == (route == Route([moved.tab]) ? [] : [.show(.events)]))
        var begun = Coordinator(tabs: Self.tabs, at: route)
        #expect(begun.route == route)
        let root = Route([route.root])
        #expect(begun.handle(.back) == (route == root ? [] : [.show(root)]))
        #expect(begun.route == root)
    }

    @Test mutating func `each tab keeps its own stack`() {
        _ = coordinator.handle(.move(.gate("a")))
        _ = coordinator.handle(.move(.operation("track", of: "a")))
        #expect(coordinator.tab == "gates")
        #expect(coordinator.handle(.turn(1)) == [.show(.outbox)])
        #expect(coordinator.handle(.turn(-1)) == [.show(.operation("track", of: "a"))])
        #expect(coordinator.stack == [.gates, .gate("a"), .operation("track", of: "a")])
        #expect(coordinator.handle(.turn(-1)) == [.show(.configuration)])
    }

    @Test mutating func `moving to a route that is already in the stack goes back to it`() {
        _ = coordinator.handle(.move(.gate("a")))
        _ = coordinator.handle(.move(.gate("b")))
        #expect(coordinator.handle(.move(.gate("a"))) == [.show(.gate("a"))])
        #expect(coordinator.stack == [.gates, .gate("a")])
    }

    @Test mutating func `the depth of a stack is bounded`() {
        for number in 1...100 { _ = coordinator.handle(.move(.gate("g\(number)"))) }
        #expect(coordinator.stack.count == 32)
        #expect(coordinator.stack.first == .gates && coordinator.route == .gate("g100"))
    }

    @Test mutating func `a route that nobody registered leads nowhere`() {
        #expect(coordinator.handle(.move(Route(["nowhere"]))) == [.tell("there is nothing at /nowhere")])
        #expect(coordinator.route == .gates)
        #expect(Coordinator(tabs: Self.tabs, at: Route(["nowhere"])).route == .gates)
    }

    @Test mutating func `an act that loses something asks first`() {
        #expect(coordinator.handle(.act(Self.drop)) == [.present(.confirmation(Self.drop))])
        #expect(coordinator.handle(.answer(false)) == [.dismiss])
        #expect(coordinator.handle(.act(Self.drop)) == [.present(.confirmation(Self.drop))])
        #expect(coordinator.handle(.back) == [.dismiss])
        #expect(coordinator.handle(.answer(true)) == [], "no question is open")
        _ = coordinator.handle(.act(Self.drop))
        #expect(
            coordinator.handle(.answer(true)) == [.dismiss, .perform(Self.drop), .tell("drop every dead letter …")]
        )
        #expect(coordinator.handle(.done("dropped 1 dead letter")) == [.tell("dropped 1 dead letter"), .show(.gates)])
    }

    @Test mutating func `an act that loses nothing is performed at once, and further acts wait their turn`() {
        let close = ConsoleAct(.close, .gate("b"), title: "close b")
        #expect(coordinator.handle(.act(Self.retry)) == [.perform(Self.retry), .tell("retry a …")])
        #expect(coordinator.handle(.act(close)) == [.tell("close b waits for retry a")])
        #expect(coordinator.handle(.act(Self.retry)) == [.tell("retry a waits for retry a")])
        #expect(
            coordinator.handle(.done(ActOutcome("a is open", opening: .outbox)))
                == [.tell("a is open"), .show(.outbox), .perform(close), .tell("close b …")]
        )
        #expect(coordinator.pending == close && coordinator.waiting == [Self.retry])
        _ = coordinator.handle(.done(.failure(of: close, ConnectorError(.timedOut, "nobody came"))))
        #expect(coordinator.pending == Self.retry && coordinator.waiting.isEmpty)
        #expect(coordinator.handle(.done("a is open")) == [.tell("a is open"), .show(.outbox)])
        #expect(coordinator.pending == nil)
    }

    @Test mutating func `the number of waiting acts is limited, and dropped ones are reported`() {
        for _ in 0...Coordinator.waitingLimit { _ = coordinator.handle(.act(Self.retry)) }
        #expect(
            coordinator.handle(.act(Self.retry)) == [.tell("retry a was dropped: 64 actions wait for retry a")]
        )
        #expect(coordinator.waiting.count == Coordinator.waitingLimit)
        while !coordinator.waiting.isEmpty { _ = coordinator.handle(.done("a is open")) }
        #expect(coordinator.handle(.done("a is open")).first == .tell("a is open (1 action dropped: too many waited)"))
        _ = coordinator.handle(.act(Self.retry))
        #expect(coordinator.handle(.done("a is open")).first == .tell("a is open"), "it is reported once")
    }

    @Test func `tabs come and go with a registry's scenes, and the rest of the position stays`() {
        func registry(_ roots: String...) -> ConsoleRegistry {
            var registry = ConsoleRegistry()
            for root in roots { registry.register(SceneDescriptor(root, title: root) { Scene($0.route, root, []) }) }
            return registry
        }
        var coordinator = Coordinator(registry("a", "b"), at: Route(["b"]))
        _ = coordinator.handle(.move(Route(["b", "deep"])))
        coordinator.follow(registry("a", "b", "c"))
        #expect(coordinator.tabs == ["a", "b", "c"] && coordinator.route == Route(["b", "deep"]))
        _ = coordinator.handle(.move(Route(["c"])))
        coordinator.follow(registry("a", "b"))
        #expect(coordinator.tabs == ["a", "b"] && coordinator.route == Route(["a"]), "its tab is gone")
        #expect(coordinator.handle(.move(Route(["c"]))) == [.tell("there is nothing at /c")])
        coordinator.follow(registry("c", "b"))
        #expect(coordinator.route == Route(["c"]))
        #expect(coordinator.handle(.turn(1)) == [.show(Route(["b", "deep"]))], "other tabs stay where they were")
    }

    @Test mutating func `an open dialog swallows every event except quit`() {
        #expect(coordinator.handle(.help) == [.present(.help)])
        #expect(coordinator.handle(.move(.outbox)) == [])
        #expect(coordinator.handle(.turn(1)) == [])
        #expect(coordinator.handle(.act(Self.retry)) == [])
        #expect(coordinator.handle(.answer(true)) == [.dismiss], "help is not a question")
        _ = coordinator.handle(.help)
        #expect(coordinator.handle(.quit) == [.quit])
    }
}
