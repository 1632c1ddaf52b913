// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorServices

extension HTTPOptions {
    /// As other programs take it from the environment: the proxies of ``HTTPProxies/init(environment:)``, and the authorities in
    /// the file that `SSL_CERT_FILE` names.
    public init(environment: Configuration.Environment) {
        self.init { environment[$0] }
    }

    /// The options in which the requests of a host say which release it is, unless they say something else already.
    func identifyingHost() -> Self {
        var options = self
        options.userAgent = userAgent ?? "connector-host/\(ConnectorHost.version)"
        return options
    }
}

extension HTTPProxies {
    /// Takes `http_proxy`, `https_proxy` and `no_proxy`, or the same in capitals, as curl does.
    ///
    /// A lower-case name that is set counts, even if it is empty. `HTTP_PROXY` is not looked at where `REQUEST_METHOD` is set: in a
    /// CGI program it is a header of the request, so that anybody could set it.
    public init(environment: Configuration.Environment) {
        self.init { environment[$0] }
    }
}
