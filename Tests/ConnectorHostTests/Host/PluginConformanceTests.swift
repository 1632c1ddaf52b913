// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The suite that plugin authors run, on plugins that keep the rules and on ones that break them.
@Suite(.timeLimit(.minutes(10)), .serialized) struct PluginConformanceTests {
    /// For plugins that break a rule: the suite does not wait long for what never comes.
    private let options = PluginConformance.Options(timeout: .milliseconds(300), patience: .milliseconds(60), cycles: 2)
    /// For plugins that conform: a busy machine may need long for what comes, and the tests of the others wait for what must not happen.
    private let conforming = PluginConformance.Options(timeout: .seconds(10), patience: .milliseconds(10), cycles: 2)

    private func rules(_ path: String, _ options: PluginConformance.Options? = nil) async -> Set<PluginConformance.Rule>
    {
        Set(await PluginConformance.check(path, options: options ?? self.options).map(\.rule))
    }

    @Test(arguments: ["sync", "timer", "frozen-c"])
    func `a plugin that keeps the rules conforms`(_ name: String) async {
        let findings = await PluginConformance.check(Fixtures.plugin(name), options: conforming)
        #expect(findings.isEmpty)
    }

    @Test(arguments: ["calls", "serial", "values"])
    func `a plugin of the call contract conforms`(_ name: String) async {
        #expect(await PluginConformance.check(Fixtures.contract(name), options: conforming).isEmpty)
    }

    @Test(.enabled("rustc is not installed") { Fixtures.has("rustc") })
    func `a plugin in Rust conforms`() async {
        #expect(await PluginConformance.check(Fixtures.plugin("frozen-rust"), options: conforming).isEmpty)
    }

    @Test(
        .enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"),
        arguments: [
            "segment", "sentry", "bugsnag", "posthog", "influxdb", "kinto", "nominatim", "photon", "google", "parse",
            "settings-file", "system-sensor", "sqlite", "poll", "folder", "webdav", "s3", "opencage",
            "pushgateway", "victoriametrics", "clickhouse", "amplitude", "mixpanel", "ga4", "rollbar",
            "matomo", "postgrest", "datasette", "etcd",
        ]
    )
    func `a plugin in Swift conforms, with values made for the fields that it requires`(_ name: String) async throws {
        let image = try BuiltProducts.library(name)
        var options = conforming
        if name == "nominatim" { options.config = ["requestsPerSecond": 1000] }
        let findings = await PluginConformance.check(image, options: options)
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test func `for a plugin that refuses every generated configuration, the suite asks for one`() async throws {
        try await Fixtures.withDirectory { directory in
            let image = try Fixtures.compile(
                """
                #include "fixture.h"
                CONNECTOR_MANIFEST({"manifest": 1, "id": "picky", "version": "1.0.0", "abi": [1, 1],
                    "entry": "fixture_entry", "configuration": {"code": {"type": "string", "required": true}}});
                static int32_t create(const connector_host *host, const char *config, uint64_t length, void **instance,
                                      connector_error *error) {
                    (void)host, (void)config, (void)length;
                    *instance = NULL;
                    error->code = CONNECTOR_INVALID;
                    strcpy(error->message, "the code has seven digits");
                    return CONNECTOR_INVALID;
                }
                static int32_t open_gate(void *instance, const connector_call *call, connector_error *error) {
                    (void)instance, (void)call, (void)error;
                    return CONNECTOR_FAILED;
                }
                static void destroy(void *instance) { (void)instance; }
                static const connector_plugin table = {sizeof table, 1, create, open_gate, NULL, NULL, destroy, NULL};
                CONNECTOR_EXPORT const connector_plugin *fixture_entry(void) { return &table; }
                """,
                into: directory,
                as: "picky"
            )
            let findings = await PluginConformance.check(image, options: options)
            #expect(findings.map(\.rule) == [.configuration])
            #expect(findings.first?.message.contains("the code has seven digits") == true)
        }
    }

    @Test func `a gate whose server is unreachable conforms`() async {
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
        ("opens-twice", "completes-once"), ("never-opens", "open"), ("unknown-operation", "completes-own"),
        ("garbage-evidence", "open-evidence"), ("null-table", "loads"), ("null-function", "loads"),
        ("short-table", "loads"),
    ])
    func `a plugin that misbehaves is found out`(_ name: String, _ rule: String) async throws {
        #expect(await rules(Fixtures.misbehaving(name)).contains(try #require(PluginConformance.Rule.named(rule))))
    }

    @Test(arguments: [
        ("prints", "standard-output"), ("completes-after-destroy", "destroy-ends"),
        ("completes-on-cancel", "cancel-unknown"), ("completes-on-cancel", "cancel-completed"),
        ("fails-badly", "create-fails-clean"),
        ("fails-badly", "error-object"), ("fails-badly", "completes-refused"),
    ])
    func `a plugin that breaks a rule of an instance's life is found out`(_ name: String, _ rule: String) async throws {
        #expect(await rules(Fixtures.contract(name)).contains(try #require(PluginConformance.Rule.named(rule))))
    }

    @Test(arguments: ["logs-after-destroy", "asks-after-destroy"])
    func `a plugin that turns to the host after destroy is found out`(_ act: String) async {
        var options = options
        options.config = ["rule": .string(act)]
        #expect(await rules(Fixtures.misbehaving("breaks"), options).contains(.destruction))
    }

    @Test func `a plugin that holds its thread is found out`() async {
        var options = options
        options.config = ["opens": "blocks"]
        #expect(await rules(Fixtures.contract("calls"), options).contains(.blocking))
    }

    @Test(arguments: ["not-elf", "truncated", "no-manifest", "symbol-absent", "missing-dependency", "unsupported-abi"])
    func `an image that does not load is found out, with the reason`(_ name: String) async {
        let findings = await PluginConformance.check(Fixtures.broken(name), options: options)
        #expect(!findings.isEmpty)
        #expect(findings.allSatisfy { $0.rule.level == 1 }, "\(findings)")
        #expect(findings.first?.description.contains("[") == true)
    }

    @Test func `a configuration that the manifest does not allow is the caller's mistake`() async {
        var options = options
        options.config = ["nmae": "x"]
        let findings = await PluginConformance.check(Fixtures.contract("calls"), options: options)
        #expect(findings.map(\.rule) == [.configuration])
        #expect(findings.first?.message.hasPrefix("plugin: ") == true, "nobody wrote a text that has positions")
        #expect(findings.first?.message.contains("did you mean \"name\"?") == true)
    }

    @Test func `a foreign library conforms, since it has no instances to check`() async {
        #expect(await PluginConformance.check("\(Fixtures.plugins)/system.connector.json", options: options).isEmpty)
    }
}
