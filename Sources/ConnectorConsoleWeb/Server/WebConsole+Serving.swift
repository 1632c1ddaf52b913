// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
package import ConnectorConsole
public import ConnectorHost

extension WebConsole {
    /// Serves the console of a host until the task is cancelled. The host is neither opened nor closed.
    ///
    /// - Parameter announce: Called with the link that lets a browser in, and again with another one after each use. An
    ///   address that is not loopback has no such link: there a token is typed in. By default it prints the link.
    /// - Throws: `invalid-configuration` for an address that is not loopback without a certificate or a token;
    ///   `unavailable` if the port is taken.
    public static func run(
        _ host: ConnectorHost,
        options: Options = Options(),
        announce: @escaping @Sendable (_ link: String) -> Void = { print("console: \($0)") }
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
