// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
package import ConnectorOneShot

/// How calls reach an instance of a plugin: in this process through the addresses of its functions, elsewhere through whatever
/// carries them.
///
/// A gate knows its instance by this alone. ``instance`` is the one exception: where it is not nil, typed and prepared calls jump
/// straight to the plugin, at the price of a function pointer.
package protocol Channel: AnyObject, Sendable {
    /// The instance, if it is in this process.
    var instance: PluginInstance? { get }

    /// Whether it stands for a library that knows nothing of connectors.
    var isForeign: Bool { get }

    /// Whether the plugin can prove that the outside world is still there.
    var canProbe: Bool { get }

    /// Whether anything is to be done before the instance is destroyed.
    var canClose: Bool { get }

    /// Starts a step of the instance's life, which completes an operation.
    ///
    /// - Parameters:
    ///   - phase: Which step.
    ///   - operation: What the step completes, with evidence or an error.
    ///   - deadline: On the clock's monotonic time.
    func begin(_ phase: InstancePhase, operation: UInt64, deadline: UInt64)

    /// Calls an operation and awaits its answer.
    ///
    /// - Parameters:
    ///   - name: The operation; `capability/operation` where two capabilities share one.
    ///   - arguments: Checked against the signature before any plugin code runs.
    ///   - options: Who is told of progress.
    ///   - deadline: On the clock's monotonic time; the call ends no later, whatever the plugin does, unless it answers at once.
    ///   - admission: Ends when nothing of the call is inside the plugin any more.
    func call(
        _ name: String,
        _ arguments: CallArguments,
        _ options: CallOptions,
        by deadline: UInt64,
        _ admission: consuming Admission
    ) async throws(ConnectorError) -> CallResult

    /// Tells the plugin that nobody waits for an operation any more. Blocks as long as the plugin does.
    func cancel(_ operation: UInt64)

    /// Destroys the instance once nothing of the host is inside the plugin and no callback into it is under way.
    ///
    /// Returns at once. A function that never returns keeps the instance for ever.
    ///
    /// - Returns: What arrives when it is destroyed.
    @discardableResult
    func dispose() -> OneShot<Void>
}

/// A step of an instance's life that completes later.
package enum InstancePhase: String, Sendable {
    case open
    case probe
    case close
}
