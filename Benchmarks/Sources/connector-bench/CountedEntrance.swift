// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform

/// A gate's rundown guard without the gate: the only part of a typed call in which metrics could cost something while nobody wants them.
///
/// A typed call counts as it enters, and nowhere else. The same rundown guard also lets calls by name in, which it does not count.
struct CountedEntrance {
    private let rundown = RundownGuard(
        CallDependencies(
            operations: .shared,
            workers: WorkerThreads(),
            gateThreads: WorkerThreads(isLean: true),
            cancelThreads: WorkerThreads(isLean: true),
            clock: SystemHostClock()
        )
    )

    /// Opens the rundown guard.
    init() {
        _ = rundown.directCalls(to: Nowhere())
    }

    /// Enters and leaves.
    ///
    /// - Returns: The nanoseconds of each time.
    func pass(_ kind: RundownGuard.CallKind, _ count: Int) throws -> Double {
        let before = rundown.typedCalls
        let start = ContinuousClock.now
        for _ in 0..<count {
            guard case .some = rundown.admitNow(kind) else { throw Failure("the rundown guard is shut") }
        }
        let duration = ContinuousClock.now - start
        let counted = rundown.typedCalls - before
        guard counted == (kind == .typed ? UInt64(count) : 0) else {
            throw Failure("the rundown guard counts \(counted)")
        }
        return Double(duration.nanoseconds) / Double(count)
    }

    /// Where the rundown guard leads: to no instance.
    private final class Nowhere: Channel {
        var instance: PluginInstance? { nil }
        var content: ImageContent? { nil }
        var isForeign: Bool { false }
        var canProbe: Bool { false }
        var canClose: Bool { false }
        var functionsInside: [PluginFunction] { [] }

        func pendingWork(for operation: UInt64, during span: ClosedRange<UInt64>) -> PendingWork { .nothing }

        func begin(_ phase: InstancePhase, operation: UInt64, deadline: UInt64) {}

        func call(
            _ name: String,
            _ arguments: CallArguments,
            _ options: CallOptions,
            by deadline: UInt64,
            _ admission: consuming Admission
        ) async throws(ConnectorError) -> CallResult {
            throw ConnectorError(.unsupported, "nothing is called here")
        }

        func cancel(_ operation: UInt64, then next: @escaping @Sendable () -> Void) { next() }

        func forwardingInstance() throws(ConnectorError) -> PluginInstance {
            throw ConnectorError(.unsupported, "nothing is called here")
        }

        func dispose() -> OneShot<Void> { OneShot() }
    }
}
