// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorPlatform
internal import Synchronization

/// The clock of a host whose clock is not the system's, such as one that a test moves. The host tells the time, and fires the timers.
final class RemoteClock: HostClock {
    private let requests: HostRequests
    /// What the timers run that the host has not fired, by their numbers.
    private let actions = Mutex<[UInt64: @Sendable () -> Void]>([:])

    init(_ requests: HostRequests) {
        self.requests = requests
    }

    /// The host's monotonic time; blocks the thread until the host has answered.
    func now() -> UInt64 { requests.time(.monotonicTime) ?? SystemTime.monotonic() }

    /// The host's time of day; blocks the thread until the host has answered.
    func wallTime() -> Timestamp { requests.time(.wallTime).map { Timestamp(nanoseconds: $0) } ?? .now }

    /// Blocks the thread until the host's clock has the timer: whoever learns from the plugin that there is one may move that clock.
    func schedule(after delay: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
        let token = requests.token()
        actions.withLock { $0[token] = fire }
        var message = MessageWriter()
        message.put(token)
        message.put(delay)
        // A host that refuses has given the instance up, or cannot start the thread of its clock.
        _ = try? requests.exchange(.timerStart, token, message)
        return HostTimer(rawValue: token)
    }

    @discardableResult
    func cancel(_ timer: HostTimer) -> Bool {
        let action = actions.withLock { $0.removeValue(forKey: timer.rawValue) }
        guard action != nil else { return false }
        var message = MessageWriter()
        message.put(timer.rawValue)
        requests.send(.timerCancel, message)
        return true
    }

    /// The host's clock has fired a timer, which may have been cancelled meanwhile.
    func fire(_ timer: UInt64) {
        let action = actions.withLock { $0.removeValue(forKey: timer) }
        action?()
    }
}

extension CallDependencies {
    /// The same, with a clock that stands still, so that no deadline passes here.
    var withoutTime: CallDependencies {
        CallDependencies(
            operations: operations,
            workers: workers,
            gateThreads: gateThreads,
            cancelThreads: cancelThreads,
            clock: ManualHostClock(now: .zero),
            grace: grace
        )
    }
}
