// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// Pausing after a failure.
extension Delivery {
    /// Waits for the rest of the pause that the vendor requested of the previous delivery.
    func waitOutInherited(_ progress: inout Progress) async {
        let (clock, now) = (dependencies.clock, dependencies.clock.now())
        guard let inherited, now < inherited.end else { return }
        (progress.failures, progress.failure) = (inherited.failures, inherited.failure)
        progress.asked = inherited.end
        let end = clock.wallTime().nanoseconds.saturatingAdding(inherited.end - now)
        set(.paused(inherited.failure, until: Timestamp(nanoseconds: end)))
        await waitOut(until: inherited.end, &progress)
    }

    /// Pauses after a failure; another host of the queue may reach the vendor meanwhile.
    func waitOut(
        _ progress: inout Progress,
        _ failure: DeliveryFailure,
        atLeast least: Duration? = nil,
        _ suspect: DeliveryDecision.Suspect = .connection
    ) async {
        dependencies.engine.release(path)
        let end = pause(&progress, failure, atLeast: least, suspect)
        progress.asked = least.map { least in
            dependencies.clock.now().saturatingAdding(min(least, DeliveryPolicy.longestAskedWait).nanoseconds)
        }
        await waitOut(until: end, &progress)
    }

    /// Waits out a pause, unless the delivery is stopped or woken.
    func waitOut(until end: UInt64, _ progress: inout Progress) async {
        let condition = condition
        while !isAwake, dependencies.clock.now() < end {
            set(condition)
            do throws(ConnectorError) {
                try await wait(until: end, expiring: &progress)
            } catch {
                // A failing store does not shorten the vendor's pause.
                await wait(until: min(end, dependencies.clock.now().saturatingAdding(Self.shortestStep)))
            }
        }
        if !isStopping { progress.asked = nil }
    }

    /// Waits until the pace allows the next batch, unless the delivery is woken: an operator who asks for an attempt gets it at once.
    func waitForPace(_ progress: inout Progress) async throws(ConnectorError) {
        let (clock, start) = (dependencies.clock, progress.start)
        if let failure = progress.failure {
            let rest = start - min(start, clock.now())
            set(.paused(failure, until: Timestamp(nanoseconds: clock.wallTime().nanoseconds.saturatingAdding(rest))))
        } else {
            set(.idle)
        }
        // The gate may have closed before the condition was set.
        guard target.isUsable() else { return }
        try await wait(until: start, expiring: &progress)
        if isAwake, target.isUsable() { progress.start = 0 }
    }

    /// Draws the wait after some failures in a row, in nanoseconds; not shorter than the vendor asks for, up to a day.
    func backoff(after failures: Int, atLeast least: Duration?) -> UInt64 {
        let asked = min(least ?? .zero, DeliveryPolicy.longestAskedWait)
        return max(dependencies.jitter(policy.bound(after: failures).nanoseconds), asked.nanoseconds)
    }

    /// Begins a pause after a failure. Reports the first of several in a row, and each event that turns out to end the plugin's runner.
    ///
    /// - Returns: When the pause ends, in monotonic time.
    func pause(
        _ progress: inout Progress,
        _ failure: DeliveryFailure,
        atLeast least: Duration? = nil,
        _ suspect: DeliveryDecision.Suspect = .connection
    ) -> UInt64 {
        var isNews = progress.failures == 0
        if case .event(let id) = suspect, progress.named != id { (isNews, progress.named) = (true, id) }
        (progress.failures, progress.failure) = (progress.failures + 1, failure)
        if isNews, !isStopping { dependencies.onPause(failure) }
        let clock = dependencies.clock
        let wait = backoff(after: progress.failures, atLeast: least)
        let end = clock.now().saturatingAdding(wait)
        set(.paused(failure, until: Timestamp(nanoseconds: clock.wallTime().nanoseconds.saturatingAdding(wait))))
        return end
    }
}
