// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import AsyncHTTPClient
package import ConnectorBase
package import ConnectorInvocation
package import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import Synchronization

/// The HTTP clients of all gates: one for each instance of a gate and each route, created by the first request that uses them.
package final class HTTPTransport: Sendable {
    /// A route, whose requests share one client.
    private struct Route: Hashable {
        /// The number of the instance: see ``GateConnections``.
        var instance: UInt64
        /// The proxy; nil for direct connections.
        var proxy: HTTPProxy?
        /// Whether connections use TLS, which needs the trust roots.
        var isSecure: Bool
        /// The host whose name was slow to find, possibly the proxy, with an address of it; nil where the client looks names up.
        var found: FoundHost?
    }

    /// A host that is connected to without looking its name up.
    private struct FoundHost: Hashable {
        var name: String
        var address: String
    }

    /// What the instances of a gate share, with the numbers of those that have asked for it and have not ended.
    private struct SharedNetwork {
        var network: GateNetwork
        var instances: Set<UInt64> = []
    }

    /// How many clients an instance may have before the names of further hosts are looked up again. Each client of TLS reads the
    /// trusted authorities.
    private static let clientLimit = 32

    /// The clients in use.
    private struct Clients {
        var byRoute: [Route: HTTPClient] = [:]
        /// The clients of instances that have ended, until their connections are closed, by instance.
        var ending: [UInt64: Task<Void, Never>] = [:]
    }

    /// The clients' state.
    private enum State {
        case running(Clients)
        case shutDown
    }

    /// The options of all requests.
    package let options: HTTPOptions
    private let state = Mutex(State.running(Clients()))
    /// What the instances of a gate share, by path, as long as it has any, so that a gate's leftovers do not slow others.
    private let networks = Mutex<[String: SharedNetwork]>([:])

    /// Creates the transport without a connection.
    package init(options: HTTPOptions) {
        self.options = options
    }

    deinit {
        // A client that is dropped with open connections traps, and a host that was never closed must not trap.
        for client in takeClients().byRoute.values { Task { try? await client.shutdown() } }
    }

    /// Closes every connection.
    package func stop() async {
        // Requests were cancelled when their gates closed. Any other request fails with an error from its task.
        let clients = takeClients()
        guard !clients.byRoute.isEmpty || !clients.ending.isEmpty else { return }
        // A client awaits the connections that it is making, and those of HTTP/2 take as long as the server likes.
        let loop = HTTPClient.defaultEventLoopGroup.any()
        let end = loop.makePromise(of: Void.self)
        let limit = loop.scheduleTask(in: TimeAmount(upToADay: options.connectTimeout)) { end.succeed() }
        Task {
            await Self.shutDown(Array(clients.byRoute.values))
            for task in clients.ending.values { await task.value }
            end.succeed()
        }
        try? await end.futureResult.get()
        limit.cancel()
    }

    /// Closes the connections of an instance that has ended, without waiting: ``stop()`` does.
    package func end(_ connections: GateConnections) {
        connections.end()
        let number = connections.number
        networks.withLock { networks in
            guard let gate = networks.first(where: { $0.value.instances.contains(number) })?.key else { return }
            networks[gate]?.instances.remove(number)
            if networks[gate]?.instances.isEmpty == true { networks[gate] = nil }
        }
        state.withLock { state in
            guard case .running(var clients) = state else { return }
            let ended = clients.byRoute.filter { $0.key.instance == number }
            guard !ended.isEmpty else { return }
            for route in ended.keys { clients.byRoute[route] = nil }
            let closing = Array(ended.values)
            clients.ending[number] = Task { [weak self] in
                await Self.shutDown(closing)
                self?.hasEnded(number)
            }
            state = .running(clients)
        }
    }

    private func hasEnded(_ number: UInt64) {
        state.withLock { state in
            guard case .running(var clients) = state else { return }
            clients.ending[number] = nil
            state = .running(clients)
        }
    }

    private static func shutDown(_ clients: [HTTPClient]) async {
        await withTaskGroup(of: Void.self) { group in
            for client in clients { group.addTask { try? await client.shutdown() } }
        }
    }

    private func takeClients() -> Clients {
        state.withLock { state in
            defer { state = .shutDown }
            if case .running(let clients) = state { return clients }
            return Clients()
        }
    }

    /// What all instances of a gate share, until the last of them has ended.
    ///
    /// - Parameter connections: The connections of the instance that asks.
    /// - Throws: `unavailable` if the system does not create the threads of the event loops; `notOpen` once the instance has ended.
    package func network(of gate: String, for connections: GateConnections) throws(ServiceFailure) -> GateNetwork {
        try networks.withLock { networks throws(ServiceFailure) -> GateNetwork in
            guard !connections.isEnded else { throw ServiceFailure.notOpen }
            var shared =
                if let shared = networks[gate] {
                    shared
                } else {
                    SharedNetwork(network: GateNetwork(try HTTPLoops.shared.lend(), options: options))
                }
            shared.instances.insert(connections.number)
            networks[gate] = shared
            return shared.network
        }
    }

    /// Sends one request and reads its response, without following redirects.
    ///
    /// Call it on the loop: from any other thread, each step costs a wake-up.
    ///
    /// - Parameters:
    ///   - body: The body, if it comes in parts.
    ///   - parts: Receives the body of the response; nil collects it.
    ///   - collector: Receives the response unless it comes in parts.
    ///   - connections: The connections of the instance. Unless this throws, notify them when the request ends.
    ///   - proxy: The request's proxy.
    ///   - address: The address of the proxy or, without one, of the request's host; nil lets the client look its name up.
    ///   - loop: The event loop of the gate.
    /// - Returns: The task of the response.
    /// - Throws: The reason why the request cannot be sent; `tooLarge` for a head beyond ``RequestTemplate/headLimit``.
    package func send(
        _ request: OutgoingRequest,
        _ body: BodyParts?,
        _ parts: ResponseParts?,
        _ collector: ResponseCollector,
        over connections: GateConnections,
        through proxy: HTTPProxy?,
        at address: String?,
        on loop: any EventLoop
    ) throws(ServiceFailure) -> HTTPClient.Task<HTTPResponse> {
        guard request.headSize <= RequestTemplate.headLimit else {
            throw .tooLarge(
                "the request's URL and headers have more than \(RequestTemplate.headLimit) bytes, with their secrets"
            )
        }
        let route = Route(
            instance: connections.number,
            proxy: proxy,
            isSecure: request.url.scheme == "https",
            found: address.map { FoundHost(name: proxy?.host ?? request.url.host, address: $0) }
        )
        let client = try client(for: route, connections, loop)
        let isKept = try connections.begin(request.url) && !request.mayLeaveBody
        do {
            var headers = HTTPHeaders(request.headers.map { ($0.name, $0.value) })
            if !isKept { headers.add(name: "Connection", value: "close") }
            let url = request.url.description
            let outgoing = try HTTPClient.Request(
                url: url,
                method: HTTPMethod(rawValue: request.method),
                headers: headers,
                body: body?.body(on: loop)
                    ?? (request.body.isEmpty ? nil : .byteBuffer(ByteBuffer(bytes: request.body)))
            )
            // The client parses the URL itself, and sends its own rendering.
            guard String(describing: outgoing.url) == url, HTTPTarget.isPathText(of: request.url) else {
                throw ServiceFailure.invalid("the HTTP client would ask for another URL than this one")
            }
            // No timeout here: the gate's timer, on the host's clock, cancels the task.
            if let parts { return client.execute(request: outgoing, delegate: parts) }
            return client.execute(request: outgoing, delegate: collector)
        } catch {
            connections.end(request.url, isCancelled: false)
            throw ServiceFailure(
                error,
                url: request.namedURL,
                proxy: proxy,
                isConnected: false,
                limit: options.responseLimit
            )
        }
    }

    private func client(
        for route: Route,
        _ connections: GateConnections,
        _ loop: any EventLoop
    ) throws(ServiceFailure) -> HTTPClient {
        try state.withLock { state throws(ServiceFailure) in
            guard case .running(var clients) = state else { throw ServiceFailure.notOpen }
            var route = route
            if route.found != nil, clients.byRoute[route] == nil,
                clients.byRoute.count(where: { $0.key.instance == route.instance }) >= Self.clientLimit
            {
                route.found = nil
            }
            if let client = clients.byRoute[route] { return client }
            guard !connections.isEnded else { throw ServiceFailure.notOpen }
            // The runtime of Swift 6.3 crashes if the first connections of two event loops instantiate this type
            // concurrently.
            _ = ByteToMessageHandler(HTTPResponseDecoder())
            let client = HTTPClient(
                eventLoopGroupProvider: .shared(loop),
                configuration: try configuration(for: route, connections)
            )
            clients.byRoute[route] = client
            state = .running(clients)
            return client
        }
    }

    private func configuration(
        for route: Route,
        _ connections: GateConnections
    ) throws(ServiceFailure) -> HTTPClient.Configuration {
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
        WireCheck.install(
            in: &configuration,
            counting: connections,
            scheme: route.isSecure ? "https" : "http",
            address: route.found?.address
        )
        if route.proxy == nil, let found = route.found { configuration.dnsOverride = [found.name: found.address] }
        configuration.proxy = route.proxy.map { proxy in
            .server(
                host: route.found?.address ?? proxy.host,
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
    ///
    /// - Throws: `unavailable` if a file cannot be read: the request is not at fault.
    private func certificates() throws(ServiceFailure) -> [NIOSSLCertificate] {
        var certificates: [NIOSSLCertificate] = []
        for file in options.authorityFiles { certificates += try file.certificates() }
        return certificates
    }
}

extension TimeAmount {
    /// Clamps a duration to between 0 and a day, so that it can be added to any time.
    init(upToADay duration: Duration) {
        self = .nanoseconds(Int64(clamping: min(duration, .seconds(86_400)).nanoseconds))
    }
}
