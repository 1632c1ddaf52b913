// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import AsyncHTTPClient
package import ConnectorBase
package import ConnectorInvocation
internal import ConnectorPlatform
package import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import Synchronization

/// The HTTP clients of all gates: one connection pool per route, created by the first request that uses the route.
package final class HTTPTransport: Sendable {
    /// A route, whose requests share one client.
    private struct Route: Hashable {
        /// The proxy; nil for direct connections.
        var proxy: HTTPProxy?
        /// Whether connections use TLS, which needs the trust roots.
        var isSecure: Bool
        /// The number of the event loop of its requests and connections.
        var loop: Int
    }

    /// The clients' state.
    private enum State {
        case running([Route: HTTPClient])
        case shutDown
    }

    /// The options of all requests.
    package let options: HTTPOptions
    private let state = Mutex(State.running([:]))

    /// Creates the transport without a connection.
    package init(options: HTTPOptions) {
        self.options = options
    }

    deinit {
        // A client that is dropped with open connections traps, and a host that was never closed must not trap.
        for client in takeClients() { Task { try? await client.shutdown() } }
    }

    /// Closes every connection.
    package func stop() async {
        // Requests were cancelled when their gates closed. Any other request fails with an error from its task.
        let clients = takeClients()
        guard !clients.isEmpty else { return }
        // A client awaits the connections that it is making, and those of HTTP/2 take as long as the server likes.
        let end = Self.loops[0].makePromise(of: Void.self)
        let limit = Self.loops[0].scheduleTask(in: TimeAmount(upToADay: options.connectTimeout)) { end.succeed() }
        Task {
            await withTaskGroup(of: Void.self) { group in
                for client in clients { group.addTask { try? await client.shutdown() } }
            }
            end.succeed()
        }
        try? await end.futureResult.get()
        limit.cancel()
    }

    private func takeClients() -> [HTTPClient] {
        state.withLock { state in
            defer { state = .shutDown }
            if case .running(let clients) = state { return Array(clients.values) }
            return []
        }
    }

    /// The event loops of the clients. Each client has one: if a request were on another loop than its connection, AsyncHTTPClient
    /// would end the process when a server answers before the body has ended, and closes. It releases the connection once the
    /// request's loop says that the body is sent.
    private static let loops: [any EventLoop] = Array(HTTPClient.defaultEventLoopGroup.makeIterator().prefix(4))

    /// Makes the event loops if they are not there. NIO would end the process if the system did not create their threads.
    ///
    /// - Throws: `unavailable` if it does not.
    package static func prepare() throws(ServiceFailure) {
        guard !HostThread.prepareEventLoops(NIOSingletons.groupLoopCountSuggestion, { _ = loops }) else { return }
        throw .unavailable("the system cannot create the threads of HTTP: \(HostThread.remedy)")
    }

    /// The event loop of all requests to an origin, and of its connections.
    package static func loop(for url: URLParts) -> any EventLoop { loops[loopNumber(for: url)] }

    private static func loopNumber(for url: URLParts) -> Int {
        var hasher = Hasher()
        hasher.combine(url.scheme)
        hasher.combine(url.host)
        hasher.combine(url.port)
        return Int(UInt(bitPattern: hasher.finalize()) % UInt(loops.count))
    }

    /// Sends one request and reads its response, without following redirects.
    ///
    /// Call it on the request's ``loop(for:)``: from any other thread, each step costs a wake-up.
    ///
    /// - Parameters:
    ///   - body: The body, if it comes in parts.
    ///   - parts: Receives the body of the response; nil collects it.
    ///   - responses: Counts the bytes that are collected.
    /// - Returns: The task of the response, and the request's proxy.
    /// - Throws: The reason why the request cannot be sent; `tooLarge` for a head beyond ``RequestTemplate/headLimit``.
    package func send(
        _ request: OutgoingRequest,
        _ body: BodyParts?,
        _ parts: ResponseParts?,
        _ responses: HeldBytes
    ) throws(ServiceFailure) -> (response: HTTPClient.Task<HTTPResponse>, proxy: HTTPProxy?) {
        guard request.headSize <= RequestTemplate.headLimit else {
            throw .tooLarge(
                "the request's URL and headers have more than \(RequestTemplate.headLimit) bytes, with their secrets"
            )
        }
        let proxy = try options.proxies.proxy(for: request.url)
        let loop = Self.loopNumber(for: request.url)
        let client = try client(for: Route(proxy: proxy, isSecure: request.url.scheme == "https", loop: loop))
        do {
            let url = request.url.description
            let outgoing = try HTTPClient.Request(
                url: url,
                method: HTTPMethod(rawValue: request.method),
                headers: HTTPHeaders(request.headers.map { ($0.name, $0.value) }),
                body: body?.body(on: Self.loops[loop])
                    ?? (request.body.isEmpty ? nil : .byteBuffer(ByteBuffer(bytes: request.body)))
            )
            // The client reads the URL with a parser of its own, and sends what that makes of it.
            guard String(describing: outgoing.url) == url, HTTPTarget.isPathText(of: request.url) else {
                throw ServiceFailure.invalid("the HTTP client would ask for another URL than this one")
            }
            // No timeout here: the gate's timer, on the host's clock, cancels the task.
            if let parts { return (client.execute(request: outgoing, delegate: parts), proxy) }
            let limit = options.responseLimit
            let collector = ResponseCollector(method: request.method, limit: limit, held: responses)
            return (client.execute(request: outgoing, delegate: collector), proxy)
        } catch {
            throw ServiceFailure(error, url: request.url, proxy: proxy, limit: options.responseLimit)
        }
    }

    private func client(for route: Route) throws(ServiceFailure) -> HTTPClient {
        try state.withLock { state throws(ServiceFailure) in
            guard case .running(var clients) = state else { throw ServiceFailure.notOpen }
            if let client = clients[route] { return client }
            // The runtime of Swift 6.3 crashes if the first connections of two event loops instantiate this type
            // concurrently.
            _ = ByteToMessageHandler(HTTPResponseDecoder())
            let client = HTTPClient(
                eventLoopGroupProvider: .shared(Self.loops[route.loop]),
                configuration: try configuration(for: route)
            )
            clients[route] = client
            state = .running(clients)
            return client
        }
    }

    private func configuration(for route: Route) throws(ServiceFailure) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(upToADay: options.connectTimeout)),
            decompression: .disabled
        )
        // A refused connection is an answer; retries belong to the plugin, within its own deadline.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = options.connectionsPerHost
        configuration.connectionPool.idleTimeout = TimeAmount(upToADay: options.idleTimeout)
        // The client's spans would show the URL with its secrets, and its headers would send the trace to the vendor.
        configuration.tracing.tracer = nil
        configuration.httpVersion = options.allowsHTTP2 ? .automatic : .http1Only
        WireCheck.install(in: &configuration)
        configuration.proxy = route.proxy.map { proxy in
            .server(
                host: proxy.host,
                port: proxy.port,
                authorization: proxy.credentials.map { .basic(credentials: Base64.encode(Array($0.reveal().utf8))) }
            )
        }
        if route.isSecure {
            var security = TLSConfiguration.makeClientConfiguration()
            // RFC 8996: older ones protect nothing.
            security.minimumTLSVersion = .tlsv12
            if !options.additionalTrustRoots.isEmpty {
                security.additionalTrustRoots = [.certificates(try certificates())]
            }
            configuration.tlsConfiguration = security
        }
        return configuration
    }

    /// The certificates of additional trusted authorities.
    private func certificates() throws(ServiceFailure) -> [NIOSSLCertificate] {
        var certificates: [NIOSSLCertificate] = []
        for file in options.additionalTrustRoots {
            do {
                certificates += try NIOSSLCertificate.fromPEMFile(file)
            } catch {
                throw .invalid("no certificates can be read from \(file), which names the authorities to trust")
            }
        }
        return certificates
    }
}

extension TimeAmount {
    /// Clamps a duration to between 0 and a day, so that it can be added to any time.
    fileprivate init(upToADay duration: Duration) {
        self = .nanoseconds(Int64(clamping: min(duration, .seconds(86_400)).nanoseconds))
    }
}
