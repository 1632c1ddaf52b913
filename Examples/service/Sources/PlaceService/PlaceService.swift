// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole
internal import ConnectorConsoleWeb
public import ConnectorHost
public import Hummingbird
public import Logging
internal import NIOCore
internal import ServiceLifecycle

/// The service: an HTTP server in front of a host, and the host's console beside it.
public enum PlaceService {
    /// Makes the application, whose services start together and stop in the reverse order: first the server, last the host.
    ///
    /// - Parameters:
    ///   - host: The host, which the application opens and closes. Set `waitsForRequiredGates` to false, so that the server
    ///     answers while a vendor is away.
    ///   - port: The server's port on the loopback interface; 0 for any free one.
    ///   - consolePort: The console's port; 0 for any free one.
    ///   - announce: Called with a line for the person who starts it: where the server and the console are.
    public static func application(
        _ host: ConnectorHost,
        port: Int = 8080,
        consolePort: Int = 8901,
        logger: Logger = Logger(label: "service"),
        announce: @escaping @Sendable (String) -> Void
    ) throws(ConnectorError) -> some ApplicationProtocol {
        Application(
            router: try PlaceAPI(host).router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            services: [
                host, ReadinessLog(host: host, logger: logger),
                ConsoleService(host: host, port: consolePort, announce: announce),
            ],
            onServerRunning: { channel in
                announce("service: http://127.0.0.1:\(channel.localAddress?.port ?? port)")
            },
            logger: logger
        )
    }
}

/// The console in a browser, on a port of its own, which only this machine reaches.
struct ConsoleService: Service {
    let host: ConnectorHost
    let port: Int
    let announce: @Sendable (String) -> Void

    func run() async throws {
        var options = WebConsole.Options()
        options.address.port = port
        options.title = "Places"
        try await WebConsole.run(host, options: options) { link in announce("console: \(link)") }
    }
}

/// Logs when the service becomes ready, and whenever that changes.
struct ReadinessLog: Service {
    let host: ConnectorHost
    let logger: Logger

    func run() async throws {
        // Cancelled by a shutdown, and ended by it.
        await cancelWhenGracefulShutdown {
            guard (try? await host.ready()) != nil else { return }
            logger.notice("ready")
            var isReady = true
            for await report in host.reports where report.isReady != isReady {
                isReady = report.isReady
                logger.notice(isReady ? "ready again" : "not ready")
            }
        }
        try? await gracefulShutdown()
    }
}
