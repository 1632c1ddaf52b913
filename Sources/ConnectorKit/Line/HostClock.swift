// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

/// The host's `clock/1`.
@safe
struct HostClock: ClockService, @unchecked Sendable {
    // Sendable: the table is constant until `destroy` (host.h), its functions may be called from any thread (clock.h), and
    // the connection refuses calls afterwards.
    private let connection: HostConnection
    private let table: UnsafePointer<connector_clock>

    init(_ connection: HostConnection, _ table: UnsafePointer<connector_clock>) {
        self.connection = connection
        unsafe self.table = unsafe table
    }

    var now: Timestamp {
        let nanoseconds = connection.whileOpen { unsafe table.pointee.wall_ns(table.pointee.context) }
        return Timestamp(nanoseconds: nanoseconds ?? 0)
    }

    var monotonic: UInt64 {
        connection.whileOpen { unsafe table.pointee.monotonic_ns(table.pointee.context) } ?? 0
    }

    func sleep(for duration: Duration) async throws(PluginError) {
        let wait = Waiting<Void>()
        let outcome = await wait.outcome { wait in
            guard let timer = start(wait, after: duration.nanoseconds) else { return nil }
            let isOpen = connection.add(sleeper: timer) { [self] in end(wait, timer, Self.closing) }
            if !isOpen { end(wait, timer, Self.closing) }
            return timer
        } cancel: { [self] timer in
            end(wait, timer, PluginError(.cancelled, "the call was cancelled"))
        }
        if let timer = wait.id { connection.remove(sleeper: timer) }
        try outcome.get()
    }

    private static let closing = PluginError(.notOpen, "the gate is closing")

    /// Cancels the timer of a wait, and ends the wait. Of several callers, the host tells only one that the timer will not fire.
    private func end(_ wait: Waiting<Void>, _ timer: UInt64, _ failure: PluginError) {
        switch connection.whileOpen({ unsafe table.pointee.cancel_timer(table.pointee.context, timer) }) {
        case Line.ok:
            wait.finish(.failure(failure))
            wait.releaseCallback()
        case nil: wait.finish(.failure(failure))
        default: break  // The timer is firing, or another caller has cancelled it, which ends the wait.
        }
    }

    /// The error for a timer that did not start. Callers see `rateLimited` for the host's `tooLarge`, which means too
    /// many timers.
    private static func failure(_ status: Int32?) -> PluginError {
        switch status {
        case nil, PluginStatus.notOpen.rawValue: closing
        case PluginStatus.tooLarge.rawValue: PluginError(.rateLimited, "the gate has too many timers")
        default: PluginError(.unavailable, "the host can start no timer")
        }
    }

    /// Starts a timer that finishes the wait; if the host starts no more timers, finishes the wait and returns nil.
    private func start(_ wait: Waiting<Void>, after delay: UInt64) -> UInt64? {
        let user = unsafe wait.retainedForCallback()
        var timer: UInt64 = 0
        let status = connection.whileOpen {
            unsafe table.pointee.start_timer(
                table.pointee.context,
                delay,
                { user in unsafe Waiting<Void>.consumed(user)?.finish(.success(())) },
                user,
                &timer
            )
        }
        guard status == Line.ok else {
            wait.releaseCallback()
            wait.finish(.failure(Self.failure(status)))
            return nil
        }
        return timer
    }
}
