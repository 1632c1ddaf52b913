// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

/// Operations with `"prompt": true` in their manifest: they return without waiting, so they run on their caller's thread.
extension PluginInstance {
    /// The maximum duration of a prompt function, in nanoseconds.
    private static let promptLimit: UInt64 = 1_000_000

    /// An operation that runs to completion on its caller's thread; nil for any other. It lives as long as the instance.
    package func promptOperation(named name: String) -> Unmanaged<ResolvedOperation>? {
        unsafe resolved.prompt(named: name)
    }

    /// Lets a prompt function run on its caller's thread, one of the instance at a time: those that never return after all, because
    /// they wait for the same lock, say, cost the application one thread of its pool, and not all of them.
    ///
    /// - Returns: False while another one is inside; the call then runs on a thread of the host. After true, call ``leavePromptly()``.
    package func enterPromptly() -> Bool { !isPromptInside.exchange(true, ordering: .acquiring) }

    /// Lets the next prompt function run on its caller's thread.
    package func leavePromptly() { isPromptInside.store(false, ordering: .releasing) }

    /// Reports a prompt function that took too long on its caller's thread, and makes it run on threads of the host for a while.
    package func judge(_ operation: ResolvedOperation, took nanoseconds: UInt64) {
        guard nanoseconds > Self.promptLimit, let length = operation.probation.begin() else { return }
        let span = Duration.nanoseconds(Int64(clamping: nanoseconds)).brief
        context.misbehaved(
            "\(operation.operation.name) (\(operation.operation.symbol)) took \(span), but the manifest declares it prompt; "
                + "it runs on a thread of the host until \(length) calls in a row take less than a millisecond"
        )
    }

    /// Runs a function on this thread of the host, and counts the call if the manifest declares the function prompt.
    func onProbation(_ operation: ResolvedOperation, _ run: () -> Void) {
        guard operation.probation.isOn else { return run() }
        let start = environment.clock.now()
        run()
        operation.probation.count(isQuick: environment.clock.now() - start <= Self.promptLimit)
    }
}
