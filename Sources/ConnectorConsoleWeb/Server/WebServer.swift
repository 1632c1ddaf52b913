// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorControl
internal import ConnectorHTTPServer
internal import ConnectorHost
internal import ConnectorPlatform
internal import NIOCore
internal import NIOSSL
internal import ServiceLifecycle
internal import Synchronization

/// Serves the console over HTTP/1.1, encrypted with TLS if there is a certificate.
final class WebServer: Sendable {
    private let options: WebConsole.Options
    private let console: Console
    private let host: ConnectorHost?
    /// The pages that browsers watch.
    let pages: LivePages
    /// Authenticates clients.
    let authenticator: Authenticator
    private let limits: ServerLimits
    private let acts: ControlActs
    private let pageActs: PageActs
    private let clock: any HostClock
    private let tls: NIOSSLContext?
    private let announce: @Sendable (String) -> Void
    private let responder = Mutex<WebResponder?>(nil)
    private let server = Mutex<HTTPServer?>(nil)

    /// Creates a server, which does not listen yet.
    ///
    /// - Throws: `invalid-value` if ``WebConsole/Options/check()`` rejects the options; `unreadable` for an invalid certificate.
    init(
        _ model: any ConsoleModel,
        _ host: ConnectorHost?,
        _ options: WebConsole.Options,
        limits: ServerLimits = ServerLimits(),
        acts: ControlActs = ControlActs(),
        clock: any HostClock = SystemHostClock(),
        _ announce: @escaping @Sendable (String) -> Void
    ) throws(ConnectorError) {
        try options.check()
        self.options = options
        console = Console(model, options.registry)
        self.host = host
        self.limits = limits
        self.acts = acts
        self.clock = clock
        self.announce = announce
        tls = try options.certificate.map { certificate throws(ConnectorError) in try Self.context(certificate) }
        pages = LivePages(console, clock: clock)
        pageActs = PageActs(console)
        authenticator = Authenticator(
            act: options.token,
            read: options.readToken,
            linkPermission: options.isReadOnly ? .read : .act
        )
    }

    /// The connections; nil while the server does not run.
    var table: ConnectionTable? { server.withLock { $0?.table } }

    /// Serves until the task is cancelled or a graceful shutdown starts. Responses in progress when the task is cancelled have a
    /// second to end.
    ///
    /// - Throws: `unavailable` if the server cannot listen on the address.
    @concurrent
    func run() async throws(ConnectorError) {
        let running = Task { [console] in await console.run() }
        defer { running.cancel() }
        let following = Task { [pages] in await pages.run() }
        defer { following.cancel() }
        defer { pageActs.end() }
        let server = HTTPServer(
            .address(options.address.host, port: options.address.port),
            limits: limits,
            answersHalfClosed: true,
            common: WebResponder.commonFields,
            prepare: { [self] channel in try encrypt(channel) },
            admit: { [self] request in admit(request) }
        )
        self.server.withLock { $0 = server }
        // Breaks the reference cycle.
        defer { self.server.withLock { $0 = nil } }
        do {
            try await withGracefulShutdownHandler {
                try await server.run(finishingWithin: .seconds(1)) { port in
                    responder.withLock { $0 = makeResponder(port) }
                    announceLink(port)
                }
            } onGracefulShutdown: {
                server.stop()
            }
        } catch {
            let reason = error as? ConnectorError
            throw ConnectorError(
                .unavailable,
                "the console cannot listen on \(options.address.authority)",
                fix: reason?.fix ?? "choose another port, or 0 for any free one",
                cause: reason?.message ?? String(describing: error)
            )
        }
    }

    private func makeResponder(_ port: Int) -> WebResponder {
        WebResponder(
            origins: Origins(options.address, names: options.names, isSecure: tls != nil),
            authenticator: authenticator,
            pages: pages,
            acts: pageActs,
            api: host.map { ControlAPI($0, acts: acts) },
            start: start,
            title: options.title,
            styles: PackageResources.console_css + Array(options.styles.css.utf8),
            cookie: tls == nil ? "console-\(port)" : "__Host-console-\(port)",
            isSecure: tls != nil,
            renewLink: { [weak self] in self?.announceLink(port) },
            clock: clock
        )
    }

    /// The first route: the one in the options or, if that has no tab, the route of the first tab.
    private var start: Route {
        let tabs = console.registry.tabs.map(\.root)
        return tabs.contains(options.route.root) ? options.route : tabs.first.map { Route([$0]) } ?? options.route
    }

    private func announceLink(_ port: Int) {
        let scheme = tls == nil ? "http" : "https"
        let host = WebConsole.Address(host: options.names.first ?? options.address.host, port: port).authority
        // Where other machines can connect, only the operator's tokens authenticate.
        announce("\(scheme)://\(host)/" + (options.address.isLoopback ? "?token=\(authenticator.link)" : ""))
    }

    // MARK: Answering

    private func admit(_ request: ServerRequest) -> RequestAdmission {
        // A client may connect before the responder has been created.
        responder.withLock(\.self)?.admit(request) ?? .answer(ServerResponse(status: 503, isLast: true))
    }

    // MARK: TLS

    private func encrypt(_ channel: any NIOCore.Channel) throws {
        guard let tls else { return }
        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
    }

    private static func context(
        _ certificate: WebConsole.Certificate
    ) throws(ConnectorError) -> NIOSSLContext {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificate.file)
            let key = try NIOSSLPrivateKey(file: certificate.key, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(key)
            )
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            // A client that never answers the end of TLS would keep its place among the accepted connections for five seconds. No
            // response is lost: a connection closes only once the kernel has all of it.
            configuration.shutdownTimeout = .milliseconds(100)
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw ConnectorError(
                .unreadable,
                "the certificate \(certificate.file) and the key \(certificate.key) cannot be used",
                fix: "pass two PEM files, and the key that belongs to the certificate",
                cause: String(describing: error)
            )
        }
    }
}
