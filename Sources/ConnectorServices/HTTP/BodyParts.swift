// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import CConnector
package import ConnectorInvocation
internal import NIOCore
internal import Synchronization

/// A request body that comes in parts, of which one at a time is on its way.
package final class BodyParts: Sendable {
    private struct Part: Sendable {
        var bytes: [UInt8]
        var isLast: Bool
        /// Whether it is the last part, or has the last bytes of a known length.
        var completesBody: Bool
    }

    private struct State: Sendable {
        /// Set once the connection is ready for the body.
        var connection: Connection?
        /// A part written before the connection was ready.
        var first: Part?
        /// Whether a part is written but not yet sent.
        var isSending = false
        /// The bytes of that part, as counted.
        var heldCount = 0
        var hasLast = false
        /// Bytes written.
        var count: Int64 = 0
        /// Whether all of the body was sent.
        var isSent = false
        var isEnded = false
    }

    /// The writer that takes the body, and the promise that completes it.
    private struct Connection: Sendable {
        var writer: HTTPClient.Body.StreamWriter
        var isComplete: EventLoopPromise<Void>
    }

    /// The length of the whole body in bytes; nil if it is unknown.
    package let length: Int64?
    private let sending: (@Sendable (_ part: [UInt8], _ isLast: Bool) -> Void)?
    private let held: HeldBytes?
    private let progress: @Sendable (_ isLast: Bool) -> Void
    private let state: Mutex<State>

    /// Creates the body of one request.
    ///
    /// - Parameters:
    ///   - sending: Called before each part is sent, for one part at a time; nil to call nothing.
    ///   - held: Counts the bytes of the part on its way; nil to count nothing.
    ///   - progress: Called on any thread after each part has been sent, and after one but the last has been given up.
    package init(
        length: Int64?,
        sending: (@Sendable (_ part: [UInt8], _ isLast: Bool) -> Void)?,
        held: HeldBytes? = nil,
        progress: @escaping @Sendable (_ isLast: Bool) -> Void
    ) {
        self.length = length
        self.sending = sending
        self.held = held
        self.progress = progress
        state = Mutex(State(isSent: length == 0))
    }

    /// Sends a part, or keeps it until the connection is ready. Any thread may call this.
    ///
    /// - Throws: `misuse` while another part is on its way, and after the last; `invalid` beyond the length; what `HeldBytes` throws.
    package func write(_ bytes: [UInt8], isLast: Bool) throws(ServiceFailure) {
        let (part, connection) = try state.withLock { state throws(ServiceFailure) -> (Part, Connection?) in
            if state.isEnded { throw .ended }
            if state.hasLast { throw .misuse("a part of the body comes after the last one") }
            if state.isSending { throw .misuse("a part of the body comes before the host has room for it") }
            if let length, Int64(bytes.count) > length - state.count {
                throw .invalid("the body is longer than the declared \(length) bytes")
            }
            try held?.take(bytes.count)
            (state.isSending, state.heldCount) = (true, bytes.count)
            state.hasLast = isLast
            state.count &+= Int64(bytes.count)
            let part = Part(bytes: bytes, isLast: isLast, completesBody: isLast || state.count == length)
            // Report the part before it is sent: the response to it may come at once.
            sending?(bytes, isLast)
            if state.connection == nil { state.first = part }
            return (part, state.connection)
        }
        if let connection { send(part, connection) }
    }

    /// Whether parts of the body are still to be sent.
    package var isOpen: Bool { state.withLock { !$0.isEnded && !$0.isSent } }

    /// Whether the server waits for a part that has not been written.
    var isIdle: Bool {
        state.withLock { $0.connection != nil && !$0.isEnded && !$0.isSent && !$0.isSending && !$0.hasLast }
    }

    /// Refuses further parts and gives up the one on its way, so that a request with an unsent body fails. Idempotent;
    /// any thread may call this.
    package func end() {
        let (connection, mustAnnounce) = state.withLock { state in
            giveBack(&state)
            defer { (state.connection, state.isSending, state.isEnded) = (nil, false, true) }
            return (state.connection, state.isSending && !state.hasLast)
        }
        connection?.isComplete.fail(HTTPClientError.cancelled)
        // The writer waits for room; its next part tells it that the body has ended.
        if mustAnnounce { progress(false) }
    }

    /// The body in the HTTP client's form.
    ///
    /// - Parameter loop: The event loop on which the body's end is announced.
    func body(on loop: any EventLoop) -> HTTPClient.Body {
        .stream(contentLength: length) { writer in
            let connection = Connection(writer: writer, isComplete: loop.makePromise(of: Void.self))
            let (first, isEnded) = self.state.withLock { state -> (Part?, Bool) in
                if !state.isEnded { state.connection = connection }
                defer { state.first = nil }
                return (state.first, state.isEnded)
            }
            if isEnded {
                connection.isComplete.fail(HTTPClientError.cancelled)
            } else if let first {
                self.send(first, connection)
            }
            return connection.isComplete.futureResult
        }
    }

    private func send(_ part: Part, _ connection: Connection) {
        // An empty chunk would end the body.
        guard !part.bytes.isEmpty else { return hasSent(part, connection) }
        connection.writer.write(.byteBuffer(ByteBuffer(bytes: part.bytes))).whenComplete { result in
            switch result {
            case .failure(let error): connection.isComplete.fail(error)
            case .success: self.hasSent(part, connection)
            }
        }
    }

    /// Counts the bytes of the part out that is no longer on its way.
    private func giveBack(_ state: inout State) {
        held?.giveBack(state.heldCount)
        state.heldCount = 0
    }

    private func hasSent(_ part: Part, _ connection: Connection) {
        let isEnded = state.withLock { state in
            giveBack(&state)
            state.isSending = false
            if part.completesBody { state.isSent = true }
            return state.isEnded
        }
        if part.completesBody { connection.isComplete.succeed() }
        if !isEnded { progress(part.isLast) }
    }
}

extension ServiceFailure {
    /// The request has ended.
    package static var ended: Self {
        Self(status: Int32(CONNECTOR_UNKNOWN_OPERATION), message: "the request has ended")
    }
}
