// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHostTesting
internal import ConnectorLoading
internal import ConnectorPlatform

/// A process that checks one rule: this program again. What it found, and how far it came, is left in a directory.
struct RuleProcess: Sendable {
    let rule: PluginConformance.Rule
    /// The plugin's file.
    let path: String
    /// The options of the check.
    let arguments: [String]
    /// The directory, which exists.
    let directory: String

    static func answerFile(in directory: String) -> String { "\(directory)/answer.json" }
    static func traceFile(in directory: String) -> String { "\(directory)/calls" }
    static func crashFile(in directory: String) -> String { "\(directory)/crash" }
    static func scratch(in directory: String) -> String { "\(directory)/state" }

    /// The longest that a check takes.
    private static let timeout: Duration = .seconds(60)
    /// How many of the last calls are shown.
    private static let callCount = 6

    /// Runs the process to its end, which blocks the thread.
    func run() -> (result: ConformanceReport.Result, answer: RuleAnswer?) {
        let command = ChildCommand(
            [ProgramFiles.program, "test", path, "--only", rule.id, "--report", directory] + arguments,
            // The plugin's libraries may need any variable.
            environment: ProcessEnvironment.variables,
            timeout: Self.timeout,
            limit: 1 << 20
        )
        let clock = ContinuousClock()
        let start = clock.now
        var end: String?
        do throws(ChildCommand.Failure) {
            _ = try command.output()
        } catch {
            end = Self.description(of: error)
        }
        let duration = clock.now - start
        let answer = (try? ConformanceSubject.text(of: Self.answerFile(in: directory)))
            .flatMap { try? JSONValue(parsing: $0) }.flatMap(RuleAnswer.init)
        var result = ConformanceReport.Result(rule, answer?.verdict ?? .kept)
        result.duration = duration
        let calls = (try? ConformanceSubject.text(of: Self.traceFile(in: directory))) ?? []
        let crash = CrashNote.take(from: Self.crashFile(in: directory))
        if answer == nil || answer?.broken.isEmpty == false {
            result.calls = String(decoding: calls, as: UTF8.self).split(separator: "\n").suffix(Self.callCount)
                .map { String($0).excerpt(of: 300) }
        }
        if answer == nil || crash != nil {
            result.verdict = .crashed
            result.crash = crash?.withSymbols()
            result.got = [crash?.withSymbols().description ?? end ?? "the process ended without an answer"]
        }
        return (result, answer)
    }

    private static func description(of failure: ChildCommand.Failure) -> String {
        switch failure {
        case .notStarted(let number): "the process could not be started: \(SystemError(number).text)"
        case .status(let status): "the process ended with the status \(status)"
        case .signal(let signal): "the process ended with the signal \(signal)"
        case .overdue: "the check did not end within \(timeout)"
        case .tooLong: "the plugin wrote without end"
        }
    }
}
