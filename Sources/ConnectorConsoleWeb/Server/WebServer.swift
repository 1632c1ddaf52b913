// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole
internal import ConnectorControl
internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorPlatform
internal import HTTPTypes
internal import HummingbirdCore
internal import HummingbirdTLS
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import ServiceLifecycle
internal import Synchronization

/// Serves the console over HTTP/1.1, on Hummingbird.
final class WebServer: Sendable {
    /// What the server bears.
    struct Limits: Sendable {
        /// The most connections at once.
        var connections = 512
        /// The longest wait for a whole request, and for a client to take an event.
        var patience = TimeAmount.seconds(10)
        /// The most bytes of all header fields.
        var header = 16 << 10
    }

    private let options: WebConsole.Options
    private let model: any ConsoleModel
    private let host: ConnectorHost?
    private let pages: LivePages
    private let keys: Keys
    private let limits: Limits
    private let tls: TLSConfiguration?
    private let announce: @Sendable (String) -> Void
    let table: ConnectionTable

    /// Prepares to serve; listens to nothing yet.
    ///
    /// - Throws: `invalid-value` for an address that others reach without a certificate or a token; `unreadable` for a
    ///   certificate that cannot be used.
    init(
        _ model: any ConsoleModel,
        _ host: ConnectorHost?,
        _ options: WebConsole.Options,
        limits: Limits = Limits(),
        _ announce: @escaping @Sendable (String) -> Void
    ) throws(ConnectorError) {
        try options.check()
        self.options = options
        self.model = model
        self.host = host
        self.limits = limits
        self.announce = announce
        tls = try options.certificate.map { certificate throws(ConnectorError) in try Self.configuration(certificate) }
        pages = LivePages(model, options.registry)
        keys = Keys(act: options.token, read: options.readToken, linkRight: options.isReadOnly ? .read : .act)
        table = ConnectionTable(limit: limits.connections)
    }

