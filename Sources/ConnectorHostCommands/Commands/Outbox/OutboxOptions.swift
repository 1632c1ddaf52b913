// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorOutbox

/// What every command of the outbox takes.
struct OutboxOptions: ParsableArguments {
    @OptionGroup var file: ConfigurationOption

    @Option(help: ArgumentHelp("Only this connector, and those below it.", valueName: "path"))
    var gate: String?

    @OptionGroup var answer: OutputOptions

    /// Opens the outbox, does something with it, and shows the answer or the error.
    ///
    /// - Parameter body: Takes the engine, nil if there is no outbox yet, and the connectors that `--gate` means, nil for
    ///   all.
    func run(
        _ body: (_ engine: (any OutboxEngine)?, _ targets: Set<String>?) async throws(ConnectorError) -> any Document
    ) async throws {
        let options = ConnectorHost.Options()
        let configuration = try answer.checked { () throws(ConfigurationErrors) in
            try Configuration.read(file: file.file, environment: options.environment)
        }
        do throws(ConnectorError) {
            let inspection = try await OutboxInspection(
                configuration,
                state: options.stateDirectory,
                clock: options.clock
            )
            let document: Result<any Document, ConnectorError>
            do throws(ConnectorError) {
                let targets = try await targets(inspection.engine, configuration)
                document = .success(try await body(inspection.engine, targets))
            } catch {
                document = .failure(error)
            }
            await inspection.engine?.close()
            answer.output.write(try document.get())
        } catch {
            answer.report([error], of: .call)
            throw ExitStatus.failed
        }
    }

    /// The connectors that `--gate` means: known to the outbox, even if the file no longer names them.
    private func targets(
        _ engine: (any OutboxEngine)?,
        _ configuration: Configuration
    ) async throws(ConnectorError) -> Set<String>? {
        guard let gate else { return nil }
        let stored = try await engine?.standings().keys.map(\.self) ?? []
        let known = Set(stored + configuration.allConnectors.map(\.path))
        let meant = known.filter { $0 == gate || $0.hasPrefix(gate + "/") }
        guard meant.isEmpty else { return meant }
        throw ConnectorError(
            .unknownConnector,
            "there is no connector \"\(gate)\"",
            fix: suggestion(for: gate, among: known.sorted())
        )
    }
}
