// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHost

/// `connector-host operations`: lists the operations without opening a gate.
struct OperationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "operations",
        abstract: "List the operations with signatures and documentation, without opening a gate.",
        discussion: """
            If a host runs on the same file (connector-host run), lists the operations of that host.

            Exit status: 0; 1 if the connector does not exist; 2 if the configuration is invalid; 64 for wrong usage.

            Examples:
              connector-host operations
              connector-host operations database/kinto
            """
    )

    @Argument(
        help: "The connector, such as analytics/segment; every connector by default.",
        completion: ConnectorCompletion.paths
    )
    var path: String?

    @OptionGroup var file: ConfigurationOption

    @OptionGroup var attach: AttachOption

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        if try await runAttached() { return }
        let request = SimulationRequest(opensNothing: true)
        let (resolved, _) = try answer.checked { () throws(ConfigurationErrors) in
            try file.resolve(ConfigurationSource(ConnectorHost.Options(), simulating: request))
        }
        let document = OperationsDocument(resolved: resolved, path: path)
        if let path, document.connectors.isEmpty {
            answer.report([resolved.failure(at: path) ?? Self.unknown(path, in: resolved)])
            throw ExitStatus.failed
        }
        answer.output.write(document)
    }

    /// Shows the operations of the running host.
    ///
    /// - Returns: False if no host runs, or if it has no such connector; the caller then reads the file, which gives the reason.
    private func runAttached() async throws -> Bool {
        do throws(ConnectorError) {
            guard let host = try await attach.host(of: file, on: [.control, .simulated]) else { return false }
            guard let list = OperationList(json: try await host.document("/api/v1/operations")) else {
                throw host.incompatible("a list")
            }
            let document = OperationsDocument(list, path: path)
            guard path == nil || !document.connectors.isEmpty else { return false }
            answer.output.write(document)
            return true
        } catch {
            answer.report([error])
            throw ExitStatus.failed
        }
    }

    private static func unknown(_ path: String, in resolved: ResolvedConfiguration) -> ConnectorError {
        let known = resolved.configuration.allConnectors.map(\.path)
        return ConnectorError(
            .unknownConnector,
            "there is no enabled connector \"\(path.excerpt)\" with a usable plugin",
            fix: known.contains(path) ? "run: connector-host validate" : suggestion(for: path, among: known)
        )
    }
}
