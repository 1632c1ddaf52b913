// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import Synchronization

/// Makes the plan that the console shows: once it is looked at, after a change of what runs, and when the operator asks.
final class ShownPlans: Sendable {
    private struct State {
        var shown: ShownPlan?
        /// The revision of the configuration that ran when it was made.
        var revision: Int?
        /// Counts what makes a plan that is being made outdated.
        var round = 0
        var isMaking = false
    }

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
                (state.shown, state.revision, state.round) = (nil, revision, state.round + 1)
            }
            let begins = state.shown == nil && !state.isMaking
            if begins { state.isMaking = true }
            return (state.shown, begins)
        }
        if begins { Task.detached { await self.make() } }
        return shown
    }

    /// Forgets the plan: it is made again when it is looked at.
    func forget() {
        state.withLock { ($0.shown, $0.round) = (nil, $0.round + 1) }
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
