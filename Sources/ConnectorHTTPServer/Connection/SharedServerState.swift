// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import NIOCore
internal import Synchronization

/// The state that the connections of one server share.
final class SharedServerState: Sendable {
    /// The limits of each connection.
    let limits: ServerLimits
    /// ``ServerLimits/timeout``, in the type that event loops use.
    let timeout: TimeAmount
    /// The header lines of every response.
    let common: ByteBuffer
    /// Every connection.
    let table: ConnectionTable
    /// Decides on a request from its head.
    let admit: @Sendable (ServerRequest) -> RequestAdmission
    private let queues = Mutex<[ObjectIdentifier: NIOLoopBound<PipelineQueue>]>([:])

    /// Creates the shared state of a server.
    init(_ limits: ServerLimits, _ common: HTTPFields, _ admit: @escaping @Sendable (ServerRequest) -> RequestAdmission)
    {
        self.limits = limits
        timeout = .nanoseconds(Int64(clamping: limits.timeout.nanoseconds))
        self.common = ServerResponse.lines(common)
        table = ConnectionTable(limit: limits.connections)
        self.admit = admit
    }

    /// The queue of an event loop. Call it on that loop.
    func queue(on eventLoop: any EventLoop) -> PipelineQueue {
        queues.withLock { queues in
            let key = ObjectIdentifier(eventLoop)
            if let queue = queues[key] { return queue }
            let queue = NIOLoopBound(PipelineQueue(eventLoop), eventLoop: eventLoop)
            queues[key] = queue
            return queue
        }.value
    }
}
