// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import AsyncHTTPClient
internal import ConnectorManifest
package import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import Synchronization

/// The HTTP clients of all gates: a pool of connections for each way out, made by the first request that goes there.
package final class HTTPTransport: Sendable {
    /// What requests of one client have in common.
    private struct Way: Hashable {
        /// What they go through.
        var proxy: HTTPProxy?
        /// Whether they go over TLS, for which the trust roots are read.
        var isSecure: Bool
    }

    /// Where the clients are in their life.
    private enum State {
        case running([Way: HTTPClient])
        case shutDown
    }

    /// Limits.
    package let options: HTTPOptions
    private let state = Mutex(State.running([:]))

    /// Connects nothing.
    package init(options: HTTPOptions) {
        self.options = options
    }

    deinit {
        // A client traps if it is forgotten while it has connections: a host that nobody closed is no reason to.
        for client in takeClients() { Task { try? await client.shutdown() } }
    }

    /// Closes every connection.
    package func shutdown() async {
        // Requests were cancelled when their gates closed; one that was not ends with an error that its task reports.
        for client in takeClients() { try? await client.shutdown() }
    }

    private func takeClients() -> [HTTPClient] {
        state.withLock { state in
            defer { state = .shutDown }
            if case .running(let clients) = state { return Array(clients.values) }
            return []
        }
    }

    /// An event loop of the clients; the current one if there is one.
    package var loop: any EventLoop { HTTPClient.defaultEventLoopGroup.any() }

    /// Sends one request, and reads its response whole; follows no redirect.
    ///
    /// Call it on an event loop of the clients: on any other thread each step wakes one up.
    ///
    /// - Returns: What becomes the response, and the proxy that the request goes through.
    /// - Throws: Why nothing can be sent.
    package func send(
        _ request: OutgoingRequest
    ) throws(ServiceFailure) -> (response: HTTPClient.Task<HTTPClient.Response>, proxy: HTTPProxy?) {
        let proxy = try options.proxies.proxy(for: request.url)
        let client = try client(for: Way(proxy: proxy, isSecure: request.url.scheme == "https"))
        do {
            let outgoing = try HTTPClient.Request(
                url: request.url.description,
                method: HTTPMethod(rawValue: request.method),
                headers: HTTPHeaders(request.headers.map { ($0.name, $0.value) }),
                body: request.body.isEmpty ? nil : .byteBuffer(ByteBuffer(bytes: request.body))
            )
            // The deadline is the gate's, on the host's clock: it cancels the task.
            let collector = ResponseAccumulator(request: outgoing, maxBodySize: options.responseLimit)
            return (client.execute(request: outgoing, delegate: collector), proxy)
        } catch {
            throw ServiceFailure(error, url: request.url, proxy: proxy, limit: options.responseLimit)
        }
    }

    private func client(for way: Way) throws(ServiceFailure) -> HTTPClient {
        try state.withLock { state throws(ServiceFailure) in
            guard case .running(var clients) = state else { throw ServiceFailure.notOpen }
            if let client = clients[way] { return client }
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: try configuration(for: way))
            clients[way] = client
            state = .running(clients)
            return client
        }
    }

    private func configuration(for way: Way) throws(ServiceFailure) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(upToADay: options.connectTimeout)),
            decompression: .disabled
        )
        // A refused connection is an answer; who wants another attempt has a deadline of his own to plan with.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = options.connectionsPerHost
        configuration.connectionPool.idleTimeout = TimeAmount(upToADay: options.idleTimeout)
        configuration.httpVersion = options.allowsHTTP2 ? .automatic : .http1Only
        configuration.proxy = way.proxy.map { proxy in
            .server(
                host: proxy.host,
                port: proxy.port,
                authorization: proxy.credentials.map { .basic(credentials: Base64.encode(Array($0.reveal().utf8))) }
            )
        }
        if way.isSecure, !options.additionalTrustRoots.isEmpty {
            var security = TLSConfiguration.makeClientConfiguration()
            security.additionalTrustRoots = [.certificates(try certificates())]
            configuration.tlsConfiguration = security
        }
        return configuration
    }

    /// The authorities that are trusted beside the system's.
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
    /// As the client counts: 0 if it is negative, and no more than a day, so that it can be added to any time.
    fileprivate init(upToADay duration: Duration) {
        self = .nanoseconds(Int64(clamping: min(duration, .seconds(86_400)).nanoseconds))
    }
}
