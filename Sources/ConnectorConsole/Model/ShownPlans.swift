// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import Synchronization

/// Makes the plan that the console shows: once it is looked at, after a change of what runs, and when the operator asks.
final class ShownPlans: Sendable {
    private struct State {
        var shown: ShownPlan?
        /// The plans that were shown before, oldest first.
        var earlier: [Plan] = []
        /// The revision of the configuration that ran when it was made.
        var revision: Int?
        /// Counts what makes a plan that is being made outdated.
        var round = 0
        var isMaking = false

        /// Shows nothing, until the plan was made again.
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

    /// The plan for what runs; nil while it is being made, which begins then.
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

    /// The plans that were shown before, oldest first: a page may still have their buttons.
    var earlier: [Plan] { state.withLock(\.earlier) }

    /// Forgets the plan: it is made again when it is looked at.
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
