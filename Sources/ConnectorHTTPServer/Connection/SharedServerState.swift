// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import NIOCore
internal import Synchronization

/// What the connections of one server share.
final class SharedServerState: Sendable {
    /// What is accepted of each.
    let limits: ServerLimits
    /// ``ServerLimits/patience``, as event loops count it.
    let patience: TimeAmount
    /// The lines of the header fields of every answer.
    let common: ByteBuffer
    /// Every connection.
    let table: ConnectionTable
    /// Decides what becomes of a request.
    let admit: @Sendable (ServerRequest) -> RequestAdmission
    private let queues = Mutex<[ObjectIdentifier: NIOLoopBound<TurnQueue>]>([:])

    /// Takes what a server was made with.
    init(_ limits: ServerLimits, _ common: HTTPFields, _ admit: @escaping @Sendable (ServerRequest) -> RequestAdmission)
    {
        self.limits = limits
        patience = .nanoseconds(Int64(clamping: limits.patience.nanoseconds))
        self.common = ServerResponse.lines(common)
        table = ConnectionTable(limit: limits.connections)
        self.admit = admit
    }

    /// The turns of an event loop, on which this is called.
    func turns(on eventLoop: any EventLoop) -> TurnQueue {
        queues.withLock { queues in
            let key = ObjectIdentifier(eventLoop)
            if let queue = queues[key] { return queue }
            let queue = NIOLoopBound(TurnQueue(eventLoop), eventLoop: eventLoop)
            queues[key] = queue
            return queue
        }.value
    }
}
