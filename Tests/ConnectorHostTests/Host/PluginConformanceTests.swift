// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The suite that plugin authors run, on plugins that keep the rules and on ones that break them.
@Suite(.timeLimit(.minutes(10)), .serialized) struct PluginConformanceTests {
    private let options = PluginConformance.Options(timeout: .milliseconds(300), patience: .milliseconds(60), cycles: 2)

    private func rules(_ path: String, _ options: PluginConformance.Options? = nil) async -> Set<PluginConformance.Rule>
    {
        Set(await PluginConformance.check(path, options: options ?? self.options).map(\.rule))
    }

    @Test(arguments: ["sync", "timer", "frozen-c"])
    func `a plugin that keeps the rules conforms`(_ name: String) async {
        let findings = await PluginConformance.check(Fixtures.plugin(name), options: options)
        #expect(findings.isEmpty)
    }

    @Test(arguments: ["calls", "serial", "values"])
    func `a plugin of the call contract conforms`(_ name: String) async {
        #expect(await PluginConformance.check(Fixtures.contract(name), options: options).isEmpty)
    }

    @Test(.enabled("rustc is not installed") { Fixtures.has("rustc") })
    func `a plugin in Rust conforms`() async {
        #expect(await PluginConformance.check(Fixtures.plugin("frozen-rust"), options: options).isEmpty)
    }

    @Test func `a gate whose server is not there conforms`() async {
        var options = options
        options.config = ["endpoint": "http://127.0.0.1:1/"]
        #expect(await PluginConformance.check(Fixtures.plugin("http"), options: options).isEmpty)
    }

    @Test func `a gate that its vendor refuses conforms`() async {
        var options = options
        options.config = ["opens": "refuses"]
        #expect(await PluginConformance.check(Fixtures.contract("calls"), options: options).isEmpty)
    }

    @Test(arguments: [
        ("opens-twice", "completion"), ("never-opens", "completion"), ("unknown-operation", "completion"),
        ("garbage-evidence", "evidence"), ("null-table", "loading"), ("null-function", "loading"),
        ("short-table", "loading"),
    ])
    func `a plugin that misbehaves is found out`(_ name: String, _ rule: String) async {
        #expect(await rules(Fixtures.misbehaving(name)).contains(PluginConformance.Rule(rawValue: rule)))
    }

    @Test(arguments: [
        ("prints", "standard-output"), ("completes-after-destroy", "destruction"),
        ("completes-on-cancel", "cancellation"), ("completes-on-cancel", "completion"), ("fails-badly", "creation"),
        ("fails-badly", "errors"), ("fails-badly", "completion"),
    ])
    func `a plugin that breaks a rule of its life is found out`(_ name: String, _ rule: String) async {
        #expect(await rules(Fixtures.contract(name)).contains(PluginConformance.Rule(rawValue: rule)))
    }

    @Test func `a plugin that holds its thread is found out`() async {
        var options = options
        options.config = ["opens": "blocks"]
        #expect(await rules(Fixtures.contract("calls"), options).contains(.blocking))
    }

    @Test(arguments: ["not-elf", "truncated", "no-manifest", "symbol-absent", "missing-dependency", "unsupported-abi"])
    func `an image that does not load is found out, with the reason`(_ name: String) async {
        let findings = await PluginConformance.check(Fixtures.broken(name), options: options)
        #expect(findings.count == 1)
        #expect(findings.first.map { [.manifest, .loading].contains($0.rule) } == true)
        #expect(findings.first?.description.contains("[") == true)
    }

    @Test func `a configuration that the manifest does not allow is the caller's mistake`() async {
        var options = options
        options.config = ["nmae": "x"]
        let findings = await PluginConformance.check(Fixtures.contract("calls"), options: options)
        #expect(findings.map(\.rule) == [.configuration])
        #expect(findings.first?.message.contains("did you mean \"name\"?") == true)
    }

    @Test func `a foreign library has no life to be checked`() async {
        #expect(await PluginConformance.check("\(Fixtures.plugins)/system.connector.json", options: options).isEmpty)
    }
}
