// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The whole program, so that the executable is nothing but its entry point.
public enum CommandLineProgram {
    /// Runs the command that the process's arguments name; exits unless that command succeeded.
    public static func main() async {
        await ConnectorHostCommand.main()
    }
}
