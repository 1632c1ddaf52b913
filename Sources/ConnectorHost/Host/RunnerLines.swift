// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorIsolation
internal import ConnectorServices
internal import Logging

/// What runners print: lines of their plugins, and what they learn of the sandboxes that those need.
struct RunnerLines: Sendable {
    private let logger: Logger
    private let redactor: Redactor
    private let onLesson: SandboxLesson.Receiver?

    /// Creates a receiver.
    ///
    /// - Parameter onLesson: Receives what is learned, too.
    init(_ logger: Logger, _ redactor: Redactor, onLesson: SandboxLesson.Receiver?) {
        self.logger = logger
        self.redactor = redactor
        self.onLesson = onLesson
    }

    /// Takes a line of a runner, on the runner's thread.
    func take(_ runner: Runner, _ line: String) {
        let line = redactor.redact(line)
        let connectors = runner.gates
        let metadata: Logger.Metadata = [
            "line": "\(line)", "runner": "\(runner.name)", "connectors": "\(connectors.joined(separator: ", "))",
        ]
        guard runner.learnsSandbox, SandboxLesson.isOne(line) else {
            logger.info("plugin printed a line", metadata: metadata)
            return
        }
        // Whoever lets a plugin run without a sandbox wants to see this at any level that shows warnings.
        logger.log(level: onLesson == nil ? .warning : .info, "a sandbox would have refused more", metadata: metadata)
        onLesson?(SandboxLesson(runner: runner.name, connectors: connectors, line: line))
    }
}

/// Something that a sandbox would have refused, as a runner prints it.
package struct SandboxLesson: Sendable {
    /// Takes lessons, on the runners' threads.
    package typealias Receiver = @Sendable (SandboxLesson) -> Void

    /// What the connectors that share the runner call it.
    package let runner: String
    /// The paths of the connectors in it; none yet while the first one's plugin is loaded.
    package let connectors: [String]
    /// Either all that a runner has learned so far, as `"sandbox": {…}`, or a sentence about something that no setting allows.
    package let line: String

    /// How lines begin that a runner prints when it learns.
    static func isOne(_ line: String) -> Bool {
        prefixes.contains(where: line.hasPrefix)
    }

    /// The settings that it names; nil for a sentence.
    package var settings: JSONObject? {
        guard line.hasPrefix(Self.settingsPrefix) else { return nil }
        return (try? JSONValue(parsing: Array("{\(line)}".utf8)))?["sandbox"]?.object
    }

    private static let settingsPrefix = #""sandbox": {"#
    /// Of the lines of `learn.c`.
    private static let prefixes = [
        settingsPrefix, "no setting of the sandbox ", "the sandbox allows ", "no more than 64 paths ",
        "to list / is not learned",
    ]
}
