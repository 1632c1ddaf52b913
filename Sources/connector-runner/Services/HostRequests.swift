// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
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
    private typealias Answer = Result<[UInt8], ServiceFailure>

    init(_ number: UInt32, _ socket: RunnerSocket) {
        self.number = number
        self.socket = socket
    }

    /// A new number for a request.
    func token() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Sends a message that has no answer.
    func send(_ kind: MessageKind, _ message: MessageWriter) { socket.send(kind, instance: number, message) }

    /// Tells the host which rule the plugin broke.
    func misbehaved(_ what: String) {
        var message = MessageWriter()
        message.put(what)
        send(.misbehaved, message)
    }

    /// Sends a request that begins with its number, and blocks the plugin's thread until the host has answered.
    @discardableResult
    func exchange(_ kind: MessageKind, _ token: UInt64, _ message: MessageWriter) throws(ServiceFailure) -> [UInt8] {
        guard message.bytes.count <= FrameHeader.limit else {
            throw .tooLarge("the message to the host has more than \(FrameHeader.limit) bytes")
        }
        let monitor = Monitor<Answer?>(nil)
        waiting.withLock { $0[token] = monitor }
        send(kind, message)
        let answer: Answer = monitor.wait { $0.map { .proceed($0) } ?? .wait(until: nil) }
        return try answer.get()
    }

    /// Sends a request under a new number, and blocks the plugin's thread until the host has answered.
    ///
    /// - Parameter put: Writes what follows the number.
    @discardableResult
    func exchange(
        _ kind: MessageKind,
        _ put: (inout MessageWriter) -> Void = { _ in }
    ) throws(ServiceFailure) -> [UInt8] {
        let token = token()
        var message = MessageWriter()
        message.put(token)
        put(&message)
        return try exchange(kind, token, message)
    }

    /// Hands the host's answer to the thread that waits for it.
    func answer(_ message: inout MessageReader) throws(ConnectorError) {
        let token = try message.integer(UInt64.self)
        let status = try message.integer(Int32.self)
        let error = try ServiceError.read(&message)
        let value = try message.data()
        let answer: Answer =
            status == Int32(CONNECTOR_OK) ? .success(value) : .failure(ServiceFailure(status: status, error))
        guard let monitor = waiting.withLock({ $0.removeValue(forKey: token) }) else { return }
        monitor.withLock { $0 = answer }
        monitor.signal()
    }

    /// A time of the host, in nanoseconds; nil if it does not say, since it has given the instance up.
    func time(_ kind: MessageKind) -> UInt64? {
        guard let answer = try? exchange(kind) else { return nil }
        var value = MessageReader(answer)
        return try? value.integer(UInt64.self)
    }
}
