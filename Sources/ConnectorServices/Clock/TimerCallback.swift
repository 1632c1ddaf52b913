// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a plugin's timer calls, on its way to another thread.
///
/// Sendable: services/clock.h says that `fire` runs on any thread of the host, and `user` is the plugin's own business, which
/// the host never looks behind. Both stay valid until the timer fired or was cancelled: that is the plugin's duty.
@safe package struct TimerCallback: Sendable {
    private nonisolated(unsafe) let fire: ClockService.Fire
    private nonisolated(unsafe) let user: UnsafeMutableRawPointer?

    /// Keeps both.
    package init(_ fire: ClockService.Fire, user: UnsafeMutableRawPointer?) {
        unsafe self.fire = fire
        unsafe self.user = user
    }

    /// Calls into the plugin.
    package func call() {
        unsafe fire(user)
    }
}
