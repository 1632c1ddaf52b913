// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import AsyncHTTPClient
package import ConnectorBase
package import NIOCore
package import NIOHTTP1
internal import Synchronization

/// Receives a response in parts, and keeps each part of the body until it is asked for.
///
/// At most one part is kept. The connection is not read meanwhile, so the server waits. Bodies of redirects are
/// dropped, and those that are long or may never end are not awaited.
///
/// The HTTP client does not report the end of a response that arrives before the request's body is sent. So this type
/// counts the response's bytes and ends the request's body after the last one: the client's task fails, and
/// ``takeComplete()`` has the response. ``WireCheck`` makes the client report the end of a refusal.
package final class ResponseParts: Sendable {
    /// What to do with bytes of a body.
    private enum Step {
        case deliver(HTTPResponse), keep, drop
        case refuse(any Error)
    }

    /// A part that arrived before it was asked for.
    private struct Kept: Sendable {
        var part: HTTPResponse
        /// Succeeds when the connection may be read again.
        var isTaken: EventLoopPromise<Void>
    }

    private struct State: Sendable {
        /// The response without its body.
        var head = HTTPResponse(status: 0)
        /// Bytes of the body that have not been taken yet; nil if the response does not state its length.
        var rest: UInt64?
        /// Whether the next part is asked for.
        var isAsked = false
        /// Whether the request has a connection.
        var isConnected = false
        /// Whether the response has begun, and is no redirect.
        var hasBegun = false
        var kept: Kept?
        /// Whether a part that was kept is being delivered.
        var isDelivering = false
        /// Reports the end of the exchange, which comes after the kept part.
        var last: (@Sendable () -> Void)?
        var isEnded = false
    }

    private let method: String
    private let body: BodyParts?
    private let deliver: @Sendable (HTTPResponse) -> Void
    private let state = Mutex(State())

    /// Creates the receiver of one exchange.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - body: The body of the request, if it comes in parts.
    ///   - deliver: Called with each part, one at a time, on any thread: the first is the response without its body.
    package init(method: String, body: BodyParts?, deliver: @escaping @Sendable (HTTPResponse) -> Void) {
        self.method = method
        self.body = body
        self.deliver = deliver
    }

    /// Asks for the next part of the body. Any thread may call this.
    package func resume() {
        let kept = state.withLock { state -> Kept? in
            guard !state.isEnded else { return nil }
            state.isAsked = state.kept == nil
            if state.kept != nil { state.isDelivering = true }
            defer { state.kept = nil }
            return state.kept
        }
        guard let kept else { return }
        // Deliver it before the connection is read again, so that parts stay in order.
        deliver(kept.part)
        let isLast = state.withLock { state in
            state.isDelivering = false
            return state.last != nil
        }
        kept.isTaken.succeed()
        if isLast { end() }
    }

    /// Reports the end of the exchange, once: at once, or after the part that is kept, which may have arrived just before the
    /// connection broke.
    func finish(_ last: @escaping @Sendable () -> Void) {
        let isWaiting = state.withLock { state in
            guard !state.isEnded, state.kept != nil || state.isDelivering else { return false }
            state.last = last
            return true
        }
        guard !isWaiting else { return }
        end()
        last()
    }

    /// Forgets the connection of the request before, which led to a redirect or has closed.
    func begin() {
        state.withLock { $0.isConnected = false }
    }

    /// Whether the request has a connection to its server: through a proxy, a tunnel.
    var isConnected: Bool { state.withLock(\.isConnected) }

    /// Whether the next part is asked for; nil before the response has begun.
    var isAsked: Bool? { state.withLock { $0.hasBegun ? $0.isAsked : nil } }

    /// The response without its body, once the whole body has been taken; nil before that, and on every later call.
    func takeComplete() -> HTTPResponse? {
        state.withLock { state in
            guard state.rest == 0 else { return nil }
            state.rest = nil
            return state.head
        }
    }

    /// Counts bytes that were taken, and ends the request's body with the last one.
    private func count(_ taken: Int) {
        let isComplete = state.withLock { state in
            state.rest = state.rest.map { $0 - min($0, UInt64(taken)) }
            return state.rest == 0
        }
        if isComplete { body?.end() }
    }

    /// Drops the kept part and refuses further ones. Idempotent; any thread may call this.
    package func end() {
        let (kept, last) = state.withLock { state in
            state.isEnded = true
            defer { (state.kept, state.last) = (nil, nil) }
            return (state.kept, state.last)
        }
        kept?.isTaken.fail(HTTPClientError.cancelled)
        last?()
    }
}

extension ResponseParts: HTTPClientResponseDelegate {
    package func didSendRequestHead(task: HTTPClient.Task<HTTPResponse>, _ head: HTTPRequestHead) {
        state.withLock { $0.isConnected = true }
    }

    package func didReceiveHead(
        task: HTTPClient.Task<HTTPResponse>,
        _ head: HTTPResponseHead
    ) -> EventLoopFuture<Void> {
        let reply = HTTPResponse(head)
        let hasBody = reply.hasBody(method)
        let isUnneeded = hasBody && reply.isRedirectWithUnneededBody
        let mustDeliver = state.withLock { state in
            state.head = reply
            state.hasBegun = reply.redirect == nil
            state.rest = hasBody && !isUnneeded ? reply.contentLength : 0
            return !state.isEnded && reply.redirect == nil
        }
        if mustDeliver { deliver(reply) }
        count(0)
        guard isUnneeded else { return task.eventLoop.makeSucceededVoidFuture() }
        return task.eventLoop.makeFailedFuture(ResponseCollector.UnneededBody(redirect: reply))
    }

    package func didReceiveBodyPart(
        task: HTTPClient.Task<HTTPResponse>,
        _ buffer: ByteBuffer
    ) -> EventLoopFuture<Void> {
        let bytes = Array(buffer.readableBytesView)
        guard !bytes.isEmpty else { return task.eventLoop.makeSucceededVoidFuture() }
        let isTaken = task.eventLoop.makePromise(of: Void.self)
        isTaken.futureResult.whenSuccess { self.count(bytes.count) }
        let step = state.withLock { state -> Step in
            if state.isEnded { return .refuse(HTTPClientError.cancelled) }
            if state.head.redirect != nil { return .drop }
            let part = HTTPResponse(status: state.head.status, body: bytes)
            guard state.isAsked else {
                state.kept = Kept(part: part, isTaken: isTaken)
                return .keep
            }
            state.isAsked = false
            return .deliver(part)
        }
        // Outside the lock: the client may hand over the next part at once.
        switch step {
        case .deliver(let part):
            deliver(part)
            isTaken.succeed()
        case .drop: isTaken.succeed()
        case .refuse(let error): isTaken.fail(error)
        case .keep: break
        }
        return isTaken.futureResult
    }

    package func didFinishRequest(task: HTTPClient.Task<HTTPResponse>) -> HTTPResponse { state.withLock(\.head) }
}
