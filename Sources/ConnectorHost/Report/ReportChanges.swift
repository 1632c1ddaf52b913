// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Wakes the watchers of the report.
final class ReportChanges: Sendable {
    private struct State {
        var watchers: [(key: Int, continuation: AsyncStream<Void>.Continuation)] = []
        var gateWatcher: (@Sendable () -> Void)?
        var next = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Notifies every watcher of a change. Call it from any thread; without watchers it costs one lock.
    func notify() {
        let watchers = state.withLock(\.watchers)
        for watcher in watchers { watcher.continuation.yield() }
    }

    /// Notifies every watcher a last time, and ends the streams. A stream made later has one value.
    func finish() {
        let watchers = state.withLock { state in
            state.isFinished = true
            return state.watchers
        }
        for watcher in watchers {
            watcher.continuation.yield()
            watcher.continuation.finish()
        }
    }

    /// Announces a change of a gate: first to the function passed to ``watchGates(_:)``, then to every watcher.
    func notifyGate() {
        state.withLock(\.gateWatcher)?()
        notify()
    }

    /// Calls a function after every change of a gate, for the lifetime of this object. Other changes do not call it.
    func watchGates(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.gateWatcher = wake }
    }

    /// The number of watchers.
    var watcherCount: Int { state.withLock { $0.watchers.count } }

    /// The value now, and again after every change until ``finish()``. Each value is computed only when it is read.
    func stream(_ current: @escaping @Sendable () -> Report) -> AsyncMapSequence<AsyncStream<Void>, Report> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (key, isFinished) = state.withLock { state in
            state.next += 1
            if !state.isFinished { state.watchers.append((state.next, continuation)) }
            return (state.next, state.isFinished)
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.watchers.removeAll { $0.key == key } }
        }
        continuation.yield()
        if isFinished { continuation.finish() }
        return stream.map { _ in current() }
    }
}
