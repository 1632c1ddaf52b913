// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation

/// Options of the requests that plugins send through `http/1`.
///
/// Durations are clamped to between zero and a day.
public struct HTTPOptions: Sendable {
    /// The proxies of requests; none by default.
    public var proxies: HTTPProxies
    /// PEM files with certificates of authorities to trust in addition to the system's; none by default.
    ///
    /// Read before the first `https` request. If a file cannot be read, every `https` request fails.
    public var additionalTrustRoots: [String]
    /// The file that `SSL_CERT_FILE` names, for messages; nil if the options were not read from variables.
    private var environmentTrustRoot: String?
    /// The maximum number of HTTP/1 connections of one gate to one host: 1 or more, 128 by default.
    ///
    /// Gates share no connections. An HTTP/1 connection carries one request at a time, so this also limits a gate's concurrent
    /// requests to a host; the others wait, within their deadlines and for at most ``connectTimeout``. A server that answers in 200 ms
    /// gets 5 requests a second over each connection. A gate has at most 4096 requests in progress. If nearly all of them wait, and end
    /// together, AsyncHTTPClient searches for each among the others, and an event loop does nothing else for 0.2 s, in debug builds for
    /// 15 s.
    ///
    /// Connections are opened on demand; each costs a file descriptor here and memory at the server. Those to all hosts together are at
    /// most a quarter of the descriptors that the process may have, between 64 and 1024: a request that needs one more fails with
    /// `rate-limited`. See also ``allowsHTTP2``.
    public var connectionsPerHost = 128 {
        didSet { connectionsPerHost = max(1, connectionsPerHost) }
    }
    /// How long an idle connection stays open: 0 or more, 50 s by default.
    ///
    /// Load balancers usually close idle connections after 60 s. The client closes first, so that no request uses a
    /// connection that the server is closing.
    public var idleTimeout: Duration = .seconds(50)
    /// The timeout for connecting, proxy and TLS included: 8 s by default. Zero leaves no time, so that no request is sent.
    ///
    /// Less than the 10 s that operations have by default, so that a plugin is told that a host cannot be reached while it can still do
    /// something else. Looking up a name that is slow to find has as much time again; if the operation's deadline comes first, its error
    /// says what it waited for.
    public var connectTimeout: Duration = .seconds(8)
    /// The timeout of a request without a deadline, up to the last byte of its response: 30 s by default.
    public var requestTimeout: Duration = .seconds(30)
    /// Whether to use HTTP/2 with servers that offer it over TLS (ALPN, RFC 7301); false by default.
    ///
    /// Such a server gets all requests of a gate over one connection, as many at once as it permits. Allow it only if you trust the servers:
    /// AsyncHTTPClient 1.37 ends the process if one changes to HTTP/1.1 while a request is in progress, and back again.
    public var allowsHTTP2 = false
    /// The `User-Agent`, unless a plugin sets the header; by default `connector-host/` and the host's version. Control characters, which
    /// no header may have, become spaces.
    public var userAgent: String? {
        didSet {
            userAgent = userAgent.map { text in
                String(decoding: text.utf8.map { $0.isFieldValueCharacter ? $0 : UInt8(ascii: " ") }, as: UTF8.self)
            }
        }
    }
    /// The maximum size of a response body, before and after decompression, in bytes.
    package var responseLimit = 16 << 20
    /// The maximum size of a request body, in bytes.
    package var requestLimit = 64 << 20
    /// The maximum number of redirects.
    package var redirectLimit = 5
    /// The maximum number of connections of one gate to all hosts together; nil for what ``connectionsPerHost`` says.
    package var connectionLimit: Int?
    /// Finds the addresses of a host name. Called on a thread that it may block.
    package var lookUp: @Sendable (_ host: String) -> HostNames.Answer = HostNames.systemAnswer
    /// How long a name that was found is not looked up again.
    package var lookUpValidity: Duration = .seconds(10)
    /// How long a look-up takes, at least, that is not made again for the connection.
    package var slowLookUp: Duration = .seconds(1)
    /// The maximum number of pending requests of one gate.
    package var concurrencyLimit = 4096
    /// The maximum size of the bodies of one gate's pending requests together, in bytes; of one that comes in parts, the part on its way
    /// counts.
    package var bodiesLimit = 256 << 20
    /// The maximum size of the responses to one gate's requests that are being received, together, in bytes, without those that go to
    /// the plugin in parts.
    package var responsesLimit = 512 << 20

    /// Creates options; by default, without proxies, trusting the system's authorities.
    public init(proxies: HTTPProxies = HTTPProxies(), additionalTrustRoots: [String] = []) {
        self.proxies = proxies
        self.additionalTrustRoots = additionalTrustRoots
    }

    /// Reads the usual environment variables: the proxies of ``HTTPProxies/init(variable:)``, and the authorities in
    /// the file that `SSL_CERT_FILE` names.
    ///
    /// - Parameter variable: The value of a variable; nil if it is not set.
    package init(variable: (String) -> String?) {
        let roots = variable("SSL_CERT_FILE") ?? ""
        self.init(proxies: HTTPProxies(variable: variable), additionalTrustRoots: roots.isEmpty ? [] : [roots])
        environmentTrustRoot = roots
    }

    /// The files of ``additionalTrustRoots``.
    var authorityFiles: [AuthorityFile] {
        additionalTrustRoots.map { AuthorityFile(path: $0, isFromEnvironment: $0 == environmentTrustRoot) }
    }

    /// Changes the paths of the files.
    package mutating func mapFiles(_ path: (String) -> String) {
        additionalTrustRoots = additionalTrustRoots.map(path)
        environmentTrustRoot = environmentTrustRoot.map(path)
    }

    /// What is wrong with the proxies and the files of authorities, which fails requests that need them. Reads the files.
    package func faults() -> [String] {
        let files = authorityFiles.compactMap { file -> ServiceFailure? in
            do throws(ServiceFailure) {
                _ = try file.certificates()
                return nil
            } catch {
                return error
            }
        }
        return (proxies.faults + files).map(\.message.withGivenPaths)
    }
}
