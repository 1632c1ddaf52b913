// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConfiguration
public import ConnectorServices

extension HTTPOptions {
    /// Takes the proxies of ``HTTPProxies/init(environment:)``, and the authorities in the file that `SSL_CERT_FILE`
    /// names.
    public init(environment: Configuration.Environment) {
        self.init { environment[$0] }
    }

    /// The options with a `User-Agent` that names the host's release, unless they set another.
    func identifyingHost() -> Self {
        var options = self
        options.userAgent = userAgent ?? "connector-host/\(ConnectorHost.version)"
        return options
    }
}

extension HTTPProxies {
    /// Takes `http_proxy`, `https_proxy` and `no_proxy`, or the same in capitals, as curl does.
    ///
    /// A lower-case name that is set wins, even if it is empty. Where `REQUEST_METHOD` is set, `HTTP_PROXY` is ignored:
    /// in a CGI program anyone can set it through a request header.
    public init(environment: Configuration.Environment) {
        self.init { environment[$0] }
    }
}
