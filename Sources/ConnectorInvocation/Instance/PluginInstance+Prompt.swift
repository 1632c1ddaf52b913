// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

/// Operations with `"prompt": true` in their manifest: they return without waiting, so they run on their caller's thread.
extension PluginInstance {
    /// The maximum duration of a prompt function, in nanoseconds.
    package static let promptLimit: UInt64 = 1_000_000

    /// The most prompt functions of an instance on the threads of their callers: fewer than a pool with a thread for each processor has.
    static let promptCallers = max(1, HostThread.processorCount - 1)

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
    ///
    /// - Parameter nanoseconds: In the clock's time; the function is judged by the system's.
    package func judge(_ operation: ResolvedOperation, took nanoseconds: UInt64) {
        guard nanoseconds > Self.promptLimit else { return }
        let time = dependencies.clock.systemTime(of: nanoseconds)
        guard time > Self.promptLimit, let length = operation.probation.begin() else { return }
        let span = Duration.nanoseconds(Int64(clamping: time)).brief
        context.misbehaved(
            "\(operation.operation.name) (\(operation.operation.symbol)) took \(span), but the manifest declares it prompt; "
                + "it runs on a thread of the host until \(length) calls in a row take less than a millisecond"
        )
    }

    /// Counts a call of a function that has to run on threads of the host until it proves prompt.
    func countOnProbation(_ operation: ResolvedOperation, since start: UInt64) {
        let time = dependencies.clock.systemTime(of: dependencies.clock.now() - start)
        operation.probation.count(isQuick: time <= Self.promptLimit)
    }
}
