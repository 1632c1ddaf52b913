// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorConsoleWeb
internal import ConnectorControl
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
    /// The requests to the API in progress that act on the host.
    var acts = ControlActs()

    /// A console that is served until it is stopped.
    struct Serving: Sendable {
        fileprivate let task: Task<Void, Never>
        fileprivate let failure: OneShot<ConnectorError>

        /// Waits until the caller's task is cancelled, and keeps serving.
        ///
        /// - Throws: The error that prevents serving, such as an address in use.
        func waitUnlessCancelled() async throws(ConnectorError) {
            if let error = await failure.waitUnlessCancelled() { throw error }
        }

        /// Stops it. Responses in progress have a second to end.
        func stop() async {
            task.cancel()
            await task.value
        }
    }

    /// Starts serving in a task of its own.
    func start() -> Serving {
        let failure = OneShot<ConnectorError>()
        let task = Task<Void, Never> {
            do throws(ConnectorError) {
                try await run()
            } catch {
                failure.send(error)
            }
        }
        return Serving(task: task, failure: failure)
    }

    /// Serves until the task is cancelled.
    ///
    /// - Throws: The error that prevents serving, such as an address in use.
    func run() async throws(ConnectorError) {
        let isFirst = Mutex(true)
        let stream = stream
        let faults = session.faultLine
        try await WebConsole.serve(session.consoleModel(file), of: session.host, options, acts: acts) { link in
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
            let lookup = PluginLookup(configuration: host.configuration, options: ConnectorHost.Options())
            return lookup.everything.entries.map { entry in
                let error = entry.error ?? entry.candidate.flatMap { lookup.admission.problem(of: $0) }
                let certificate = ConformanceCertificate.of(entry.path) { PluginInspection(path: entry.path).sha256 }
                return PluginSummary(
                    path: entry.path.withGivenPaths,
                    manifest: entry.manifest,
                    problem: error?.message,
                    level: certificate?.level
                )
            }
        }
    }
}
