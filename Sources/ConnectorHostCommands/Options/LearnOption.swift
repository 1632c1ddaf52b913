// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost
internal import ConnectorPlatform
internal import Synchronization

/// Whether a command lets plugins run without a sandbox and prints the sandbox that each one needs.
struct LearnOption: ParsableArguments {
    @Flag(
        help: """
            Run every plugin in a runner that refuses nothing, whatever the file says, and print the "sandbox" that it would have needed.
            """
    )
    private var learn = false

    /// Whether the command learns.
    var isGiven: Bool { learn }

    /// An object that collects the lessons; nil if the command does not learn.
    func lessons() -> SandboxLessons? { learn ? SandboxLessons() : nil }
}

/// The lessons of runners during a command.
final class SandboxLessons: Sendable {
    private struct Lesson: Sendable {
        var connectors: Set<String> = []
        /// What the sandbox has to allow. A restarted runner learns from scratch, so all of its lessons are merged.
        var settings: JSONObject = [:]
        /// What no setting can allow, and why nothing could be learned.
        var refusals: [String] = []
        var hasFailed = false
    }

    /// The lessons, by the name of the runner.
    private let lessons = Mutex<[String: Lesson]>([:])

    /// Adds a lesson of a runner.
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
            known.hasFailed = known.hasFailed || lesson.isFailure
            lessons[lesson.runner] = known
        }
    }

    /// Prints the lessons on standard error.
    ///
    /// - Parameters:
    ///   - runners: The runners of the command, with the paths of their connectors.
    ///   - configuration: What the sandboxes allow without the lessons.
    /// - Returns: Whether every runner could learn.
    func write(of runners: [RunnerReport], in configuration: Configuration) -> Bool {
        let allowing = configuration.enabledLeaves.filter { $0.connector.isolation.sandbox.allowsMore }
        let allowed = Set(allowing.map { $0.connector.path })
        var lessons = lessons.withLock(\.self)
        for runner in runners { lessons[runner.name, default: Lesson()].connectors.formUnion(runner.connectors) }
        for (name, lesson) in lessons.sorted(by: { $0.key < $1.key }) {
            // The connectors of a plugin that ended its runner before it had an instance are unknown.
            let connectors = lesson.connectors.isEmpty ? name : lesson.connectors.sorted().joined(separator: ", ")
            for refusal in lesson.refusals { StandardStream.error.writeLine("\(connectors): \(refusal)") }
            let isEmpty = lesson.settings.members.isEmpty
            guard !isEmpty || lesson.refusals.isEmpty else { continue }
            // The lessons leave out what the file already allows.
            let settings =
                lesson.connectors.isDisjoint(with: allowed) ? "the default sandbox" : "its \"sandbox\" in the file"
            let needs =
                isEmpty ? "needs nothing that \(settings) refuses" : "\"sandbox\": \(JSONValue.object(lesson.settings))"
            StandardStream.error.writeLine("\(connectors): \(needs)")
        }
        return !lessons.values.contains(where: \.hasFailed)
    }
}

extension JSONValue {
    /// An array, after the elements of another one, without duplicates; any other value as it is.
    fileprivate func joined(_ other: JSONValue?) -> JSONValue {
        guard let own = array, let known = other?.array else { return self }
        return .array(known + own.filter { !known.contains($0) })
    }
}
