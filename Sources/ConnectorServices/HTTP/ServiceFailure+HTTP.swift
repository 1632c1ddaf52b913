// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import CConnector
package import ConnectorBase
package import ConnectorInvocation
internal import ConnectorPlatform
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOPosix
internal import NIOSSL

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension ServiceFailure {
    /// The server cannot be reached.
    package static func unavailable(_ message: String, errno number: Int32 = 0) -> Self {
        Self(
            status: Int32(CONNECTOR_UNAVAILABLE),
            message: message,
            domain: number == 0 ? "http" : "errno",
            detail: number,
            isRetryable: true
        )
    }

    /// The answer violates HTTP. Something between may have sent it, and be gone at the next attempt.
    package static func violation(_ message: String) -> Self {
        Self(status: Int32(CONNECTOR_PROTOCOL), message: message, domain: "http", isRetryable: true)
    }

    /// The response is too large, and would be again. The server is at fault: CONNECTOR_TOO_LARGE would blame the request.
    package static func response(exceeding limit: Int, _ state: String = "") -> Self {
        var failure = violation("the response has more than \(limit) bytes\(state)")
        failure.isRetryable = false
        return failure
    }

    /// The deadline had passed before the request could be sent.
    static func notSent(to authority: String) -> Self {
        .timedOut("the request to \(authority) was not sent, because its deadline had passed")
    }

    /// The deadline came before the response.
    static func noAnswer(from authority: String) -> Self { .timedOut("no answer from \(authority) in time") }

    /// The deadline came before a connection, with TLS if the URL says so, that the request could be sent over.
    static func noConnection(to url: URLParts) -> Self { .timedOut("no connection to \(address(of: url)) in time") }

    /// The deadline came before the end of the response.
    static func incompleteAnswer(from authority: String) -> Self {
        .timedOut("the answer of \(authority) was not complete in time")
    }

    /// The deadline came before the address of the host's name.
    static func lateName(of host: String) -> Self {
        .timedOut("the name \(host) was not found in time: \(dnsRemedy)")
    }

    /// The name of a host has no address, or could not be looked up.
    ///
    /// - Parameters:
    ///   - host: The name, with its role unless it is the server's.
    ///   - reason: Why it could not be looked up; nil if it has no address.
    static func hostNotFound(_ host: String, reason: String?) -> Self {
        guard let reason else { return .unavailable("there is no host \(host): its name has no address") }
        return .unavailable("the name \(host) could not be looked up (\(reason)): \(dnsRemedy)")
    }

    static let dnsRemedy = "check the DNS servers of this machine"

    /// The name of a request's host in messages about DNS, which says so if it is the proxy's.
    static func nameToFind(_ url: URLParts, _ proxy: HTTPProxy?) -> String {
        guard let proxy else { return url.host }
        return "\(proxy.host) (the proxy on the way to \(address(of: url)))"
    }

    /// A server's host and port, in messages.
    private static func address(of url: URLParts) -> String {
        "\(URLParts.bracketed(url.host)):\(url.effectivePort)"
    }

    /// What a request connects to, in messages: the server, or the proxy on the way to it.
    static func peer(_ url: URLParts, _ proxy: HTTPProxy?) -> String {
        proxy.map { "\($0) on the way to \(address(of: url))" } ?? address(of: url)
    }

    /// The connection ended before the response did.
    static func closedEarly(_ place: String) -> Self {
        .unavailable("\(place) closed the connection before the response was complete")
    }

    /// The proxy has not opened a tunnel in time.
    ///
    /// - Parameter time: The time that has passed.
    static func noTunnel(to url: URLParts, _ proxy: HTTPProxy, _ time: String) -> Self {
        timedOut("\(proxy) opened no tunnel to \(address(of: url)) \(time)").from(proxyDomain)
    }

    /// The same failure of a request that has not got beyond its proxy, if it has one. A limit of this process is not the proxy's.
    func attributed(to proxy: HTTPProxy?) -> Self {
        let isOwn = domain == "errno" && SystemError(detail).limitRemedy != nil
        return proxy != nil && !isOwn && ["http", "errno"].contains(domain) ? from(Self.proxyDomain) : self
    }

    private func from(_ domain: String) -> Self {
        var failure = self
        failure.domain = domain
        return failure
    }

    /// The domain of failures of the proxy, or of the way to it.
    static let proxyDomain = "proxy"

    /// The domain of failures of TLS, and of certificates.
    private static let tlsDomain = "tls"

    /// A file of this machine with the authorities to trust has no certificates that can be read. It is read again for the next request.
    static func unreadableAuthorities(_ message: String) -> Self {
        var failure = unavailable(message)
        failure.isRetryable = false
        return failure.from(tlsDomain)
    }

    /// Converts an error of the HTTP client.
    ///
    /// - Parameters:
    ///   - url: The URL of the request, as messages name it.
    ///   - proxy: The request's proxy, which failures before the tunnel are attributed to.
    ///   - isConnected: Whether the request had a connection to its server: through a proxy, a tunnel.
    ///   - limit: The maximum size of the response, in bytes.
    package init(_ error: any Error, url: URLParts, proxy: HTTPProxy?, isConnected: Bool, limit: Int) {
        let error = (error as? WireCheck.StaleConnection)?.cause ?? error
        let server = proxy.map { "\(Self.address(of: url)) through \($0)" } ?? Self.address(of: url)
        let place = isConnected ? server : Self.peer(url, proxy)
        let isBeforeTunnel = proxy != nil && !isConnected
        self =
            switch error {
            case let failure as ServiceFailure: failure
            case is ResponseAccumulator.ResponseTooBigError: .response(exceeding: limit)
            case let error as HTTPClientError where error == .remoteConnectionClosed && isBeforeTunnel:
                .unavailable("\(place) closed the connection before the request was sent")
            case let error as HTTPClientError: Self(error, server, url, proxy)
            case let error as NIOConnectionError:
                Self(error, Self.peer(url, proxy), host: Self.nameToFind(url, proxy))
            case let error as IOError:
                .unavailable(
                    "\(Self.isOfConnecting(error) ? "no connection to \(place)" : "the connection to \(place) broke"): "
                        + "\(SystemError(error.errnoCode))",
                    errno: error.errnoCode
                )
            case let error as ChannelError: Self(error, place)
            case is SocketAddressError: .hostNotFound(Self.nameToFind(url, proxy), reason: nil)
            case NIOSSLError.uncleanShutdown: .closedEarly(place)
            case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: .untrusted(error, server)
            case HTTPParserError.invalidEOFState: .closedEarly(place)
            case HTTPParserError.invalidConstant where url.scheme == "http":
                .violation("the answer of \(place) is not HTTP; if it speaks TLS, the URL must begin with https://")
            case HTTPParserError.headerOverflow:
                .violation(
                    "the answer of \(place) has more headers than can be read: 256 fields, 80 KiB in one of them, 2 MiB in all"
                )
            case let error as HTTPParserError:
                .violation("the answer of \(place) is not HTTP: \(Self.words(for: error))")
            case let error as any NIOHTTP2Error: Self(error, place)
            default: .unavailable("the request to \(place) failed: \(error)")
            }
        if isBeforeTunnel { self = attributed(to: proxy) }
    }

    /// What is wrong with an answer, where NIO's own words say too little.
    private static func words(for error: HTTPParserError) -> String {
        switch error {
        case .strictModeAssertion: "a line ends in CR without LF"
        case .invalidHeaderToken:
            "\(error); a field may not continue in the next line (obs-fold), which HTTP no longer allows"
        case .unknown: "a line ends in LF without CR, or Transfer-Encoding is invalid or stands beside Content-Length"
        default: "\(error)"
        }
    }

    private init(_ error: HTTPClientError, _ place: String, _ url: URLParts, _ proxy: HTTPProxy?) {
        let isSecure = url.scheme == "https"
        self =
            switch (error, proxy) {
            case (.proxyAuthenticationRequired, let proxy?): .unauthorized(by: proxy)
            case (.invalidProxyResponse, let proxy?):
                .unavailable("\(proxy) refuses to connect to \(Self.address(of: url))")
            case (.httpProxyHandshakeTimeout, let proxy?),
                (.connectTimeout, let proxy?) where !isSecure:
                .noTunnel(to: url, proxy, "within the time for connecting")
            default: Self(error, place, isSecure: isSecure)
            }
    }

    /// The proxy rejects the credentials, or requires some.
    private static func unauthorized(by proxy: HTTPProxy) -> Self {
        let words =
            proxy.credentials == nil
            ? "requires credentials, and its URL has none: write it as http://USER:PASSWORD@HOST:PORT"
            : "rejected the credentials, which the host sends as Basic authentication only"
        return Self(
            status: Int32(CONNECTOR_UNAVAILABLE),
            message: "\(proxy) \(words)",
            domain: proxyDomain,
            detail: 407
        )
    }

    private init(_ error: HTTPClientError, _ place: String, isSecure: Bool) {
        self =
            switch error {
            case .cancelled: .cancelled("the request was cancelled")
            case .tlsHandshakeTimeout:
                .timedOut("\(place) did not complete the TLS handshake within the time for connecting").from(
                    Self.tlsDomain
                )
            // The client's limit for a request that waits for its connection may come before those of the connection's steps.
            case .connectTimeout, .httpProxyHandshakeTimeout, .socksHandshakeTimeout:
                .timedOut(
                    "no connection to \(place) within the time for connecting\(isSecure ? " and the TLS handshake" : "")"
                )
            case .readTimeout, .writeTimeout, .deadlineExceeded: .timedOut("no answer from \(place) in time")
            case .getConnectionFromPoolTimeout:
                .timedOut("no connection to \(place) became free within the time for connecting")
            case .remoteConnectionClosed: .closedEarly(place)
            case .alreadyShutdown, .shutdownUnsupported: .notOpen
            case .bodyLengthMismatch: .invalid("the body is shorter than its declared length")
            case .traceRequestWithBody: .invalid("a TRACE request has no body")
            case .invalidURL, .emptyHost, .emptyScheme:
                .invalid("the request cannot be sent: \(error.shortDescription)")
            // The long description may quote what was inserted into the request.
            default: .unavailable("the request to \(place) failed: \(error.shortDescription)")
            }
    }

    private init(_ error: NIOConnectionError, _ place: String, host: String) {
        if let number = error.connectionErrors.lazy.compactMap({ ($0.error as? IOError)?.errnoCode }).first {
            self = .unavailable("no connection to \(place): \(SystemError(number))", errno: number)
        } else if error.connectionErrors.contains(where: {
            if case ChannelError.connectTimeout = $0.error { true } else { false }
        }) {
            self = .timedOut("no connection to \(place) within the time for connecting")
        } else {
            let unknown = (error.dnsAError ?? error.dnsAAAAError) as? SocketAddressError.UnknownHost
            var reason: String?
            if let unknown, case .failed(let text) = HostNames.Answer(error: Int32(clamping: unknown.errorCode)) {
                reason = text
            }
            self = .hostNotFound(host, reason: reason)
        }
    }

    /// Whether a request failed because there was no connection that it could be sent over.
    static func isUnconnected(_ error: any Error) -> Bool {
        switch error {
        case is NIOConnectionError: true
        case let error as IOError: error.errnoCode == ECONNREFUSED
        case ChannelError.connectTimeout: true
        case let error as HTTPClientError: error == .connectTimeout
        default: false
        }
    }

    /// Whether the failed system call was part of connecting.
    static func isOfConnecting(_ error: IOError) -> Bool {
        [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL].contains(error.errnoCode)
    }

    private init(_ error: ChannelError, _ place: String) {
        self =
            switch error {
            case .connectTimeout: .timedOut("no connection to \(place) within the time for connecting")
            case .ioOnClosedChannel, .alreadyClosed, .outputClosed, .inputClosed, .eof: .closedEarly(place)
            default: .unavailable("the connection to \(place) broke: \(error)")
            }
    }

    /// The failure of a TLS handshake. A wrong certificate stays wrong, so it is not retryable.
    private static func untrusted(_ error: any Error, _ place: String) -> Self {
        let reason = reason(of: error)
        let words = reason.map { " (\($0))" } ?? ""
        var failure: ServiceFailure
        switch reason {
        case _ where (error as? NIOSSLExtraError) == .failedToValidateHostname:
            failure = unavailable("the certificate of \(place) is for another host")
            failure.isRetryable = false
        case "CERTIFICATE_VERIFY_FAILED":
            // NIO does not say whether it has expired.
            failure = unavailable(
                "the certificate of \(place) is not valid or its authority is not trusted\(words); it may have expired, or this machine's "
                    + "clock be wrong; the file of a private authority can be named by SSL_CERT_FILE"
            )
            failure.isRetryable = false
        case "TLSV1_ALERT_PROTOCOL_VERSION", "UNSUPPORTED_PROTOCOL":
            failure = unavailable("\(place) speaks neither TLS 1.2 nor TLS 1.3\(words)")
            failure.isRetryable = false
        case "WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNEXPECTED_MESSAGE":
            failure = unavailable("\(place) does not speak TLS\(words); its URL may need to start with http://")
        case "TLSV1_ALERT_CERTIFICATE_REQUIRED":
            failure = unavailable("\(place) requires a client certificate, which http/1 cannot present\(words)")
            failure.isRetryable = false
        // What servers of TLS 1.2 send for a missing certificate, and all servers for want of a common cipher.
        case "SSLV3_ALERT_HANDSHAKE_FAILURE":
            failure = unavailable(
                "\(place) refused the TLS handshake\(words); it may require a client certificate, which http/1 cannot present, or other "
                    + "ciphers"
            )
        case "TLSV1_ALERT_UNRECOGNIZED_NAME":
            failure = unavailable("\(place) has no certificate for this name\(words)")
        case "TLSV1_ALERT_NO_APPLICATION_PROTOCOL":
            failure = unavailable(
                "\(place) speaks no version of HTTP that it was offered\(words); an application allows HTTP/2 by allowsHTTP2"
            )
        case nil: failure = unavailable("\(place) broke off the TLS handshake; it may not use TLS on this port")
        default: failure = unavailable("the TLS handshake with \(place) failed\(words)")
        }
        return failure.from(tlsDomain)
    }

    /// The TLS library's name for the reason, such as CERTIFICATE_VERIFY_FAILED; nil if it has none.
    private static func reason(of error: any Error) -> String? {
        let text = String(describing: error)
        guard let start = text.firstRange(of: "OPENSSL_internal:") else { return nil }
        return String(text[start.upperBound...].prefix { $0.isUppercase || $0.isNumber || $0 == "_" })
    }
}
