// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest
internal import Logging

/// A host for one command, with the simulators it may need.
struct HostSession: Sendable {
    /// The host, not opened yet.
    let host: ConnectorHost
    private let simulation: Simulation?

    /// Reads the configuration, and starts the simulators if asked to.
    ///
    /// - Parameter heals: Whether the command runs long enough for failed gates to be tried again.
    /// - Throws: `ExitStatus.invalidConfiguration`, after showing the errors; otherwise why the simulators do not
    ///   start.
    static func start(
        _ file: ConfigurationOption,
        simulating: Bool,
        heals: Bool = false,
        answer: OutputOptions,
        logger: Logger
    ) async throws -> HostSession {
        var options = ConnectorHost.Options()
        options.heals = heals
        let (resolved, plugins) = try answer.checked { () throws(ConfigurationErrors) in try file.resolve(options) }
        CrashNote.install(file: CrashFile.path(for: file.file))
        let simulation = simulating ? try await Simulation.start(for: resolved, logger: logger) : nil
        let host = ConnectorHost(
            simulation?.pointing(resolved) ?? resolved,
            plugins: plugins,
            options: options,
            logger: logger
        )
        return HostSession(host: host, simulation: simulation)
    }

    /// Opens every gate, and shows progress on a terminal.
    func open(timeout: Duration?) async -> Report {
        let progress = OpeningProgress.show(of: host)
        let report = await host.open(timeout: timeout)
        await progress?.end()
        return report
    }

    /// Opens one connector, and the connectors it waits for.
    func open(_ path: String) async throws(ConnectorError) -> Report {
        let progress = OpeningProgress.show(of: host)
        do throws(ConnectorError) {
            let report = try await host.open(path)
            await progress?.end()
            return report
        } catch {
            await progress?.end()
            throw error
        }
    }

    /// Closes every gate, then stops the simulators.
    func close() async {
        await host.close()
        await simulation?.stop()
    }
}
