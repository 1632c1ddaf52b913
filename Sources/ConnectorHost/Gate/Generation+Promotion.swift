// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorLoading
internal import Logging
internal import Synchronization

/// Where the instance of a plugin with `"isolation": "auto"` runs.
extension Generation {
    /// Decides whether the instance is made in a runner. If a plugin with `auto` is opened in this process, marks it
    /// first, in case it ends the process. Blocks.
    func isRemote(_ candidate: PluginCandidate) -> Bool {
        // A stand-in is part of the host.
        guard !plan.hasStandIn else { return false }
        if dependencies.learnsSandbox, !candidate.isLinked {
            state.withLock { $0.isRemote = true }
            return true
        }
        switch plan.isolation.kind {
        case .none: return false
        case .process: state.withLock { $0.isRemote = true }
        case .auto:
            let now = dependencies.clock.wallTime()
            let promotion = dependencies.promotions.promotion(of: candidate, quiet: plan.isolation.quiet, at: now)
            guard let promotion else {
                let mark = dependencies.promotions.mark(candidate, at: now)
                state.withLock { $0.mark = mark }
                return false
            }
            state.withLock { ($0.isRemote, $0.promotion) = (true, promotion) }
            logger.warning(
                "plugin runs in a runner after a crash",
                metadata: ["reason": "\(promotion.reason)", "until": "\(promotion.until)"]
            )
        }
        return true
    }

    /// Removes the mark once the plugin has opened or failed to open.
    func clearMark() {
        guard let mark = state.withLock({ $0.mark.take() }) else { return }
        dependencies.calls.gateThreads.run { mark.clear() }
    }

    /// Removes the mark of a plugin that has failed to open, once no function and no constructor of it blocks its
    /// thread: until then it can still end the process.
    func clearMarkOnceReturned() {
        let isHeld = state.withLock { state in
            state.keepsMark = state.step != nil
            return state.keepsMark
        }
        if !isHeld { clearMark() }
    }

    /// Remembers that the runner of a promoted plugin has ended, so that the plugin stays in a runner.
    func rememberLoss(_ error: ConnectorError) {
        guard isolation.promotion != nil, let candidate = try? plan.plugin.get() else { return }
        let (promotions, now) = (dependencies.promotions, dependencies.clock.wallTime())
        dependencies.calls.gateThreads.run { promotions.runnerEnded(candidate, error.message, at: now) }
    }
}
