// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHostCommands

/// Each rule of `connector-host test`, on a plugin that breaks it.
@Suite(.timeLimit(.minutes(5)), .serialized) struct ConformanceRuleTests {
    /// A plugin, and the configuration with which it breaks a rule.
    private struct Mutant {
        var image: String
        var config: JSONObject = [:]
    }

    /// Plugins that break a rule whatever their configuration is; `breaks` breaks any other rule that its configuration names.
    private static let mutants: [String: Mutant] = {
        let trusting = Mutant(image: FixturePlugins.misbehaving("trusts-its-configuration"))
        let constructing = Mutant(image: FixturePlugins.misbehaving("works-in-constructor"))
        let contracts = Mutant(image: FixturePlugins.misbehaving("breaks-contracts"))
        var mutants = [
            "manifest": Mutant(image: FixturePlugins.broken("no-manifest")),
            "configuration": Mutant(image: FixturePlugins.misbehaving("breaks"), config: ["rlue": "open"]),
            "manifest-sidecar": Mutant(image: FixturePlugins.broken("manifest-mismatch")),
            "manifest-abi": Mutant(image: FixturePlugins.broken("unsupported-abi")),
            "image": Mutant(image: FixturePlugins.broken("truncated")),
            "dependencies": Mutant(image: FixturePlugins.broken("missing-dependency")),
            "symbols": Mutant(image: FixturePlugins.broken("symbol-absent")),
            "signatures": Mutant(image: FixturePlugins.broken("signature-mismatch")),
            "loads": Mutant(image: FixturePlugins.misbehaving("null-table")),
            "image-write-execute": Mutant(image: FixturePlugins.broken("executable-stack")),
            "constructors-quiet": constructing, "constructors-leave-process": constructing,
            "create-malformed": trusting, "fuzz-configuration": trusting,
            "create-fails-clean": Mutant(image: FixturePlugins.contract("fails-badly")),
            "destroy-ends": Mutant(image: FixturePlugins.contract("completes-after-destroy")),
            "hosts-declared": Mutant(image: contracts.image, config: ["rule": "hosts-declared"]),
            "secrets-hidden": contracts, "payloads": contracts, "deliver": contracts, "recorded-calls": contracts,
        ]
        for rule in ["documentation", "operations", "fields", "language", "services", "hosts", "secrets", "safe"] {
            mutants["manifest-" + rule] = Mutant(image: FixturePlugins.misbehaving("says-little"))
        }
        return mutants
    }()

    /// What the vendor answers to the plugins that have one, and what a call returned when it was recorded.
    private static let answers = """
        {
            "version": 1, "answers": [{"path": "/*", "json": {}}],
            "calls": [{"operation": "settings/list", "result": {"theme": "dark"}}]
        }
        """

    @Test(arguments: PluginConformance.Rule.all.map(\.id))
    func `a rule catches a plugin that breaks it, and names the command that repeats the check`(_ rule: String)
        async throws
    {
        let mutant =
            Self.mutants[rule] ?? Mutant(image: FixturePlugins.misbehaving("breaks"), config: ["rule": .string(rule)])
        var arguments = [
            "test", mutant.image, "--only", rule, "--format", "json", "--timeout", "500ms", "--strict", "10",
        ]
        if !mutant.config.members.isEmpty { arguments += ["--config", JSONValue.object(mutant.config).description] }
        let workspace = try Workspace()
        if ["payloads", "deliver", "recorded-calls"].contains(rule) {
            try workspace.write(Self.answers, to: "answers.json")
            arguments += ["--answers", "answers.json"]
        }
        let result = try await workspace.program.start(arguments).finish()
        #expect(result.status == 1)
        let document = try JSONValue(parsing: result.output)
        let found = try #require(document["rules"]?.array?.first)
        #expect(["broken", "crashed"].contains(found["verdict"]?.string), "\(result.output)")
        #expect(found["expected"]?.string?.isEmpty == false)
        #expect(found["got"]?.array?.isEmpty == false)
        #expect(found["again"]?.string?.contains("--only \(rule) --seed 1") == true, "\(result.output)")
    }

    @Test func `deliver of a plugin's own capability is checked with events of its operation`() async throws {
        let workspace = try Workspace()
        try workspace.write(Self.answers, to: "answers.json")
        let image = FixturePlugins.misbehaving("breaks-contracts")
        let arguments = ["test", image, "--only", "deliver", "--format", "json", "--answers", "answers.json"]
        let result = try await workspace.program.start(arguments).finish()
        let found = try JSONValue(parsing: result.output)["rules"]?.array?.first?["got"]?.array
        #expect(found == ["analytics/deliver of 3 elements answered []", "jobs/deliver of 3 elements answered []"])
    }

    @Test func `a plugin that closes descriptors of the host does not leave the process as it was`() async throws {
        let image = FixturePlugins.misbehaving("breaks")
        let config = #"{"rule": "closes-descriptors"}"#
        let arguments = ["test", image, "--only", "process-state", "--format", "json", "--config", config]
        let result = try await Program(directory: "/").start(arguments).finish()
        #expect(result.status == 1)
        let found = try JSONValue(parsing: result.output)["rules"]?.array?.first?["got"]?.array
        #expect(found == ["an instance changed descriptors that are not its own: 256, 900"])
    }

    @Test func `another floating-point mode is found after functions of instances and after operations`() async throws {
        let image = FixturePlugins.misbehaving("breaks")
        let config = #"{"rule": "floating-point-mode"}"#
        let arguments = ["test", image, "--only", "floating-point-mode", "--format", "json", "--config", config]
        let result = try await Program(directory: "/").start(arguments).finish()
        let found = try JSONValue(parsing: result.output)["rules"]?.array?.first?["got"]?.array
        let change = "returned with another floating-point mode"
        #expect(found == [.string("open \(change)"), .string("breaks/number \(change)")], "\(result.output)")
    }

    @Test func `a plugin that breaks no rule has the highest level`() async throws {
        let image = FixturePlugins.misbehaving("breaks")
        let result = try await Program(directory: "/").run("test", image, "--strict", "10")
        #expect(result.status == 0, "\(result.output)\(result.error)")
        #expect(result.output.contains("✓ breaks 1.0.0: level 10 of 10"))
    }
}
