// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The way calls reach a plugin's instance: in this process through function addresses, elsewhere through a transport.
///
/// A gate knows its instance only through its channel. ``instance`` is the one exception: where it is not nil, typed
/// and prepared calls jump straight to the plugin at the price of a function pointer.
package protocol Channel: AnyObject, Sendable {
    /// The instance, if it is in this process.
    var instance: PluginInstance? { get }

    /// Whether the instance is a foreign library, which knows nothing of connectors.
    var isForeign: Bool { get }

    /// Whether the plugin can prove again that the outside world is there.
    var canProbe: Bool { get }

    /// Whether the instance must be closed before it is destroyed.
    var canClose: Bool { get }

    /// The plugin's functions that run on threads of the host.
    var functionsInside: [PluginFunction] { get }

    /// Starts a phase of the instance's life, which completes an operation.
    ///
    /// - Parameters:
    ///   - phase: The phase to start.
    ///   - operation: The operation that the phase completes, with evidence or an error.
    ///   - deadline: On the clock's monotonic time.
    func begin(_ phase: InstancePhase, operation: UInt64, deadline: UInt64)

    /// Calls an operation and awaits its answer.
    ///
    /// - Parameters:
    ///   - name: The operation; `capability/operation` where two capabilities share one.
    ///   - arguments: Checked against the signature before any plugin code runs.
    ///   - options: The observer of progress.
    ///   - deadline: On the clock's monotonic time. Whatever the plugin does, the call returns by then.
    ///   - admission: Held until nothing of the call is inside the plugin.
    func call(
        _ name: String,
        _ arguments: CallArguments,
        _ options: CallOptions,
        by deadline: UInt64,
        _ admission: consuming Admission
    ) async throws(ConnectorError) -> CallResult

    /// Tells the plugin that the host gave up an operation, on a thread that no operation can hold.
    ///
    /// Returns at once.
    ///
    /// - Parameter next: Runs on that thread once the plugin has returned.
    func cancel(_ operation: UInt64, then next: @escaping @Sendable () -> Void)

    /// Destroys the instance once nothing of the host is inside the plugin and no callback into it is under way.
    ///
    /// Returns at once. A plugin function that never returns keeps the instance forever.
    ///
    /// - Returns: The event of its destruction.
    @discardableResult
    func dispose() -> OneShot<Void>
}

extension Channel {
    /// Tells the plugin that the host gave up an operation; see ``cancel(_:then:)``.
    package func cancel(_ operation: UInt64) {
        cancel(operation) {}
    }
}

/// A phase of an instance's life that completes asynchronously.
package enum InstancePhase: String, Sendable {
    case open
    case probe
    case close
}
