// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest
internal import Logging

/// A host for the time of one command, with the simulators that it may need.
struct HostSession: Sendable {
    /// Nothing is opened yet.
    let host: ConnectorHost
    private let simulation: Simulation?

    /// Reads the configuration, and starts the simulators if they are wanted.
    ///
    /// - Throws: `ExitStatus.invalidConfiguration`, after showing what is wrong; why the simulators do not start.
    static func start(
        _ file: ConfigurationOption,
        simulating: Bool,
        answer: OutputOptions,
        logger: Logger
    ) async throws -> HostSession {
        let options = ConnectorHost.Options()
        let (resolved, plugins) = try answer.checked { () throws(ConfigurationErrors) in try file.resolve(options) }
        let simulation = simulating ? try await Simulation.start(for: resolved, logger: logger) : nil
        let host = ConnectorHost(
            simulation?.pointing(resolved) ?? resolved,
            plugins: plugins,
            options: options,
            logger: logger
        )
        return HostSession(host: host, simulation: simulation)
    }

    /// Opens every gate, and says on a terminal what is waited for.
    func open(timeout: Duration?) async -> Report {
        let progress = OpeningProgress.show(of: host)
        let report = await host.open(timeout: timeout)
        await progress?.end()
        return report
    }

    /// Opens one connector, and what it waits for.
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

    /// Closes every gate, then ends the simulators.
    func close() async {
        await host.close()
        await simulation?.stop()
    }
}
