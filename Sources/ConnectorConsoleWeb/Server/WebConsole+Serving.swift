// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorConsole
package import ConnectorControl
public import ConnectorHost

extension WebConsole {
    /// Serves the console of a host until the task is cancelled, or the service group that runs it shuts down gracefully. Does not
    /// open or close the host.
    ///
    /// - Parameter announce: Called with a link that admits one browser, and with a new link after each use. For an address other
    ///   than loopback the link contains no token; operators type theirs in. By default it prints the link.
    /// - Throws: `invalid-value` for an address other than loopback without a certificate or without a token, for a wildcard
    ///   address without a name, for a number that is not a port, for a token that is too short, and for a name with a port or a
    ///   path; `unreadable` for an invalid certificate; `unavailable` if the server cannot listen on the address.
    public static func run(
        _ host: ConnectorHost,
        options: Options = Options(),
        announce: @escaping @Sendable (_ link: String) -> Void = { print("console: \($0)") }
    ) async throws(ConnectorError) {
        try await serve(HostConsoleModel(host), of: host, options, announce: announce)
    }

    /// Serves the console of a model, which needs no host, and runs the model until it stops as for a host.
    ///
    /// - Parameter announce: As for a host.
    /// - Throws: As for a host.
    public static func run(
        _ model: any ConsoleModel = EmptyConsoleModel(),
        options: Options,
        announce: @escaping @Sendable (_ link: String) -> Void = { print("console: \($0)") }
    ) async throws(ConnectorError) {
        try await serve(model, options, announce: announce)
    }

    /// Serves the console of a model, and runs the model until the task is cancelled.
    ///
    /// - Parameters:
    ///   - host: The host of the API; nil for no API.
    ///   - acts: The requests to the API in progress that act on the host, if the caller is to end them.
    package static func serve(
        _ model: any ConsoleModel,
        of host: ConnectorHost? = nil,
        _ options: Options,
        acts: ControlActs = ControlActs(),
        announce: @escaping @Sendable (_ link: String) -> Void
    ) async throws(ConnectorError) {
        try await WebServer(model, host, options, acts: acts, announce).run()
    }
}
