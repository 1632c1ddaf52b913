// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorIsolation
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging

/// Logs what runners print, what their sandboxes refuse, and what the runners learn about the sandboxes that their plugins need.
struct RunnerLog: Sendable {
    private let logger: Logger
    private let redactor: Redactor
    private let onLesson: SandboxLesson.Receiver?

    /// Creates a log.
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
        var metadata = Self.metadata(of: runner, connectors)
        metadata["line"] = "\(line)"
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

    /// Takes a call that a runner's sandbox refuses for the first time, on the runner's thread.
    func take(_ runner: Runner, _ refusal: SandboxRefusal) {
        var metadata = Self.metadata(of: runner, runner.gates)
        metadata["call"] = "\(refusal.call)"
        metadata["reason"] = "it \(refusal.reason)"
        metadata["fix"] = "\(Self.remedy(for: refusal))"
        logger.notice("the sandbox refused a plugin's system call", metadata: metadata)
    }

    private static func remedy(for refusal: SandboxRefusal) -> String {
        switch refusal.setting {
        case "network": #"if the plugin needs it, write "network": true in its "sandbox""#
        case "write": #"if the plugin needs it, name the path under "write" in its "sandbox": --learn finds it"#
        case "read": #"if the plugin needs it, name a path under "read" in its "sandbox": --learn finds it"#
        default: "no setting of the sandbox allows it"
        }
    }

    private static func metadata(of runner: Runner, _ connectors: [String]) -> Logger.Metadata {
        ["runner": "\(runner.name)", "connectors": "\(connectors.joined(separator: ", "))"]
    }
}
