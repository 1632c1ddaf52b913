// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHost
internal import Logging

/// The API of a running host, on the socket in its state directory.
struct ControlSession: Sendable {
    private let server: ControlServer
    private let serving: Task<Void, Never>

    /// Starts serving the API. If that fails, logs the reason and returns nil, because the host also runs without the API.
    ///
    /// - Parameter name: The socket, which depends on whether the host simulates.
    static func start(
        for host: ConnectorHost,
        on name: ControlSocket.Name,
        logger: Logger
    ) -> ControlSession? {
        guard let directory = host.configuration.hostDirectory() else {
            logger.notice("no state directory, so other commands cannot reach this host")
            return nil
        }
        do throws(ConnectorError) {
            let server = ControlServer(ControlAPI(host, isLocal: true), on: try ControlSocket(name, in: directory))
            logger.info("serving the API", metadata: ["socket": "\(directory)/\(name.rawValue)"])
            let serving = Task {
                do {
                    try await server.run()
                } catch {
                    logger.warning("the API has ended", metadata: ["error": "\(error)"])
                }
            }
            return ControlSession(server: server, serving: serving)
        } catch {
            logger.warning("other commands cannot reach this host", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Stops the API and removes the socket.
    func stop() async {
        server.stop()
        await serving.value
    }
}
