// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorConsoleWeb
internal import ConnectorHost
internal import ConnectorLoading
internal import Synchronization

/// The console of a session's host in browsers.
struct WebSession: Sendable {
    let session: HostSession
    let options: WebConsole.Options
    let file: ConfigurationOption
    /// The stream for the links: standard output, unless that carries a JSON document.
    let stream: StandardStream

    /// Serves until the task is cancelled.
    ///
    /// - Throws: The error that prevents serving, such as an address in use.
    func run() async throws(ConnectorError) {
        let isFirst = Mutex(true)
        let stream = stream
        let faults = session.faultLine
        try await WebConsole.serve(session.consoleModel(file), of: session.host, options) { link in
            let first = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            stream.writeLine(first ? "console: \(link)" : "console, for another browser: \(link)")
            if first, let faults { stream.writeLine(faults) }
        }
    }
}

extension HostSession {
    /// Creates the model for a console.
    func consoleModel(_ file: ConfigurationOption) -> HostConsoleModel {
        HostConsoleModel(
            host,
            commands: CommandLines(file: file.isExplicit ? file.file : nil, isSimulated: simulatorPort != nil)
        ) { [host] in
            PluginLookup(configuration: host.configuration, options: ConnectorHost.Options()).everything.entries.map {
                entry in
                let certificate = ConformanceCertificate.of(entry.path) { PluginInspection(path: entry.path).sha256 }
                return PluginSummary(
                    path: entry.path,
                    manifest: entry.manifest,
                    problem: entry.error?.message,
                    level: certificate?.level
                )
            }
        }
    }
}
