// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorPlatform

/// The whole program; the executable is only its entry point.
public enum CommandLineProgram {
    /// Runs the command that the process's arguments name, and exits with its status, even if a plugin still holds a
    /// thread.
    public static func main() async -> Never {
        CrashNote.install()
        do {
            var command = try ConnectorHostCommand.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            ExitWatch.start(status: 0)
            ConnectorHostCommand.exit()
        } catch {
            ExitWatch.start(status: ConnectorHostCommand.exitCode(for: error).rawValue)
            ConnectorHostCommand.exit(withError: error)
        }
    }
}
