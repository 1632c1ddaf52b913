// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost
internal import ConnectorManifest

/// `connector-host operations`: lists the operations, without opening a gate.
struct OperationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "operations",
        abstract: "List the operations with signatures and documentation, without opening a gate.",
        discussion: """
            Exit status: 0; 1 if the connector does not exist; 2 if the configuration is invalid; 64 for wrong usage.

            Examples:
              connector-host operations
              connector-host operations database/kinto
            """
    )

    @Argument(help: "The connector, such as analytics/segment; every connector by default.")
    var path: String?

    @OptionGroup var file: ConfigurationOption

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        let options = ConnectorHost.Options()
        let (resolved, _) = try answer.checked { () throws(ConfigurationErrors) in try file.resolve(options) }
        let document = OperationsDocument(resolved: resolved, path: path)
        if let path, document.connectors.isEmpty {
            answer.report([resolved.failure(at: path) ?? Self.unknown(path, in: resolved)])
            throw ExitStatus.failed
        }
        answer.output.write(document)
    }

    private static func unknown(_ path: String, in resolved: ResolvedConfiguration) -> ConnectorError {
        let known = resolved.configuration.allConnectors.map(\.path)
        return ConnectorError(
            .unknownConnector,
            "there is no enabled connector \"\(path)\" with a usable plugin",
            fix: known.contains(path) ? "run: connector-host validate" : suggestion(for: path, among: known)
        )
    }
}
