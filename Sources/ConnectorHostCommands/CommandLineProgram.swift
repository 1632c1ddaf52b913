// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The whole program; the executable is only its entry point.
public enum CommandLineProgram {
    /// Runs the command that the process's arguments name, and exits unless it succeeds.
    public static func main() async {
        await ConnectorHostCommand.main()
    }
}
