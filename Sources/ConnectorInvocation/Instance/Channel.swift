// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorLoading

/// How calls reach a plugin instance: through function pointers in this process, through a transport elsewhere.
///
/// A gate accesses its instance only through the channel. ``instance`` is the one exception: if it is not nil, typed and prepared
/// calls go directly to the plugin, at the cost of a function pointer. Otherwise they go to the functions of ``forwardingInstance()``.
package protocol Channel: AnyObject, Sendable {
    /// The instance, if it is in this process.
    var instance: PluginInstance? { get }

    /// The instance with the functions that typed and prepared calls use: the plugin's own, or ones that forward calls to where it is.
    /// Valid as long as the channel.
    ///
    /// - Throws: `unsupported` if the plugin's functions cannot be called from this process.
    func forwardingInstance() throws(ConnectorError) -> PluginInstance

    /// The loaded bytes; nil if there are none, or if they are not known.
    var content: ImageContent? { get }

    /// Whether the instance is a foreign library, not written as a plugin.
    var isForeign: Bool { get }

    /// Whether the plugin can probe its connection to the outside world.
    var canProbe: Bool { get }

    /// Whether the instance must be closed before it is destroyed.
    var canClose: Bool { get }

    /// The plugin functions that are running on threads of the host, or of the instance's runner.
    var functionsInside: [PluginFunction] { get }

    /// What is pending that may complete an operation, as far as the host knows.
    ///
    /// - Parameter span: From the operation's beginning to its deadline, in monotonic time.
    func pendingWork(for operation: UInt64, during span: ClosedRange<UInt64>) -> PendingWork

    /// Whether the instance's process has taken an operation that is pending, as far as the host knows.
    ///
    /// - Parameter operation: The operation; nil for what the host asked last of the instance's life cycle.
    func hasTaken(_ operation: UInt64?) -> Bool

    /// Starts a phase of the instance's life cycle, which completes an operation.
    ///
    /// - Parameters:
    ///   - phase: The phase to start.
    ///   - operation: The operation that the phase completes, with evidence or an error.
    ///   - deadline: The deadline in monotonic time.
    func begin(_ phase: InstancePhase, operation: UInt64, deadline: UInt64)

    /// Calls an operation and awaits its answer.
    ///
    /// - Parameters:
    ///   - name: The operation's name, or `capability/operation` if two capabilities share the name.
    ///   - arguments: The arguments, checked against the signature before any plugin code runs.
    ///   - options: The options, of which only the progress observer applies.
    ///   - deadline: The deadline in monotonic time. The call returns by then, whatever the plugin does.
    ///   - admission: The caller's admission, held until no part of the call is inside the plugin.
    func call(
        _ name: String,
        _ arguments: CallArguments,
        _ options: CallOptions,
        by deadline: UInt64,
        _ admission: consuming Admission
    ) async throws(ConnectorError) -> CallResult

    /// Notifies the plugin that the host gave up an operation, on a thread that no operation can block.
    ///
    /// Returns immediately.
    ///
    /// - Parameter next: Runs on that thread after the plugin has returned.
    func cancel(_ operation: UInt64, then next: @escaping @Sendable () -> Void)

    /// Destroys the instance once no phase of the host is inside the plugin and no callback into it is running.
    ///
    /// Returns immediately. A plugin function that never returns keeps the instance alive forever.
    ///
    /// - Returns: The event that the instance is destroyed.
    @discardableResult
    func dispose() -> OneShot<Void>

    /// Stops waiting for an instance whose plugin blocks, and ends its runner if that carries nothing else.
    func abandon()
}

extension Channel {
    /// An instance in this process takes everything at once.
    package func hasTaken(_ operation: UInt64?) -> Bool { true }

    /// An instance in this process stays: its code still runs here.
    package func abandon() {}

    /// Notifies the plugin that the host gave up an operation; see ``cancel(_:then:)``.
    package func cancel(_ operation: UInt64) {
        cancel(operation) {}
    }
}

/// A phase of an instance's life cycle that completes asynchronously.
package enum InstancePhase: String, Sendable {
    case open
    case probe
    case close
}
