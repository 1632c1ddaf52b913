// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import Testing

/// Arguments, help and completions.
@Suite struct UsageTests {
    @Test(arguments: [
        ["no-such-command"], ["status", "--no-such-option"], ["status", "--timeout", "5"], ["status", "extra"],
        ["simulate", "--vendor", "nobody"], ["simulate", "--fault", "segment"], ["simulate", "--port", "70000"],
        ["status", "--log-level", "loud"], ["inspect"],
    ])
    func `wrong usage is status 64, told on standard error`(arguments: [String]) async throws {
        let result = try await Program(directory: "/").start(arguments).finish()
        #expect(result.status == 64)
        #expect(result.output == "")
        #expect(result.error.hasPrefix("Error: "))
        #expect(result.error.contains("Usage: connector-host"))
    }

    @Test(arguments: [
        "status", "validate", "schema", "plugins", "inspect", "diff", "lock", "simulate", "operations", "call", "watch",
        "run", "plan", "apply", "reload", "explain",
    ])
    func `the help of every command has an example`(command: String) async throws {
        let result = try await Program(directory: "/").run(command, "--help")
        #expect(result.status == 0)
        #expect(result.error == "")
        #expect(result.output.contains("USAGE: connector-host \(command)"))
        #expect(result.output.contains("Examples:\n"))
        #expect(result.output.contains("  connector-host \(command)"))
    }

    @Test func `the version is the one that README and CHANGELOG name`() async throws {
        let result = try await Program(directory: "/").run("--version")
        #expect(result.status == 0)
        #expect(result.output == ConnectorHost.version + "\n")
        #expect(try readFile("README.md").contains("from: \"\(ConnectorHost.version)\""))
        #expect(try readFile("CHANGELOG.md").contains("\n## \(ConnectorHost.version)\n"))
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `completions are made for every shell`(shell: String) async throws {
        let result = try await Program(directory: "/").run("--generate-completion-script", shell)
        #expect(result.status == 0)
        #expect(result.output.contains("simulate"))
        #expect(result.output.contains("connector-host"))
    }
}
