// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The connections of one event loop whose clients have pipelined more requests than the burst limit.
///
/// An event loop runs all due tasks before it polls its sockets. Pipelined requests are therefore handled a few at a time, and the
/// loop polls in between, so that other clients are not delayed. Used only on its loop.
final class PipelineQueue {
    /// The maximum number of connections to resume before the loop polls its sockets.
    private static let batch = 32

    private let eventLoop: any EventLoop
    private var waiting: [HTTPConnection] = []
    private var isScheduled = false

    /// Creates an empty queue.
    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Adds a connection, to be resumed after the others.
    func enqueue(_ connection: HTTPConnection) {
        waiting.append(connection)
        schedule()
    }

    private func schedule() {
        guard !isScheduled, !waiting.isEmpty else { return }
        isScheduled = true
        // The delay lets the loop poll its sockets before the task is due.
        _ = eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(1)) { [self] in
            let next = waiting.prefix(Self.batch)
            waiting.removeFirst(next.count)
            for connection in next { connection.resume() }
            isScheduled = false
            schedule()
        }
    }
}