    /// Serves until the task is cancelled.
    ///
    /// - Throws: `unavailable` if the address cannot be listened on.
    @concurrent
    func run() async throws(ConnectorError) {
        let following = Task { [pages] in await pages.run() }
        defer { following.cancel() }
        let listening = Mutex<WebResponder?>(nil)
        let responder: HTTPChannelHandler.Responder = { [limits, pages] request, writer, channel in
            guard let responder = listening.withLock(\.self) else { return }
            try await Self.answer(request, writer, channel, responder, pages, limits)
        }
        let channel = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ConnectionGuard(self.table, patience: self.limits.patience)],
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.header,
                maxHeaderListSize: limits.header,
                maxHeaderFieldCount: 100
            )
        )
        do {
            let builder: HTTPServerBuilder = .http1(configuration: channel)
            let server = try (tls.map { try .tls(builder, tlsConfiguration: $0) } ?? builder).buildServer(
                configuration: ServerConfiguration(
                    address: .hostname(options.address.host, port: options.address.port)
                ),
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                // Hummingbird's lines are for those who write servers.
                logger: Logger(label: "connector-host.console") { _ in SwiftLogNoOpLogHandler() },
                responder: responder
            ) { [self] channel in
                let port = channel.localAddress?.port ?? options.address.port
                let responder = makeResponder(port)
                listening.withLock { $0 = responder }
                announceLink(port)
            }
            try await server.run()
        } catch {
            throw ConnectorError(
                .unavailable,
                "the console cannot listen on \(options.address.authority(port: options.address.port))",
                fix: "choose another port, or 0 for any free one",
                cause: String(describing: error)
            )
        }
    }

    private func makeResponder(_ port: Int) -> WebResponder {
        WebResponder(
            origins: Origins(options.address, port: port, names: options.names, isSecure: tls != nil),
            keys: keys,
            pages: pages,
            model: model,
            api: host.map { ControlAPI($0) },
            registry: options.registry,
            start: options.route,
            title: options.title,
            styles: PackageResources.console_css + Array(options.styles.css.utf8),
            cookie: tls == nil ? "console-\(port)" : "__Host-console-\(port)",
            isSecure: tls != nil,
            renewLink: { [weak self] in self?.announceLink(port) },
            clock: SystemHostClock()
        )
    }

    private func announceLink(_ port: Int) {
        let scheme = tls == nil ? "http" : "https"
        let host = options.names.first.map { "\($0):\(port)" } ?? options.address.authority(port: port)
        // Where others listen, too, nobody gets in but by a token that the operator keeps.
        announce("\(scheme)://\(host)/" + (options.address.isLoopback ? "?token=\(keys.link)" : ""))
    }

    // MARK: Answering

    @concurrent
    private static func answer(
        _ request: Request,
        _ writer: consuming ResponseWriter,
        _ channel: any NIOCore.Channel,
        _ responder: WebResponder,
        _ pages: LivePages,
        _ limits: Limits
    ) async throws {
        let response = await responder.respond(WebRequest(request))
        var head = HTTPResponse(status: .init(code: response.status))
        for (name, value) in WebResponse.common + response.fields {
            if let name = HTTPField.Name(name) { head.headerFields.append(HTTPField(name: name, value: value)) }
        }
        switch response.body {
        case .bytes(let bytes, let type):
            head.headerFields[.contentType] = type
            head.headerFields[.contentLength] = "\(bytes.count)"
            if response.isLast { head.headerFields[.connection] = "close" }
            let isBare = request.method == .head || response.status == 304
            try await writer.write(response: head, body: isBare ? .init() : .init(byteBuffer: ByteBuffer(bytes: bytes)))
            // What is left of the request is not read.
            if response.isLast { throw ConnectionEnd() }
        case .parts(let parts, let first, let type):
            head.headerFields[.contentType] = type
            var body: any ResponseBodyWriter = try await writer.writeHead(head)
            try await body.write(ByteBuffer(bytes: first))
            for await part in parts {
                let deadline = channel.eventLoop.scheduleTask(in: limits.patience) { channel.close(promise: nil) }
                defer { deadline.cancel() }
                try await body.write(ByteBuffer(bytes: part))
            }
            try await body.finish(nil)
        case .events(let address, let version, let right):
            head.headerFields[.contentType] = "text/event-stream"
            guard let watch = await pages.watch(address) else {
                head.status = .serviceUnavailable
                return try await writer.writeResponse(head)
            }
            var body: any ResponseBodyWriter
            do {
                body = try await writer.writeHead(head)
                try await send(address, version, right, watch.news, pages, to: &body, channel, limits)
            } catch {
                await pages.leave(address, watch.number)
                throw error
            }
            await pages.leave(address, watch.number)
            try await body.finish(nil)
        }
    }

    /// Sends what changed until nobody looks any more. A console that takes no event in time is let go.
    @concurrent
    private static func send(
        _ address: PageAddress,
        _ version: String,
        _ right: Right,
        _ news: AsyncStream<Void>,
        _ pages: LivePages,
        to body: inout any ResponseBodyWriter,
        _ channel: any NIOCore.Channel,
        _ limits: Limits
    ) async throws {
        var version = version
        try await body.write(ByteBuffer(string: "retry: 2000\n\n"))
        for await _ in news {
            let frame = await pages.frame(of: address, from: version, canAct: right == .act)
            let deadline = channel.eventLoop.scheduleTask(in: limits.patience) { channel.close(promise: nil) }
            defer { deadline.cancel() }
            if let frame {
                try await body.write(ByteBuffer(bytes: frame.bytes))
                version = frame.version
            } else {
                // Finds out whether somebody is still there.
                try await body.write(ByteBuffer(string: ":\n\n"))
            }
        }
    }

    /// Ends a connection.
    private struct ConnectionEnd: Error {}

    // MARK: TLS

    private static func configuration(
        _ certificate: WebConsole.Certificate
    ) throws(ConnectorError) -> TLSConfiguration {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificate.file)
            let key = try NIOSSLPrivateKey(file: certificate.key, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(key)
            )
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            return configuration
        } catch {
            throw ConnectorError(
                .unreadable,
                "the certificate \(certificate.file) and the key \(certificate.key) cannot be used",
                fix: "both are PEM files, and the key is that of the certificate",
                cause: String(describing: error)
            )
        }
    }
}

extension WebRequest {
    /// Takes what the console reads of a request.
    fileprivate init(_ request: Request) {
        self.init(
            method: request.method.rawValue,
            target: request.head.path ?? "/",
            authority: request.head.authority
        ) { limit in
            try? await request.body.collect(upTo: limit).readableBytesView.map(\.self)
        }
        for name in Self.fieldNames {
            guard let field = HTTPField.Name(name), let value = request.headers[field] else { continue }
            fields[name] = value
        }
    }
}
