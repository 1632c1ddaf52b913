// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import Synchronization

/// Makes the plan that the console shows. A change of what runs, or the operator, discards it; the next look makes a new one.
final class ShownPlans: Sendable {
    private struct State {
        var shown: ShownPlan?
        /// The plans that were shown before, oldest first.
        var earlier: [Plan] = []
        /// The revision of the running configuration that the plan belongs to.
        var revision: Int?
        /// Incremented by everything that makes a plan in the making outdated.
        var round = 0
        var isMaking = false

        /// Discards the shown plan, so that none is shown until a new one is made.
        mutating func forget() {
            if case .success(let plan)? = shown?.result, plan.basis != nil {
                earlier.append(plan)
                if earlier.count > ShownPlans.limit { earlier.removeFirst() }
            }
            (shown, round) = (nil, round + 1)
        }
    }

    /// How many earlier plans are kept.
    private static let limit = 16

    private let host: ConnectorHost
    private let clock: any HostClock
    private let onChange: @Sendable () -> Void
    private let state = Mutex(State())

    init(_ host: ConnectorHost, clock: any HostClock, onChange: @escaping @Sendable () -> Void) {
        (self.host, self.clock, self.onChange) = (host, clock, onChange)
    }

    /// The plan for what runs; if there is none yet, returns nil and begins to make it.
    func plan(of revision: Int) -> ShownPlan? {
        let (shown, begins) = state.withLock { state in
            if state.revision != revision {
                state.forget()
                state.revision = revision
            }
            let begins = state.shown == nil && !state.isMaking
            if begins { state.isMaking = true }
            return (state.shown, begins)
        }
        if begins { Task.detached { await self.make() } }
        return shown
    }

    /// The plans that were shown before, oldest first; a page may still have their buttons.
    var earlier: [Plan] { state.withLock(\.earlier) }

    /// Discards the plan; the next look makes a new one.
    func forget() {
        state.withLock { $0.forget() }
        onChange()
    }

    private func make() async {
        let round = state.withLock(\.round)
        let result: Result<Plan, ConfigurationErrors>
        do throws(ConfigurationErrors) {
            result = .success(try await host.plan())
        } catch {
            result = .failure(error)
        }
        let shown = ShownPlan(result, at: clock.wallTime())
        state.withLock { state in
            state.isMaking = false
            if state.round == round { state.shown = shown }
        }
        onChange()
    }
}
