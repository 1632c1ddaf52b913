// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Operations with `"prompt": true` in their manifest: they return without waiting, so they run on their caller's thread.
extension PluginInstance {
    /// The maximum duration of a prompt function, in nanoseconds.
    private static let promptLimit: UInt64 = 1_000_000

    /// An operation that runs to completion on its caller's thread; nil for any other. It lives as long as the instance.
    package func promptOperation(named name: String) -> Unmanaged<ResolvedOperation>? {
        unsafe resolved.prompt(named: name)
    }

    /// The most prompt functions of an instance on the threads of their callers: fewer than a pool with a thread for each processor has.
    static let promptCallers = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1)

    /// Lets a prompt function run on its caller's thread, unless ``promptCallers`` others are inside: those that never return after all,
    /// because they wait for the same lock, say, do not cost the application all threads of its pool.
    ///
    /// - Returns: False if the call must run on a thread of the host. After true, call ``leavePromptly()``.
    package func enterPromptly() -> Bool {
        guard promptCount.add(1, ordering: .acquiring).oldValue >= Self.promptCallers else { return true }
        leavePromptly()
        return false
    }

    /// Lets another prompt function run on its caller's thread.
    package func leavePromptly() { promptCount.subtract(1, ordering: .releasing) }

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
