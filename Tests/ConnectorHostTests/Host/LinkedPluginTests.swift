// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import settings_file

/// Leaves whose plugins the application links. `SettingsClientTests` runs the contract of the adapter on such a leaf, too.
@Suite struct LinkedPluginTests {
    private let directory = ScratchDirectory()

    private func host(_ configuration: Configuration) throws -> ConnectorHost {
        try ConnectorHost(configuration, options: .init(stateDirectory: directory.path))
    }

    @Test func `a leaf of the application stands beside those of the file, and may wait for them`() async throws {
        directory.write(
            Array(
                #"""
                {"version": 1, "connectors": [{"name": "group", "connectors": [
                  {"name": "simple", "plugin": "\#(Fixtures.plugin("sync"))"}]}]}
                """#.utf8
            ),
            to: "connectors.json"
        )
        let file = try Configuration.read(file: "\(directory.path)/connectors.json")
        let host = try host(file.appending([Connector("settings", plugin: SettingsFile.self, after: ["group/simple"])]))
        let report = await host.open()
        #expect(report.gates.map(\.path) == ["group", "group/simple", "settings"])
        #expect(report.isReady)
        #expect(host.configuration.includedFiles == [])
        try await host.settings("settings").set("dark", for: "theme")
        #expect(try await host.gate("settings").call("get", ["key": "theme"]) == "dark")
        await host.close()
    }

    @Test func `the report says that the plugin is linked`() async throws {
        let host = try host(Configuration(connectors: [Connector("settings", plugin: SettingsFile.self)]))
        let report = await host.open()
        let plugin = try #require(report["settings"]?.plugin)
        #expect(plugin.isLinked && plugin.sha256 == nil)
        #expect("\(plugin)" == "settings-file 1.0.0 (linked)")
        let identity: JSONValue = ["id": "settings-file", "version": "1.0.0", "linked": true, "local": true]
        #expect(report.json["gates"]?[0]?["plugin"] == identity)
        #expect(report["settings"]?.warnings == [])
        await host.close()
    }

    @Test func `a linked plugin conforms`() async {
        #expect(await PluginConformance.check(SettingsFile.self, options: .init(timeout: .seconds(20))) == [])
    }

    @Test func `a field that the manifest does not know is an error`() {
        let error = #expect(throws: ConfigurationErrors.self) {
            let leaf = Connector("settings", plugin: SettingsFile.self, config: ["default": [:]])
            return try host(Configuration(connectors: [Connector("group", connectors: [leaf])]))
        }
        #expect(error?.errors.map(\.code) == [.unknownKey])
        #expect(error?.errors.first?.connector == "group/settings")
    }

    @Test func `a name that the file uses, and a connector that does not exist, are errors`() throws {
        let text = #"{"version": 1, "connectors": [{"name": "settings", "plugin": "settings-file"}]}"#
        let file = try Configuration(parsing: text, file: "c.json")
        let error = #expect(throws: ConfigurationErrors.self) {
            try file.appending([
                Connector("settings", plugin: SettingsFile.self),
                Connector("b", plugin: SettingsFile.self, after: ["x"]),
                Connector("c", plugin: SettingsFile.self, timeout: .zero),
            ])
        }
        let messages = error?.errors.map(\.description) ?? []
        #expect(messages.count == 3, "\(messages)")
        #expect(messages.contains { $0.contains("already used by the connector at c.json:1:40 [duplicate-name]") })
        #expect(messages.contains { $0.contains("b: \"after\" names \"x\", which does not exist") })
        #expect(messages.contains { $0.contains("c: timeout is 0.0 seconds") })
    }

    /// A plugin with a manifest and no functions.
    private enum Hollow: LinkablePlugin {
        static var linkedPlugin: LinkedPlugin { plugin(entry: "hollow_entry") }

        static func plugin(abi: Int = 1, entry: String) -> LinkedPlugin {
            let manifest = """
                {"manifest": 1, "id": "hollow", "version": "1.0.0", "abi": [\(abi), \(abi)], "entry": "\(entry)"}
                """
            return unsafe LinkedPlugin(manifest: Array(manifest.utf8), functions: [:])
        }
    }

    /// A plugin for an ABI that does not exist yet.
    private enum Future: LinkablePlugin {
        static var linkedPlugin: LinkedPlugin { Hollow.plugin(abi: 99, entry: "future_entry") }
    }

    /// A plugin whose manifest is not JSON.
    private enum Garbled: LinkablePlugin {
        static var linkedPlugin: LinkedPlugin { unsafe LinkedPlugin(manifest: [0xFF, 0x00], functions: [:]) }
    }

    @Test func `a linked plugin that breaks the rules fails alone, and says why`() async throws {
        let types: [(name: String, type: any LinkablePlugin.Type)] = [
            ("hollow", Hollow.self), ("future", Future.self), ("garbled", Garbled.self), ("good", SettingsFile.self),
        ]
        let host = try host(
            Configuration(connectors: types.map { Connector($0.name, plugin: $0.type, retry: nil, heal: nil) })
        )
        let report = await host.open()
        #expect(report["good"]?.state == .open)
        #expect(report["hollow"]?.error?.code == .symbolAbsent)
        #expect(
            report["hollow"]?.error?.message
                == "hollow, linked into the application, does not export hollow_entry, which its manifest names as its entry function"
        )
        #expect(report["future"]?.error?.code == .unsupportedABI)
        #expect(report["garbled"]?.error != nil && report["garbled"]?.state == .failed)
        await host.close()
    }
}
