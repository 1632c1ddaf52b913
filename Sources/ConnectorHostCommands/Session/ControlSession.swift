// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHost
internal import Logging

/// The API of a running host, on the socket in its state directory.
struct ControlSession: Sendable {
    private let serving: Task<Void, Never>

    /// How often to look whether clients find the socket.
    private static let interval: Duration = .seconds(10)

    /// Starts serving the API. The host also runs while that is impossible: the reason is logged, and the socket is taken once it can be.
    ///
    /// If the socket is removed, or its directory is, the API is served on another one there.
    ///
    /// - Parameters:
    ///   - name: The socket, which depends on whether the host simulates.
    ///   - acts: The requests in progress that act on the host.
    /// - Returns: Nil without a state directory.
    static func start(
        for host: ConnectorHost,
        on name: ControlSocket.Name,
        acts: ControlActs,
        logger: Logger
    ) -> ControlSession? {
        guard let directory = host.configuration.hostDirectory() else {
            logger.notice("no state directory, so other commands cannot reach this host")
            return nil
        }
        var socket: ControlSocket?
        do throws(ConnectorError) {
            socket = try ControlSocket(name, in: directory)
            logger.info("serving the API", metadata: ["socket": "\(directory.withGivenPaths)/\(name.rawValue)"])
        } catch {
            logger.warning("other commands cannot reach this host", metadata: ["error": "\(error)"])
        }
        let api = ControlAPI(host, isLocal: true, acts: acts)
        let serving = Task { [socket] in await serve(api, on: socket, name, in: directory, logger) }
        return ControlSession(serving: serving)
    }

    /// Serves until the task is cancelled, on another socket once clients no longer find one. What is connected to that one stays so.
    ///
    /// - Parameter first: Nil if there is none yet, for which the log has the reason.
    private static func serve(
        _ api: ControlAPI,
        on first: ControlSocket?,
        _ name: ControlSocket.Name,
        in directory: String,
        _ logger: Logger
    ) async {
        await withDiscardingTaskGroup { group in
            if let first { group.addTask { await serve(api, on: first, logger) } }
            var (socket, isLost) = (first, first == nil)
            while (try? await Task.sleep(for: interval)) != nil {
                guard socket?.isInPlace != true else { continue }
                do throws(ConnectorError) {
                    let next = try ControlSocket(name, in: directory, after: socket)
                    if socket == nil {
                        logger.info(
                            "serving the API",
                            metadata: ["socket": "\(directory.withGivenPaths)/\(name.rawValue)"]
                        )
                    } else {
                        logger.warning("the socket of the API was removed, and is there again")
                    }
                    group.addTask { await serve(api, on: next, logger) }
                    (socket, isLost) = (next, false)
                } catch {
                    if !isLost {
                        logger.warning(
                            "the socket of the API was removed: other commands cannot reach this host",
                            metadata: ["error": "\(error)"]
                        )
                    }
                    isLost = true
                }
            }
        }
    }

    private static func serve(_ api: ControlAPI, on socket: ControlSocket, _ logger: Logger) async {
        do {
            try await ControlServer(api, on: socket).run()
        } catch {
            logger.warning("the API has ended", metadata: ["error": "\(error)"])
        }
    }

    /// Stops the API and removes the socket.
    func stop() async {
        serving.cancel()
        await serving.value
    }
}
