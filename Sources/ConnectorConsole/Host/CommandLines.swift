// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Makes the command lines that do what the console does.
package struct CommandLines: Sendable, Hashable {
    /// The file to name; nil for `connectors.json` in the working directory.
    package var file: String?
    /// Whether the gates open against simulators.
    package var isSimulated: Bool

    /// Takes the options that every command gets.
    package init(file: String? = nil, isSimulated: Bool = false) {
        self.file = file
        self.isSimulated = isSimulated
    }

    /// A command, with the file it works on.
    package func command(_ words: String..., takesSimulation: Bool = false) -> String {
        let file = file.map { ["--config", $0] } ?? []
        let simulation = takesSimulation && isSimulated ? ["--simulate"] : []
        return CommandLineText.command(["connector-host"] + words + file + simulation)
    }

    /// The command that calls an operation, or sends an event.
    ///
    /// - Parameter words: The arguments.
    package func call(_ path: String, _ operation: String, _ words: [String], isDelivered: Bool) -> String {
        // A simulated outbox is in the memory of one process, so that the event is delivered at once.
        let verb = isDelivered && !isSimulated ? "send" : "call"
        let options = (file.map { ["--config", $0] } ?? []) + (isSimulated ? ["--simulate"] : [])
        return CommandLineText.command(["connector-host", verb, path, operation] + words + options)
    }

    /// A command on the outbox; nil with simulators, whose outbox is in the memory of one process.
    package func outbox(_ words: String..., connector: String? = nil) -> String? {
        guard !isSimulated else { return nil }
        let options = (connector.map { ["--gate", $0] } ?? []) + (file.map { ["--config", $0] } ?? [])
        return CommandLineText.command(["connector-host", "outbox"] + words + options)
    }
}
