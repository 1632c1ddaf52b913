// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHostCommands

/// The program: everything is in the library, where tests reach it.
@main
enum ConnectorHostProgram {
    /// Runs the command that the arguments name, and exits with its status.
    static func main() async {
        await CommandLineProgram.main()
    }
}
