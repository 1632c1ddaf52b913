// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorConsole
public import ConnectorHost
public import ConnectorManifest
public import ConnectorServices

/// The console of a host in a browser.
///
/// ```swift
/// try await WebConsole.run(host) { link in print("console:", link) }
/// ```
///
/// It listens on the loopback interface until the task is cancelled. The link that it announces lets one browser in; it announces
/// another one as soon as that is used.
public enum WebConsole {
    /// How the console is served, and to whom.
    public struct Options: Sendable {
        /// Where it listens.
        public var address = Address.loopback
        /// Other names that browsers may ask for it by, such as `console.example.org`.
        public var names: [String] = []
        /// The certificate of an address that is not loopback.
        public var certificate: Certificate?
        /// A token that lets any number of browsers and programs see and act; nil for none.
        public var token: Secret?
        /// A token that lets them see alone; nil for none.
        public var readToken: Secret?
        /// Whether nobody may act.
        public var isReadOnly = false
        /// What is shown first.
        public var route = Route.gates
        /// What can be shown.
        public var registry = ConsoleRegistry.standard
        /// How it looks.
        public var styles = StyleSheet.standard
        /// What the console is called in its pages.
        public var title = "connector-host"

        /// The standard console, on any free port of the loopback interface.
        public init() {}
    }

    /// A certificate and its key, in PEM files.
    public struct Certificate: Sendable, Hashable {
        /// The file of the certificate, those of its issuers after it.
        public var file: String
        /// The file of its private key.
        public var key: String

        /// Names the files.
        public init(file: String, key: String) {
            self.file = file
            self.key = key
        }
    }

    /// Serves the console of a host until the task is cancelled. The host is neither opened nor closed.
    ///
    /// - Parameter announce: Called with the link that lets a browser in, and again with another one after each use. An
    ///   address that is not loopback has no such link: there a token is typed in.
    /// - Throws: `invalid-configuration` for an address that is not loopback without a certificate or a token;
    ///   `unavailable` if the port is taken.
    public static func run(
        _ host: ConnectorHost,
        options: Options = Options(),
        announce: @escaping @Sendable (_ link: String) -> Void
    ) async throws(ConnectorError) {
        try await run(HostConsoleModel(host), of: host, options, announce: announce)
    }

    /// Serves what a model says, and follows its host meanwhile.
    package static func run(
        _ model: HostConsoleModel,
        of host: ConnectorHost,
        _ options: Options,
        announce: @escaping @Sendable (_ link: String) -> Void
    ) async throws(ConnectorError) {
        let following = Task { await model.run() }
        defer { following.cancel() }
        try await serve(model, of: host, options, announce: announce)
    }

    /// Serves what a model says.
    ///
    /// - Parameter host: Answers the API; nil for none.
    package static func serve(
        _ model: any ConsoleModel,
        of host: ConnectorHost? = nil,
        _ options: Options,
        announce: @escaping @Sendable (_ link: String) -> Void
    ) async throws(ConnectorError) {
        try await WebServer(model, host, options, announce).run()
    }
}
