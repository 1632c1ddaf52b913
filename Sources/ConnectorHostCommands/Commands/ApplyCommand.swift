// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost

/// `connector-host apply`: makes exactly the changes that a plan shows.
struct ApplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Do what a plan says, unless something has changed since it was made.",
        discussion: """
            A plan holds the digests of the files, variables, secrets and plugins that it was made from, and of the configuration that \
            ran. If one of them is different, nothing happens, and the command names it and shows the plan as it is now. Without a \
            plan, makes one, shows it, and applies it.

            Exit status: 0 if the plan is active, 1 if it is not, 2 if the file is not valid, 64 for wrong usage.

            Examples:
              connector-host apply
              connector-host plan --json > plan.json; connector-host apply plan.json
            """
    )

    @Argument(
        help: ArgumentHelp("A file that connector-host plan --json has written.", valueName: "plan"),
        completion: .file(extensions: ["json"])
    )
    var path: String?

    @OptionGroup var file: ConfigurationOption

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        let plan: Plan
        if let path {
            do throws(ConnectorError) {
                plan = try Plan(reading: path)
            } catch {
                answer.report([error], of: .call)
                throw ExitStatus.failed
            }
        } else {
            plan = try await file.plan(answer)
            if !answer.isJSON { answer.output.write(PlanDocument(plan: plan)) }
            if plan.isEmpty, !answer.isJSON { return }
        }
        try await file.reload(answer, basis: plan.basis)
    }
}
