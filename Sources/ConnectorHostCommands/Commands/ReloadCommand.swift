// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost

/// `connector-host reload`: makes the host that runs on the file adopt it.
struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Make the host that runs on the file take up what has changed.",
        discussion: """
            The same as SIGHUP, and as POST /api/v1/reload. Connectors that have not changed notice nothing. A file with a fault \
            changes nothing; nor does a required connector whose successor does not open, unless the file says "reload": "each".

            Exit status: 0 if the file is active, 1 if it is not, or no host runs on it, 2 if it is not valid, 64 for wrong usage.

            Examples:
              connector-host reload
              connector-host reload --json | jq -r .sha256
            """
    )

    @OptionGroup var file: ConfigurationOption

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        try await file.reload(answer, basis: nil)
    }
}

extension ConfigurationOption {
    /// Makes the host that runs on the file reload, and shows the outcome.
    ///
    /// - Throws: The exit status if the file is not active afterwards.
    func reload(_ answer: OutputOptions, basis: Plan.Basis?) async throws {
        let host = try await runningHost(answer)
        try await show(answer) { () throws(ConnectorError) in try await host.reload(basis) }
    }

    /// Makes a change and shows the outcome.
    ///
    /// - Throws: The exit status if the change is not active afterwards.
    func show(_ answer: OutputOptions, _ change: () async throws(ConnectorError) -> Reload) async throws {
        let reload: Reload
        do throws(ConnectorError) {
            reload = try await change()
        } catch {
            answer.report([error], of: .call)
            throw ExitStatus.failed
        }
        answer.output.write(ReloadDocument(reload: reload))
        guard !reload.isActive else { return }
        throw reload.phase == .read ? ExitStatus.invalidConfiguration : ExitStatus.failed
    }
}
