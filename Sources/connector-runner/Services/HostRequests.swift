// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorIsolation
internal import ConnectorPlatform
internal import Synchronization

/// The messages of an instance to its host, and the answers that threads of the plugin wait for.
final class HostRequests: Sendable {
    private let number: UInt32
    private let socket: RunnerSocket
    private let last = Atomic<UInt64>(0)
    private let waiting = Mutex<[UInt64: Monitor<Answer?>]>([:])

    /// The answer to a request.
    struct Answer: Sendable {
        var status: Int32
        var error: connector_error?
        var value: [UInt8]
    }

    init(_ number: UInt32, _ socket: RunnerSocket) {
        self.number = number
        self.socket = socket
    }

    /// A new number for a request.
    func token() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Sends a message that has no answer.
    func send(_ kind: MessageKind, _ message: MessageWriter) { socket.send(kind, instance: number, message) }

    /// Sends a request, and blocks the plugin's thread until the host has answered.
    func exchange(_ kind: MessageKind, _ token: UInt64, _ message: MessageWriter) -> Answer {
        guard message.bytes.count <= FrameHeader.limit else {
            return Answer(status: Int32(CONNECTOR_TOO_LARGE), error: nil, value: [])
        }
        let monitor = Monitor<Answer?>(nil)
        waiting.withLock { $0[token] = monitor }
        send(kind, message)
        return monitor.wait { $0.map { .proceed($0) } ?? .wait(until: nil) }
    }

    /// Hands the host's answer to the thread that waits for it.
    func answer(_ message: inout MessageReader) throws(ConnectorError) {
        let token = try message.integer(UInt64.self)
        let answer = Answer(
            status: try message.integer(),
            error: try ServiceError.read(&message),
            value: try message.data()
        )
        guard let monitor = waiting.withLock({ $0.removeValue(forKey: token) }) else { return }
        monitor.withLock { $0 = answer }
        monitor.signal()
    }

    /// A time of the host, in nanoseconds; nil if it does not say, since it has given the instance up.
    func time(_ kind: MessageKind) -> UInt64? {
        let token = token()
        var message = MessageWriter()
        message.put(token)
        let answer = exchange(kind, token, message)
        guard answer.status == Int32(CONNECTOR_OK) else { return nil }
        var value = MessageReader(answer.value)
        return try? value.integer(UInt64.self)
    }
}
