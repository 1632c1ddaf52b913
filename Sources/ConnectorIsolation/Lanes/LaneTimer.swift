// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Synchronization

/// Ends the wait of a lane's caller at the deadline. Most calls end long before they need a timer, and cost one load here.
final class LaneTimer: Sendable {
    private struct State {
        /// The number of calls that have had a timer.
        var call: UInt64 = 0
        var timer: HostTimer?
    }

    private let clock: any HostClock
    private let limit: Atomic<UInt64>
    private let interruption: LaneInterruption
    private let reader: RingReader
    private let isRunning = Atomic<Bool>(false)
    private let state = Mutex(State())

    init(_ clock: any HostClock, patience: UInt64, _ interruption: LaneInterruption, _ reader: RingReader) {
        self.clock = clock
        limit = Atomic(patience)
        self.interruption = interruption
        self.reader = reader
    }

    /// How long a call may take, in nanoseconds.
    var patience: UInt64 {
        get { limit.load(ordering: .relaxed) }
        set { limit.store(newValue, ordering: .relaxed) }
    }

    /// Starts the timer that ends the waiting call when its time is up.
    func start() {
        state.withLock { state in
            guard state.timer == nil else { return }
            let call = state.call
            isRunning.store(true, ordering: .relaxed)
            state.timer = clock.schedule(after: patience - min(patience, LaneStream.briefly)) { [weak self] in
                self?.fire(call)
            }
        }
    }

    private func fire(_ call: UInt64) {
        let isLate = state.withLock { state in
            guard state.call == call else { return false }
            interruption.set(.late)
            return true
        }
        if isLate { reader.wake() }
    }

    /// Cancels the timer of a call that has ended, so that it does not touch the next one.
    func end() {
        guard isRunning.load(ordering: .relaxed) else { return }
        isRunning.store(false, ordering: .relaxed)
        let timer = state.withLock { state in
            state.call += 1
            return state.timer.take()
        }
        if let timer { clock.cancel(timer) }
        interruption.clearLate()
    }
}
