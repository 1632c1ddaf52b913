// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
package import ConnectorBase
package import ConnectorInvocation
package import ConnectorPlatform
internal import NIOCore
internal import Synchronization

/// A request from its first connection to its last redirect.
///
/// Runs in steps on one event loop of the HTTP client, with one wake-up to start and one to deliver the outcome to the
/// plugin. A Swift task would cost more than all these steps.
package final class HTTPExchange: Sendable {
    /// The outcome of an exchange.
    package struct Outcome: Sendable {
        /// The response, or the failure.
        package var result: Result<HTTPResponse, ServiceFailure>
        /// Whether the response comes from another URL than the request's.
        package var isRedirected = false
        /// The URLs of the requests that may have changed something: those with an unsafe method, and with no error as their answer.
        package var changed: [URLParts] = []
        /// Bytes of bodies sent.
        package var bytesSent: UInt64 = 0
        /// Bytes of bodies received.
        package var bytesReceived: UInt64 = 0
    }

    /// The state between steps.
    private struct State: Sendable {
        /// The current request; a redirect replaces it.
        var request: OutgoingRequest
        /// The ticket of the wait for the host name; nil before the first.
        var ticket: UInt64?
        /// The task that receives the response.
        var task: HTTPClient.Task<HTTPResponse>?
        /// Whether the exchange was cancelled.
        var isCancelled = false
        /// The number of redirects followed.
        var redirects = 0
        /// The host that has redirected to the current request, for messages; nil for the first.
        var redirectedBy: String?
        /// The URLs of the requests that may have changed something.
        var changed: [URLParts] = []
        /// How often a request was sent again after its connection had closed.
        var repeats = 0
        /// The name that is being looked up, for messages.
        var awaitedName: String?
        /// The proxy of the current request; nil before it is sent, and for a direct connection.
        var proxy: HTTPProxy?
        /// Collects the response, unless it comes in parts; nil before the request is sent.
        var collector: ResponseCollector?
        /// Bytes of bodies sent.
        var bytesSent: UInt64 = 0
        /// Bytes of bodies received.
        var bytesReceived: UInt64 = 0
    }

    /// The first host, for messages.
    let authority: String
    private let egress: EgressList
    private let transport: HTTPTransport
    private let connections: GateConnections
    private let network: GateNetwork
    /// The body of the request, if it comes in parts.
    private let body: BodyParts?
    /// Receives the response in parts; nil if it comes whole.
    private let parts: ResponseParts?
    private let responses: HeldBytes
    private let workers: WorkerThreads
    private let state: Mutex<State>

    /// Creates the exchange without sending anything.
    ///
    /// - Parameters:
    ///   - request: The first request.
    ///   - egress: The hosts that it may reach.
    ///   - transport: The transport that sends it.
    ///   - connections: The connections of the instance.
    ///   - network: What the requests of the gate share.
    ///   - body: The body of the request, if it comes in parts.
    ///   - parts: Receives the response in parts; nil if it comes whole.
    ///   - responses: Counts the bytes of a response that comes whole, until it is complete.
    ///   - workers: The threads that decompress responses, which would block the event loop for too long.
    package init(
        _ request: OutgoingRequest,
        egress: EgressList,
        transport: HTTPTransport,
        connections: GateConnections,
        network: GateNetwork,
        body: BodyParts?,
        parts: ResponseParts?,
        responses: HeldBytes,
        workers: WorkerThreads
    ) {
        authority = request.namedURL.authority
        self.egress = egress
        self.transport = transport
        self.connections = connections
        self.network = network
        self.body = body
        self.parts = parts
        self.responses = responses
        self.workers = workers
        state = Mutex(State(request: request))
    }

    /// Sends the request and follows allowed redirects.
    ///
    /// - Parameter end: Called once with the outcome, even after ``cancel()``, on a thread that it must not block.
    package func start(_ end: @escaping @Sendable (Outcome) -> Void) {
        network.loop.execute { self.send(end) }
    }

    /// Cancels the request; idempotent.
    package func cancel() {
        let (task, ticket) = state.withLock { state in
            state.isCancelled = true
            return (state.task, state.ticket)
        }
        // End the body before the task, which would drop the promise of a part that waits for room.
        body?.end()
        task?.cancel()
        if let ticket { network.names.giveUp(ticket, .cancelled) }
        parts?.end()
    }

    /// Whether parts of the request's body are still to be sent.
    var isBodyOpen: Bool { body?.isOpen ?? false }

    /// Sends the next part of the body.
    func write(_ part: [UInt8], isLast: Bool) throws(ServiceFailure) {
        guard let body else { throw .misuse("the body of this request does not come in parts") }
        try body.write(part, isLast: isLast)
        state.withLock { $0.bytesSent += UInt64(part.count) }
    }

    /// Lets the next part of the response come.
    package func resume() {
        parts?.resume()
    }

    /// Why the exchange has not ended by its deadline.
    package var lateness: ServiceFailure {
        let (name, collector, request, proxy) = state.withLock { ($0.awaitedName, $0.collector, $0.request, $0.proxy) }
        let url = request.namedURL
        let authority = url.authority
        if let name { return .lateName(of: name) }
        if let collector, !isConnected(collector) {
            guard let proxy else { return .noConnection(to: url) }
            return .noTunnel(to: url, proxy, "in time")
        }
        return switch parts?.isAsked {
        case false?: .timedOut("the plugin did not ask for the rest of the response in time")
        case true?: .incompleteAnswer(from: authority)
        case nil where body?.isIdle == true: .timedOut("the plugin did not send the rest of the request's body in time")
        case nil where collector?.hasBegun == true: .incompleteAnswer(from: authority)
        case nil: .noAnswer(from: authority)
        }
    }

    /// Whether the current request has a connection to its server.
    private func isConnected(_ collector: ResponseCollector) -> Bool { parts?.isConnected ?? collector.isConnected }

    private func send(_ end: @escaping @Sendable (Outcome) -> Void) {
        let (request, redirectedBy, isCancelled) = state.withLock { ($0.request, $0.redirectedBy, $0.isCancelled) }
        do throws(ServiceFailure) {
            // A request that was cancelled before it is sent must not reach the server.
            guard !isCancelled else { throw .cancelled("the request was cancelled") }
            // Blame the server, not the configuration: the URL comes from its response.
            if let redirectedBy, !egress.allows(request.url) {
                let authority = request.namedURL.authority
                throw .violation(
                    "the server \(redirectedBy) redirects to \(authority), which this connector may not reach; "
                        + egress.remedy("if it should", adding: [redirectedBy, authority])
                )
            }
            try egress.check(request.url, named: request.namedURL)
            let proxy = try transport.options.proxies.proxy(for: request.url)
            let host = proxy?.host ?? request.url.host
            // A connection that is open needs no name.
            let address = network.names.address(of: host)
            if network.names.isFound(host) || connections.hasFree(for: request.url, at: address) {
                return transmit(request, through: proxy, end)
            }
            let ticket = ServiceIdentifier.next()
            state.withLock { state in
                state.ticket = ticket
                state.awaitedName = ServiceFailure.nameToFind(request.namedURL, proxy)
            }
            network.names.lookUp(host, ticket: ticket) { outcome in
                self.state.withLock { $0.awaitedName = nil }
                guard let failure = self.failure(for: outcome, request, proxy) else {
                    return self.transmit(request, through: proxy, end)
                }
                self.finish(.failure(failure.attributed(to: proxy)), end)
            }
            // Who cancelled it meanwhile had nothing to give up.
            if state.withLock(\.isCancelled) { network.names.giveUp(ticket, .cancelled) }
        } catch {
            finish(.failure(error), end)
        }
    }

    /// Why a request is not sent; nil if its host name was found.
    private func failure(
        for outcome: HostNames.Outcome,
        _ request: OutgoingRequest,
        _ proxy: HTTPProxy?
    ) -> ServiceFailure? {
        let url = request.namedURL
        let place = ServiceFailure.peer(url, proxy)
        let late = "no connection to \(place) within the time for connecting"
        switch outcome {
        case .found: return nil
        case .absent: return .hostNotFound(ServiceFailure.nameToFind(url, proxy), reason: nil)
        case .failed(let reason): return .hostNotFound(ServiceFailure.nameToFind(url, proxy), reason: reason)
        case .late: return .timedOut("\(late): its name was not found; \(ServiceFailure.dnsRemedy)")
        case .crowded:
            return .timedOut(
                "\(late): other names of this connector were still being looked up; \(ServiceFailure.dnsRemedy)"
            )
        case .cancelled: return .cancelled("the request was cancelled")
        }
    }

    /// Sends a request to a host whose name was found, or is not needed.
    private func transmit(
        _ request: OutgoingRequest,
        through proxy: HTTPProxy?,
        _ end: @escaping @Sendable (Outcome) -> Void
    ) {
        do throws(ServiceFailure) {
            // It may have been cancelled while it waited for the name.
            guard !state.withLock(\.isCancelled) else { throw .cancelled("the request was cancelled") }
            let limit = transport.options.responseLimit
            let collector = ResponseCollector(
                method: request.method,
                limit: limit,
                keepsRedirects: request.keepsOrigin,
                held: responses
            )
            parts?.begin()
            let host = proxy?.host ?? request.url.host
            let address = network.names.address(of: host)
            let response = try transport.send(
                request,
                request.isBodyInParts ? body : nil,
                parts,
                collector,
                over: connections,
                through: proxy,
                at: address,
                on: network.loop
            )
            let isCancelled = state.withLock { state in
                state.task = response
                state.collector = collector
                state.proxy = proxy
                state.bytesSent += UInt64(request.body.count)
                return state.isCancelled
            }
            if isCancelled { response.cancel() }
            response.futureResult.whenComplete { result in
                self.connections.end(request.url, isCancelled: result.isCancelled)
                if case .failure(let error) = result {
                    let wasSent = proxy != nil || self.isConnected(collector)
                    if self.mayRepeat(request, after: error, wasSent: wasSent) { return self.send(end) }
                    // Without another look-up, which would begin with the same address.
                    if self.mayGoOn(request, after: error, host: host, address) {
                        return self.transmit(request, through: proxy, end)
                    }
                }
                let reply = result.flatMapError { error in
                    guard let body = error as? ResponseCollector.UnneededBody else {
                        let isConnected = self.isConnected(collector)
                        return .failure(
                            ServiceFailure(
                                error,
                                url: request.namedURL,
                                proxy: proxy,
                                isConnected: isConnected,
                                limit: limit
                            )
                        )
                    }
                    return .success(body.redirect)
                }
                self.receive(reply, end)
            }
        } catch {
            finish(.failure(error), end)
        }
    }

    /// Whether to send a request again that the server has not begun to answer.
    ///
    /// One that was given a connection which had just closed was not sent. One that the server may have received is repeated as long as the
    /// server has closed an idle connection, and every other one may be closed, too, if the request may be received more than once: RFC
    /// 9110, section 9.2.2. The answer must be the same, too: if the server performed a DELETE, or a PUT on a condition, the repetition
    /// would be told that there is nothing to delete, or that the condition no longer holds.
    private func mayRepeat(_ request: OutgoingRequest, after error: any Error, wasSent: Bool) -> Bool {
        let isConditional = ["If-Match", "If-None-Match", "If-Unmodified-Since"].contains { request.headers[$0] != nil }
        let isUnsent = !wasSent && (error as? ChannelError) == .ioOnClosedChannel
        let isStale = error is WireCheck.StaleConnection
        guard isUnsent || isStale && (request.isSafe || request.method == "PUT" && !isConditional),
            !request.isBodyInParts
        else { return false }
        let limit = transport.options.connectionsPerHost
        return state.withLock { state in
            defer { state.repeats += 1 }
            return state.repeats < limit && !state.isCancelled
        }
    }

    /// Whether to try another address of a host that was slow to find, and did not take the connection.
    private func mayGoOn(_ request: OutgoingRequest, after error: any Error, host: String, _ address: String?) -> Bool {
        if error is WireCheck.StaleConnection { return false }
        let isUnconnected = ServiceFailure.isUnconnected(error)
        // Without an address, every failure may come from a look-up that the client has made.
        let isBad = address == nil || isUnconnected || (error as? IOError).map(ServiceFailure.isOfConnecting) == true
        guard isBad, network.names.forget(host, at: address) else { return false }
        // An unreachable network may also have broken a connection that the request was sent over.
        return isUnconnected && !request.isBodyInParts && !state.withLock(\.isCancelled)
    }

    /// Receives a response, or follows its redirect.
    private func receive(
        _ result: Result<HTTPResponse, ServiceFailure>,
        _ end: @escaping @Sendable (Outcome) -> Void
    ) {
        do throws(ServiceFailure) {
            // A response can be complete although the request failed: the server did not need its whole body.
            let reply = if let reply = parts?.takeComplete() { reply } else { try result.get() }
            state.withLock { state in
                state.bytesReceived += UInt64(reply.body.count)
                if !state.request.isSafe, reply.status < 400 { state.changed.append(state.request.url) }
            }
            guard let location = reply.redirect else { return take(reply, end) }
            // In parts, the head of a redirect has not been handed over.
            if parts == nil, state.withLock({ $0.request.isAnswered(byRedirectTo: location) }) {
                return take(reply, end)
            }
            let limit = transport.options.redirectLimit
            try state.withLock { state throws(ServiceFailure) in
                guard state.redirects < limit else {
                    throw .violation("the server \(authority) redirects more than \(limit) times")
                }
                state.redirects += 1
                state.redirectedBy = state.request.namedURL.authority
                state.request = try state.request.redirected(status: reply.status, to: location)
            }
            // The server does not need the rest of the body.
            body?.end()
            send(end)
        } catch {
            finish(.failure(error), end)
        }
    }

    private func take(_ reply: HTTPResponse, _ end: @escaping @Sendable (Outcome) -> Void) {
        guard parts == nil, reply.isDecodable else { return finish(.success(reply), end) }
        let limit = transport.options.responseLimit
        workers.run {
            self.finish(Result { () throws(ServiceFailure) in try reply.decoded(limit: limit) }, end)
        }
    }

    private func finish(
        _ result: Result<HTTPResponse, ServiceFailure>,
        _ end: @escaping @Sendable (Outcome) -> Void
    ) {
        body?.end()
        let outcome = state.withLock { state in
            state.collector = nil
            return Outcome(
                result: result,
                isRedirected: state.redirects > 0,
                changed: state.changed,
                bytesSent: state.bytesSent,
                bytesReceived: state.bytesReceived
            )
        }
        guard let parts else { return end(outcome) }
        parts.finish { end(outcome) }
    }
}

extension Result<HTTPResponse, any Error> {
    /// Whether the request was cancelled.
    fileprivate var isCancelled: Bool {
        guard case .failure(let error) = self else { return false }
        return (error as? HTTPClientError) == .cancelled
    }
}
