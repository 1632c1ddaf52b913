// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorRunner

/// The program: everything is in the library, where tests reach it.
@main
enum ConnectorRunnerProgram {
    /// Serves the host that has started this process, until that ends.
    static func main() {
        RunnerMain.run(CommandLine.arguments)
    }
}
