// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHostCommands

/// `connector-host test`.
@Suite(.timeLimit(.minutes(5)), .serialized) struct TestCommandTests {
    private let image = FixturePlugins.misbehaving("breaks")

    @Test func `a plugin that keeps the rules has the level that was asked for`() async throws {
        let result = try await Program(directory: "/").run("test", image)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        #expect(result.output.contains("✓ breaks 1.0.0: level 5 of 5"))
    }

    @Test(arguments: [
        "open", "create", "probe", "probe-evidence", "close", "completes-once", "completes-refused", "progress-pending",
        "cancel-unknown",
        "deadline-past", "error-status", "error-object", "error-message", "error-utf8", "error-retryable", "error-text",
        "error-help", "leaks-memory", "leaks-descriptors", "leaks-threads", "process-state", "signal-handlers",
        "no-children",
        "standard-output", "services-declared", "reopen", "instances-independent", "fuzz-operations",
    ])
    func `a rule catches the plugin that breaks it, and names the command that does so again`(_ rule: String)
        async throws
    {
        let config = "{\"rule\":\"\(rule)\"}"
        let program = Program(directory: "/")
        let result = try await program.run(
            "test",
            image,
            "--config",
            config,
            "--only",
            rule,
            "--format",
            "json",
            "--timeout",
            "500ms",
            "--strict",
            "10"
        )
        #expect(result.status == 1)
        let document = try JSONValue(parsing: result.output)
        let found = try #require(document["rules"]?.array?.first)
        #expect(["broken", "crashed"].contains(found["verdict"]?.string), "\(result.output)")
        #expect(found["expected"]?.string?.isEmpty == false)
        #expect(found["got"]?.array?.isEmpty == false)
        #expect(found["again"]?.string?.contains("--only \(rule) --seed 1") == true)
    }

    @Test func `a crash has the signal, the function and the last calls`() async throws {
        let result = try await Program(directory: "/").run(
            "test",
            FixturePlugins.misbehaving("crashes-in-open"),
            "--only",
            "open",
            "--format",
            "json"
        )
        #expect(result.status == 1)
        let rule = try #require(try JSONValue(parsing: result.output)["rules"]?.array?.first)
        #expect(rule["verdict"] == "crashed")
        #expect(rule["crash"]?["event"] == "SIGABRT")
        #expect(rule["crash"]?["function"] == "open_crash")
        #expect(rule["calls"]?.array?.last == "open")
    }

    @Test func `what cannot be loaded has no level, and nothing more of it is checked`() async throws {
        let result = try await Program(directory: "/").run("test", FixturePlugins.broken("no-manifest"))
        #expect(result.status == 1)
        #expect(result.output.contains("level 0 of 5"))
        #expect(result.output.contains("was not checked: the file cannot be loaded"))
    }

    @Test func `rules that need a vendor cannot be checked without one, and the level says so`() async throws {
        let result = try await Program(directory: "/").run(
            "test",
            FixturePlugins.good("http"),
            "--strict",
            "7",
            "--only",
            "payloads"
        )
        #expect(result.status == 1)
        #expect(result.output.contains("payloads was not checked: nothing answers in place of the vendor"))
    }

    @Test func `every form of the answer names a broken rule`() async throws {
        let arguments = ["test", image, "--config", "{\"rule\":\"close\"}", "--only", "close", "--timeout", "300ms"]
        let program = Program(directory: "/")
        let tap = try await program.start(arguments + ["--format", "tap"]).finish()
        #expect(tap.lines.prefix(3) == ["TAP version 14", "1..1", "not ok 1 - close"])
        let junit = try await program.start(arguments + ["--format", "junit"]).finish()
        #expect(
            junit.output.contains("failures=\"1\"") && junit.output.contains("<failure message=\"close completes\">")
        )
        let text = try await program.start(arguments).finish()
        #expect(text.output.contains("got: close did not complete within 0.3 seconds"))
    }

    @Test func `a certificate is of the same bytes alone`() async throws {
        let workspace = try Workspace()
        shell("cp '\(image)' '\(workspace.path)/libbreaks.so'")
        let tested = try await workspace.program.run("test", "./libbreaks.so", "--certify", "--strict", "4")
        #expect(tested.status == 0, "\(tested.output)\(tested.error)")
        let certified = try await workspace.program.run("inspect", "libbreaks.so", "--json")
        #expect(try JSONValue(parsing: certified.output)["conformance"]?["level"] == 4)
        shell("printf x >> '\(workspace.path)/libbreaks.so'")
        let changed = try await workspace.program.run("inspect", "libbreaks.so", "--json")
        #expect(try JSONValue(parsing: changed.output)["conformance"] == nil)
    }
}
