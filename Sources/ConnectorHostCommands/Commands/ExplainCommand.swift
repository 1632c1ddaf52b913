// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase

/// `connector-host explain`: says what an error code means, what causes the error, and how to fix it.
struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say what an error code means, what usually causes it, and what to do.",
        discussion: """
            The code is the word in square brackets behind an error's message, and "code" in --json documents. Without a code, all of \
            them are listed.

            Exit status: 0; 1 if there is no such code; 64 for wrong usage.

            Examples:
              connector-host explain not-locked
              connector-host explain
            """
    )

    @Argument(
        help: "The code.",
        completion: .list(ErrorExplanation.all.map(\.code.rawValue))
    )
    var code: String?

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        guard let code else {
            return answer.output.write(ExplanationDocument(explanations: ErrorExplanation.all, isList: true))
        }
        let explanation: ErrorExplanation
        do {
            explanation = try ErrorExplanation.of(code)
        } catch {
            answer.report([error])
            throw ExitStatus.failed
        }
        answer.output.write(ExplanationDocument(explanations: [explanation], isList: false))
    }
}
