// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Integrator

@Suite struct ExecutionStateTests {
    @Test func `independent starts every call and keeps none`() {
        var state = ExecutionState<Int>(.independent)
        #expect(state.arrive(1) == [.start(1, after: .zero)])
        #expect(state.arrive(2) == [.start(2, after: .zero)])
        #expect(state.leave(1) == [])
    }

    @Test func `only ignores what arrives while one runs`() {
        var state = ExecutionState<Int>(.only)
        #expect(state.arrive(1) == [.start(1, after: .zero)])
        #expect(state.arrive(2) == [.ignore(2)])
        #expect(state.leave(2) == [])
        #expect(state.arrive(3) == [.ignore(3)])
        #expect(state.leave(1) == [])
        #expect(state.arrive(4) == [.start(4, after: .zero)])
    }

    @Test func `queue starts calls in order of arrival, one at a time`() {
        var state = ExecutionState<Int>(.queue)
        #expect(state.arrive(1) == [.start(1, after: .zero)])
        #expect(state.arrive(2) == [])
        #expect(state.arrive(3) == [])
        #expect(state.leave(1) == [.start(2, after: .zero)])
        #expect(state.leave(2) == [.start(3, after: .zero)])
        #expect(state.leave(3) == [])
        #expect(state.arrive(4) == [.start(4, after: .zero)])
    }

    @Test func `queue skips a call that gave up while it waited`() {
        var state = ExecutionState<Int>(.queue)
        _ = state.arrive(1)
        _ = state.arrive(2)
        _ = state.arrive(3)
        #expect(state.leave(2) == [])
        #expect(state.leave(1) == [.start(3, after: .zero)])
    }

    @Test func `latest supersedes the running call and starts the newest when it has left`() {
        var state = ExecutionState<Int>(.latest)
        #expect(state.arrive(1) == [.start(1, after: .zero)])
        #expect(state.arrive(2) == [.supersede(1)])
        #expect(state.leave(1) == [.start(2, after: .zero)])
        #expect(state.leave(2) == [])
        #expect(state.arrive(3) == [.start(3, after: .zero)])
    }

    @Test func `latest supersedes a waiting call once, and starts only when every earlier one has left`() {
        var state = ExecutionState<Int>(.latest)
        _ = state.arrive(1)
        #expect(state.arrive(2) == [.supersede(1)])
        #expect(state.arrive(3) == [.supersede(2)])
        #expect(state.leave(2) == [])
        #expect(state.leave(1) == [.start(3, after: .zero)])
    }

    @Test func `latest starts nothing when the newest call gave up while it waited`() {
        var state = ExecutionState<Int>(.latest)
        _ = state.arrive(1)
        _ = state.arrive(2)
        #expect(state.leave(2) == [])
        #expect(state.leave(1) == [])
        #expect(state.arrive(3) == [.start(3, after: .zero)])
    }

    @Test func `latest waits for an earlier call that is still ending after the newest gave up`() {
        var state = ExecutionState<Int>(.latest)
        _ = state.arrive(1)
        _ = state.arrive(2)
        _ = state.leave(2)
        #expect(state.arrive(3) == [])
        #expect(state.leave(1) == [.start(3, after: .zero)])
    }

    @Test func `latest delays every start by its debounce, which is never negative`() {
        var state = ExecutionState<Int>(.latest(debounce: .seconds(1)))
        #expect(state.arrive(1) == [.start(1, after: .seconds(1))])
        _ = state.arrive(2)
        #expect(state.leave(1) == [.start(2, after: .seconds(1))])
        #expect(Execution.latest(debounce: .seconds(-1)) == .latest)
        // A clock cannot add this to the present.
        #expect(Execution.latest(debounce: .seconds(Int64.max)) == .latest(debounce: .longestWait))
    }

    @Test(arguments: [Execution.independent, .only, .queue, .latest])
    func `a call that is unknown may leave without effect`(execution: Execution) {
        var state = ExecutionState<Int>(execution)
        #expect(state.leave(9) == [])
        #expect(state.arrive(1) == [.start(1, after: .zero)])
        #expect(state.leave(9) == [])
    }
}
