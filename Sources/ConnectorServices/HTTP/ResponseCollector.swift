// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import AsyncHTTPClient
package import ConnectorBase
internal import ConnectorInvocation
package import NIOCore
package import NIOHTTP1
internal import Synchronization

/// Collects a response whole, or only its head if its body is not needed.
package final class ResponseCollector: Sendable {
    /// A redirect whose body is not needed, as the error that ends the request.
    struct UnneededBody: Error {
        /// The response without its body.
        var redirect: HTTPResponse
    }

    /// What has arrived.
    private struct State: Sendable {
        /// Whether the request has a connection.
        var isConnected = false
        var head = HTTPResponse(status: 0)
        var body = ByteBuffer()
    }

    private let method: String
    private let limit: Int
    private let keepsRedirects: Bool
    private let held: HeldBytes
    private let state = Mutex(State())

    /// Creates the collector of one response.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - limit: The most bytes of the response's body.
    ///   - keepsRedirects: Whether the body of a redirect may be needed, however long it is.
    ///   - held: Counts its bytes until it is complete, or this object is gone.
    package init(method: String, limit: Int, keepsRedirects: Bool = false, held: HeldBytes) {
        self.method = method
        self.limit = limit
        self.keepsRedirects = keepsRedirects
        self.held = held
    }

    deinit {
        held.giveBack(state.withLock { $0.body.readableBytes })
    }

    /// Whether the request has a connection to its server: through a proxy, a tunnel.
    var isConnected: Bool { state.withLock(\.isConnected) }

    /// Whether the response has begun.
    var hasBegun: Bool { state.withLock { $0.head.status != 0 } }

    /// Ends the request with an error.
    private func failed(_ error: any Error, _ task: HTTPClient.Task<HTTPResponse>) -> EventLoopFuture<Void> {
        task.eventLoop.makeFailedFuture(error)
    }
}

extension ResponseCollector: HTTPClientResponseDelegate {
    package func didSendRequestHead(task: HTTPClient.Task<HTTPResponse>, _ head: HTTPRequestHead) {
        state.withLock { $0.isConnected = true }
    }

    package func didReceiveHead(
        task: HTTPClient.Task<HTTPResponse>,
        _ head: HTTPResponseHead
    ) -> EventLoopFuture<Void> {
        let reply = HTTPResponse(head)
        state.withLock { $0.head = reply }
        guard reply.hasBody(method) else { return task.eventLoop.makeSucceededVoidFuture() }
        if reply.isRedirectWithUnneededBody, !keepsRedirects { return failed(UnneededBody(redirect: reply), task) }
        guard reply.contentLength ?? 0 <= UInt64(limit) else {
            return failed(ResponseAccumulator.ResponseTooBigError(maxBodySize: limit), task)
        }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    package func didReceiveBodyPart(
        task: HTTPClient.Task<HTTPResponse>,
        _ buffer: ByteBuffer
    ) -> EventLoopFuture<Void> {
        let refusal = state.withLock { state -> (any Error)? in
            guard buffer.readableBytes <= limit - state.body.readableBytes else {
                return ResponseAccumulator.ResponseTooBigError(maxBodySize: limit)
            }
            do throws(ServiceFailure) {
                try held.take(buffer.readableBytes)
            } catch {
                return error
            }
            if state.body.readableBytes == 0 {
                state.body = buffer
            } else {
                state.body.writeImmutableBuffer(buffer)
            }
            return nil
        }
        if let refusal { return failed(refusal, task) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    package func didFinishRequest(task: HTTPClient.Task<HTTPResponse>) -> HTTPResponse {
        state.withLock { state in
            var reply = state.head
            reply.body = Array(state.body.readableBytesView)
            held.giveBack(state.body.readableBytes)
            state.body = ByteBuffer()
            return reply
        }
    }
}

extension HTTPResponse {
    /// Converts the head of a response, without the blanks that NIO leaves at the end of a field's value (RFC 9112, section 5.1).
    init(_ head: HTTPResponseHead) {
        self.init(
            status: Int(head.status.code),
            headers: HTTPFields(head.headers.map { HTTPField(name: $0.name, value: $0.value.withoutOuterBlanks) })
        )
    }

    /// The target of a redirect; nil for any other response.
    package var redirect: String? { [301, 302, 303, 307, 308].contains(status) ? headers["Location"] : nil }

    /// The length of the body that the response states; nil if it states none.
    var contentLength: UInt64? { headers["Content-Length"].flatMap { UInt64($0) } }

    /// Whether a body may follow, as its length says. None follows in response to HEAD, nor with 204 and 304, whatever length they state
    /// (RFC 9112, section 6.3).
    ///
    /// - Parameter method: The method of the request.
    func hasBody(_ method: String) -> Bool { method != "HEAD" && ![204, 304].contains(status) }

    /// Whether it is a redirect whose body is long or endless. Such a body is not read: the connection is closed. A short one is read,
    /// so that the connection can be reused.
    var isRedirectWithUnneededBody: Bool { redirect != nil && contentLength ?? .max > 64 << 10 }
}

extension String {
    /// The text without spaces and tabs at either end.
    fileprivate var withoutOuterBlanks: String {
        guard utf8.first?.isBlank == true || utf8.last?.isBlank == true else { return self }
        let text = utf8.drop(while: \.isBlank)
        guard let end = text.lastIndex(where: { !$0.isBlank }) else { return "" }
        return String(Substring(text[...end]))
    }
}
