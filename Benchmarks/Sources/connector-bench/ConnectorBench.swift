// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The program: `run` measures everything, `open` is what it starts for every sample of opening gates.
@main
enum ConnectorBench {
    /// Does what the arguments name.
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case "open" where arguments.count == 2: try await Opening.measure(file: arguments[2])
        default: throw Failure("usage: connector-bench open FILE")
        }
    }
}
