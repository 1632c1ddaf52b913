// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The connections of one event loop whose clients sent several requests at once, each of which waits for its turn.
///
/// A loop first runs all tasks that are due, and only then looks at its sockets: what a client has sent ahead is answered a few
/// requests at a time, with a look at the sockets in between, so that it takes no time from others. Used on its loop alone.
final class TurnQueue {
    /// The most connections that have their turn before the loop looks at its sockets.
    private static let batch = 32

    private let eventLoop: any EventLoop
    private var waiting: [HTTPConnection] = []
    private var isScheduled = false

    /// Begins without connections.
    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Lets a connection wait for its turn.
    func enqueue(_ connection: HTTPConnection) {
        waiting.append(connection)
        schedule()
    }

    private func schedule() {
        guard !isScheduled, !waiting.isEmpty else { return }
        isScheduled = true
        // Counted from now, which is after the turns before: so it is not due before the loop has looked.
        _ = eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(1)) { [self] in
            let next = waiting.prefix(Self.batch)
            waiting.removeFirst(next.count)
            for connection in next { connection.takeTurn() }
            isScheduled = false
            schedule()
        }
    }
}
