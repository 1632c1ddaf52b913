// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorControl
internal import ConnectorHost

/// `connector-host plan`: shows what a reload would change in the host that runs on the file.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what a reload of the file would change in the host that runs on it.",
        discussion: """
            For each connector: what changes, what it costs, what becomes of its waiting events, and what it newly wants. Nothing is \
            changed. Secrets are shown as fingerprints, whose key only the host has.

            Exit status: 0 if there is nothing to do, 3 if there are changes, 2 if the file is not valid, 1 if no host runs on it, 64 \
            for wrong usage.

            Examples:
              connector-host plan
              connector-host plan --json > plan.json; connector-host apply plan.json
            """
    )

    @OptionGroup var file: ConfigurationOption

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        let plan = try await file.plan(answer)
        answer.output.write(PlanDocument(plan: plan))
        if !plan.isEmpty { throw ExitStatus.changes }
    }
}

extension ConfigurationOption {
    /// The host that runs on the file, even if the file has faults; a host that simulates only if no other runs.
    ///
    /// - Throws: The exit status, after showing the errors.
    func runningHost(_ answer: OutputOptions) async throws -> AttachedHost {
        do throws(ConnectorError) {
            if let host = try await AttachedHost.find(self, on: [.control, .simulated]) { return host }
        } catch {
            answer.report([error], of: .call)
            throw ExitStatus.failed
        }
        // A fault in the file may be the reason that the host cannot be found.
        _ = try answer.checked { () throws(ConfigurationErrors) in
            try Configuration.read(file: file, environment: .process)
        }
        answer.report(
            [ConnectorError(.notOpen, "no host runs on \(file)", fix: "start one with connector-host run")],
            of: .call
        )
        throw ExitStatus.failed
    }

    /// What a reload of the host that runs on the file would change.
    ///
    /// - Throws: The exit status, after showing the errors.
    func plan(_ answer: OutputOptions) async throws -> Plan {
        let host = try await runningHost(answer)
        do throws(ConnectorError) {
            return try await host.plan()
        } catch {
            // Reading the file here, as the host does, finds every fault in it.
            let simulation = host.isSimulated ? SimulationRequest() : nil
            let source = ConfigurationSource(ConnectorHost.Options(), simulating: simulation)
            _ = try answer.checked { () throws(ConfigurationErrors) in try resolve(source) }
            answer.report([error], of: .call)
            throw ExitStatus.failed
        }
    }
}
