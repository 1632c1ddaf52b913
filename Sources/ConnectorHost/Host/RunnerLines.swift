// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorIsolation
internal import ConnectorServices
internal import Logging

/// Handles what runners print: lines of their plugins, and what the runners learn about the sandboxes that the plugins
/// need.
struct RunnerLines: Sendable {
    private let logger: Logger
    private let redactor: Redactor
    private let onLesson: SandboxLesson.Receiver?

    /// Creates a receiver.
    ///
    /// - Parameter onLesson: Also receives what the runners learn.
    init(_ logger: Logger, _ redactor: Redactor, onLesson: SandboxLesson.Receiver?) {
        self.logger = logger
        self.redactor = redactor
        self.onLesson = onLesson
    }

    /// Takes a line of a runner, on the runner's thread.
    func take(_ runner: Runner, _ line: String) {
        let line = redactor.redact(line)
        let connectors = runner.gates
        var metadata: Logger.Metadata = [
            "line": "\(line)", "runner": "\(runner.name)", "connectors": "\(connectors.joined(separator: ", "))",
        ]
        guard runner.learnsSandbox, let lesson = SandboxLesson(line, runner: runner.name, connectors: connectors) else {
            logger.info("plugin printed a line", metadata: metadata)
            return
        }
        metadata["line"] = "\(lesson.text)"
        // A plugin that runs without a sandbox is worth a warning, unless a command shows the lessons itself.
        let level = onLesson == nil ? Logger.Level.warning : .info
        if lesson.isFailure {
            logger.log(level: level, "plugin runs without a sandbox, and nothing is learned", metadata: metadata)
        } else {
            logger.log(level: level, "a sandbox would have refused more", metadata: metadata)
        }
        onLesson?(lesson)
    }
}
