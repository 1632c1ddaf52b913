// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Builds the command lines equivalent to the console's scenes and actions.
package struct CommandLines: Sendable, Hashable {
    /// The file to pass; nil for `connectors.json` in the working directory.
    package var file: String?
    /// Whether the gates open against simulators.
    package var isSimulated: Bool

    /// Creates a builder with the options to pass to every command.
    package init(file: String? = nil, isSimulated: Bool = false) {
        self.file = file
        self.isSimulated = isSimulated
    }

    /// A command that takes the file.
    package func command(_ words: String..., takesSimulation: Bool = false) -> String {
        let file = file.map { ["--config", $0] } ?? []
        let simulation = takesSimulation && isSimulated ? ["--simulate"] : []
        return CommandLineText.command(["connector-host"] + words + file + simulation)
    }

    /// The command that calls an operation, or sends an event.
    ///
    /// - Parameter words: The arguments.
    package func call(_ path: String, _ operation: String, _ words: [String], isDelivered: Bool) -> String {
        let verb = isDelivered ? "send" : "call"
        let options = (file.map { ["--config", $0] } ?? []) + (isSimulated ? ["--simulate"] : [])
        return CommandLineText.command(["connector-host", verb, path, operation] + words + options)
    }

    /// A command on the outbox; nil with simulators, because their outbox exists only in the memory of one process.
    package func outbox(_ words: String..., connector: String? = nil) -> String? {
        guard !isSimulated else { return nil }
        let options = (connector.map { ["--gate", $0] } ?? []) + (file.map { ["--config", $0] } ?? [])
        return CommandLineText.command(["connector-host", "outbox"] + words + options)
    }
}
