// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHostTesting
internal import ConnectorLoading
internal import ConnectorPlatform

/// A second process of this program, which checks one rule. It leaves its findings and its progress in a directory.
struct RuleProcess: Sendable {
    let rule: PluginConformance.Rule
    /// The plugin's file.
    let path: String
    /// The options of the check.
    let arguments: [String]
    /// The directory for the findings, which must exist.
    let directory: String

    static func answerFile(in directory: String) -> String { "\(directory)/answer.json" }
    static func traceFile(in directory: String) -> String { "\(directory)/calls" }
    static func crashFile(in directory: String) -> String { "\(directory)/crash" }
    static func scratch(in directory: String) -> String { "\(directory)/state" }

    /// The maximum duration of a check, in seconds.
    static let timeout: UInt32 = 60
    /// The number of last calls to show.
    private static let callCount = 6

    /// Runs the process to its end, or kills it once it is cancelled. Blocks the calling thread.
    func run(unless isCancelled: () -> Bool) -> (result: ConformanceReport.Result, answer: RuleAnswer?) {
        let command = ChildCommand(
            [ProgramFiles.program, "test", path, "--only", rule.id, "--report", directory] + arguments,
            // The plugin's libraries may need any of the variables.
            environment: .current,
            timeout: .seconds(Self.timeout),
            limit: 1 << 20
        )
        let clock = ContinuousClock()
        let start = clock.now
        var end: String?
        do throws(ChildCommand.Failure) {
            _ = try command.output(unless: isCancelled)
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
        case .unknownEnd: "the process ended, and the system does not know how"
        case .overdue: "the check did not end within \(timeout) seconds"
        case .tooLong: "the plugin wrote without end"
        }
    }
}
