// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorOneShot

/// What the host lends one instance of a plugin: function tables by id.
package protocol InstanceServices: AnyObject, Sendable {
    /// The function table of a service, at the same address every time; null if the instance may not have it.
    func table(named id: String) -> UnsafeRawPointer?

    /// Cancels what is under way for the instance, and begins nothing more.
    ///
    /// - Returns: What arrives when no callback into the plugin runs any more; nil if none does.
    func stop() -> OneShot<Void>?

    /// Frees the tables, once `destroy` of the instance has returned.
    func invalidate()
}
