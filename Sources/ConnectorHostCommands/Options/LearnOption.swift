// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost
internal import Synchronization

/// Whether a command lets plugins run without a sandbox, and prints the one that each needs.
struct LearnOption: ParsableArguments {
    @Flag(
        help: """
            Run every plugin in a runner that refuses nothing, whatever the file says, and print the "sandbox" that it would have needed.
            """
    )
    private var learn = false

    /// Whether the command learns.
    var isGiven: Bool { learn }

    /// What takes down the lessons; nil if the command does not learn.
    func lessons() -> SandboxLessons? { learn ? SandboxLessons() : nil }
}

/// What runners have learned during a command.
final class SandboxLessons: Sendable {
    private struct Lesson: Sendable {
        var connectors: Set<String> = []
        /// What a sandbox has to allow: a runner that has started again begins again, so everything counts.
        var settings: JSONObject = [:]
        /// What no setting allows.
        var refusals: [String] = []
    }

    /// By the names of the runners.
    private let lessons = Mutex<[String: Lesson]>([:])

    /// Takes a lesson of a runner.
    func take(_ lesson: SandboxLesson) {
        lessons.withLock { lessons in
            var known = lessons[lesson.runner] ?? Lesson()
            known.connectors.formUnion(lesson.connectors)
            if let settings = lesson.settings {
                for member in settings.members {
                    known.settings[member.name] = member.value.joined(known.settings[member.name])
                }
            } else if !known.refusals.contains(lesson.text) {
                known.refusals.append(lesson.text)
            }
            lessons[lesson.runner] = known
        }
    }

    /// Prints on standard error what was learned.
    ///
    /// - Parameter runners: The runners that there were, with the paths of their connectors.
    func write(of runners: [RunnerReport]) {
        var lessons = lessons.withLock(\.self)
        for runner in runners { lessons[runner.name, default: Lesson()].connectors.formUnion(runner.connectors) }
        for (name, lesson) in lessons.sorted(by: { $0.key < $1.key }) {
            // Those of a plugin that ended its runner before it was an instance are not known.
            let connectors = lesson.connectors.isEmpty ? name : lesson.connectors.sorted().joined(separator: ", ")
            for refusal in lesson.refusals { StandardStream.error.writeLine("\(connectors): \(refusal)") }
            let needs =
                lesson.settings.members.isEmpty
                ? "needs nothing that the default sandbox refuses" : "\"sandbox\": \(JSONValue.object(lesson.settings))"
            StandardStream.error.writeLine("\(connectors): \(needs)")
        }
    }
}

extension JSONValue {
    /// An array with the elements of another one that it does not have; any other value as it is.
    fileprivate func joined(_ other: JSONValue?) -> JSONValue {
        guard let own = array, let known = other?.array else { return self }
        return .array(known + own.filter { !known.contains($0) })
    }
}
