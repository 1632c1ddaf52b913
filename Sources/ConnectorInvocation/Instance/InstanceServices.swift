// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The services that the host lends a plugin instance, as function tables by id.
package protocol InstanceServices: AnyObject, Sendable {
    /// The function table of a service, always at the same address; null if the instance has no access to it.
    func table(named id: String) -> UnsafeRawPointer?

    /// What is pending that may complete an operation.
    ///
    /// - Parameter span: From the operation's beginning to its deadline, in monotonic time.
    func pendingWork(for operation: UInt64, during span: ClosedRange<UInt64>) -> PendingWork

    /// Whether one callback has been inside the plugin since before a moment, in the clock's monotonic time: no other one has run since.
    func hasCallbackInside(since moment: UInt64) -> Bool

    /// A call of the instance begins: its operation, its deadline and its trace.
    func callBegins(_ trace: TraceContext)

    /// A call of the instance has ended.
    func callEnds(_ operation: UInt64)

    /// A call that has begun waits for a thread of the instance, or no longer.
    func waitsForThread(_ operation: UInt64, _ isWaiting: Bool)

    /// The function of a call that has begun has returned, or will not be called.
    func functionReturned(from operation: UInt64)

    /// The plugin's `cancel` or `destroy` is about to run, or has returned.
    func lifeCycle(_ function: String, isInside: Bool)

    /// Cancels the requests, and the calls of other gates, that serve a call that the host has given up. Must not block.
    func cancelCalls(during operation: UInt64)

    /// Stops the services: cancels their timers, requests and calls, and refuses new ones.
    ///
    /// - Returns: The event that the last callback into the plugin has returned; nil if none is running.
    func stop() -> OneShot<Void>?

    /// Releases the tables, after the instance's `destroy` has returned: the plugin no longer uses them.
    func invalidate()
}

extension InstanceServices {
    /// False: for a plugin in a runner, the host times the callbacks.
    package func hasCallbackInside(since moment: UInt64) -> Bool { false }

    /// Does nothing: the instance itself knows which of its calls wait.
    package func waitsForThread(_ operation: UInt64, _ isWaiting: Bool) {}

    /// Does nothing: the instance itself knows what runs in this process.
    package func functionReturned(from operation: UInt64) {}

    /// Does nothing: the instance itself knows what runs in this process.
    package func lifeCycle(_ function: String, isInside: Bool) {}
}
