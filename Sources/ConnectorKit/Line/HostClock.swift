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
        let cancelled = PluginError(.cancelled, "the call was cancelled")
        let wait = Waiting<Void>()
        let outcome = await wait.outcome { wait in
            start(wait, after: duration.nanoseconds)
        } cancel: { timer in
            switch connection.whileOpen({ unsafe table.pointee.cancel_timer(table.pointee.context, timer) }) {
            case Line.ok:
                wait.releaseCallback()
                wait.finish(.failure(cancelled))
            case nil: wait.finish(.failure(cancelled))
            default: break  // The timer is firing, which ends the wait.
            }
        }
        try outcome.get()
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
            wait.finish(.failure(PluginError(.notOpen, "the gate is closing")))
            return nil
        }
        return timer
    }
}
