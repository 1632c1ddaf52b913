// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The services that the host lends one instance of a plugin, as function tables by id.
package protocol InstanceServices: AnyObject, Sendable {
    /// The function table of a service, always at the same address; null if the instance may not have it.
    func table(named id: String) -> UnsafeRawPointer?

    /// Whether a request, a timer or a callback is under way that may lead to the completion of an operation.
    func isWaiting(for operation: UInt64) -> Bool

    /// Stops the services: cancels their timers and requests, and accepts no more.
    ///
    /// - Returns: The event that the last callback into the plugin has returned; nil if none runs.
    func stop() -> OneShot<Void>?

    /// Frees the tables, once `destroy` of the instance has returned.
    func invalidate()
}
