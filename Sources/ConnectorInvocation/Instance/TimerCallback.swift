// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

/// The callback of a plugin's timer, in a form that crosses threads.
///
/// Sendable: services/clock.h says that `fire` may run on any thread of the host. `user` belongs to the plugin, and the
/// host never dereferences it. The plugin keeps both valid until the timer has fired or was cancelled.
@safe package struct TimerCallback: Sendable {
    /// The maximum number of pending timers of one gate.
    package static let limit = 1 << 16

    /// The function that a timer calls.
    package typealias Fire = @convention(c) (UnsafeMutableRawPointer?) -> Void

    private nonisolated(unsafe) let fire: Fire
    private nonisolated(unsafe) let user: UnsafeMutableRawPointer?

    /// Wraps a function and its argument.
    package init(_ fire: Fire, user: UnsafeMutableRawPointer?) {
        unsafe self.fire = fire
        unsafe self.user = user
    }

    /// Calls into the plugin, on the current thread.
    package func call() {
        unsafe PluginCode.running(unsafeBitCast(fire, to: UnsafeRawPointer.self)) { unsafe fire(user) }
    }
}
