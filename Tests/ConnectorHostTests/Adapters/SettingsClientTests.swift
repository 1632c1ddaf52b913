// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorHostTesting
import ConnectorTestSupport
import Testing

@testable import ConnectorPlatform
@testable import settings_file

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Settings as an application uses them, kept by the adapter `settings-file` on a real disk, whether the host loads the
/// adapter's image or the application links it.
@Suite(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
struct SettingsClientTests {
    private static let theme = Setting("theme", default: "light")
    private static let volume = Setting("audio.volume", default: 0.8)
    private static let first = Setting("name.first", default: "")
    private static let last = Setting("name.last", default: "Nobody")
    private static let name = ComputedSetting(first, last) { first, last in first.isEmpty ? last : "\(first) \(last)" }

    private let directory = ScratchDirectory()

    /// Where the adapter's code is.
    enum Form: CaseIterable {
        case image
        case linked
    }

    /// A host whose gates of the adapter are open.
    private func host(
        _ form: Form,
        gates: [String] = ["settings"],
        state: String = "state"
    ) async throws -> ConnectorHost {
        let config: JSONObject = ["defaults": ["size": 3]]
        let host = try ConnectorHost.testing(
            "[]",
            plugins: form == .image ? [try BuiltProducts.library("settings-file")] : [],
            appending: gates.map { connector(form, $0, config) },
            stateDirectory: "\(directory.path)/\(state)"
        )
        try await host.open().requireReady()
        return host
    }

    /// A leaf of the adapter.
    private func connector(_ form: Form, _ name: String, _ config: JSONObject) -> Connector {
        switch form {
        case .image: Connector(name, plugin: "settings-file", config: config)
        case .linked: Connector(name, plugin: SettingsFile.self, config: config)
        }
    }

    @Test(arguments: Form.allCases)
    func `two gates of one plugin keep settings of their own, even when one opens again`(_ form: Form) async throws {
        let host = try await host(form, gates: ["one", "two"])
        try await host.settings("one").set("dark", for: Self.theme)
        #expect(try await host.settings("one").value(of: Self.theme) == "dark")
        #expect(try await host.settings("two").value(of: Self.theme) == "light")
        try await host.close("one")
        let error = try await failure { () async throws(ConnectorError) in
            try await host.settings("one").value(of: Self.theme)
        }
        #expect(error.code == .notOpen)
        #expect(try await host.settings("two").value(of: Self.theme) == "light")
        try await host.open("one")
        #expect(try await host.settings("one").value(of: Self.theme) == "dark")
        #expect(host.report["one"]?.misbehaviourCount == 0)
        await host.close()
    }

    @Test(arguments: ["none", "process"])
    func `a reload loses no change, although the next instance opens before the earlier one ends`(isolation: String)
        async throws
    {
        let host = try await host(.image)
        let settings = try host.settings("settings")
        let leaf =
            #"{"name": "settings", "plugin": "settings-file", "isolation": "\#(isolation)", "config": {"defaults": {}}}"#
        let next = try Configuration(
            parsing: #"{"version": 1, "connectors": [\#(leaf)]}"#,
            environment: Configuration.Environment([:])
        )
        let reloaded = OneShot<Void>()
        let kept = try await withThrowingTaskGroup(of: [String: JSONValue].self) { group in
            for writer in 0..<8 {
                group.addTask {
                    var kept: [String: JSONValue] = [:]
                    var count: Int64 = 0
                    while count == 0 || reloaded.value == nil {
                        count += 1
                        // A hundred keys each, so that no reload is long enough to exceed the limit of settings.
                        let key = "w\(writer).k\(count % 100)"
                        try await settings.set(.integer(count), for: key)
                        kept[key] = .integer(count)
                    }
                    return kept
                }
            }
            #expect(await host.reload(next).isActive)
            reloaded.send()
            var all: [String: JSONValue] = [:]
            for try await kept in group { all.merge(kept) { _, new in new } }
            return all
        }
        let list = try await settings.list()
        #expect(kept.filter { list[$0.key] != $0.value } == [:])
        await host.close()
    }

    @Test func `two hosts of one application keep each other's settings`() async throws {
        let hosts = [try await host(.image), try await host(.image)]
        var clients: [SettingsClient] = []
        for host in hosts { clients.append(try host.settings("settings")) }
        try await withThrowingTaskGroup { group in
            for (number, settings) in clients.enumerated() {
                for key in 0..<25 { group.addTask { try await settings.set(1, for: "h\(number).k\(key)") } }
            }
            try await group.waitForAll()
        }
        // The settings, and the default.
        for settings in clients { #expect(try await settings.list().members.count == 51) }
        for host in hosts { await host.close() }
    }

    @Test(arguments: Form.allCases)
    func `operations are called by name, and their arguments are checked`(_ form: Form) async throws {
        let host = try await host(form)
        let gate = try host.gate("settings")
        _ = try await gate.call("set", ["key": "theme", "value": "dark"])
        #expect(try await gate.call("get", ["key": "theme"]) == "dark")
        let error = try await failure { () async throws(ConnectorError) in try await gate.call("get", ["name": "x"]) }
        #expect(error.code == .invalid && error.message.contains("has no parameter \"name\""), "\(error)")
        let unknown = try await failure { () async throws(ConnectorError) in try await gate.call("gett") }
        #expect(unknown.code == .invalid && unknown.message.contains("gett"), "\(unknown)")
        await host.close()
    }

    @Test(arguments: Form.allCases)
    func `the adapter keeps the contract of its capability`(_ form: Form) async throws {
        let host = try await host(form)
        let findings = try await SettingsConformance.check(host.settings("settings"))
        #expect(findings == [])
        await host.close()
    }

    @Test(arguments: Form.allCases)
    func `a setting has its type, its default, and its value after a restart`(_ form: Form) async throws {
        var host = try await host(form)
        var settings = try host.settings("settings")
        #expect(try await settings.value(of: Self.theme) == "light")
        try await settings.set("dark", for: Self.theme)
        var change = SettingsChange()
        try change.set(0.5, for: Self.volume)
        try change.set("Ada", for: Self.first)
        try await settings.change(change)
        await host.close()
        host = try await self.host(form)
        settings = try host.settings("settings")
        #expect(try await settings.value(of: Self.theme) == "dark")
        #expect(try await settings.value(of: Self.volume) == 0.5)
        #expect(try await settings.value(of: Self.name) == "Ada Nobody")
        try await settings.remove(Self.volume)
        #expect(try await settings.value(of: Self.volume) == 0.8)
        #expect(try await settings.list() == ["name.first": "Ada", "size": 3, "theme": "dark"])
        await host.close()
    }

    @Test(arguments: Form.allCases)
    func `a value of the wrong type is an error that names the setting, and no default is used`(_ form: Form)
        async throws
    {
        let host = try await host(form)
        let settings = try host.settings("settings")
        try await settings.set(7, for: "theme")
        let error = try await failure { () async throws(ConnectorError) in try await settings.value(of: Self.theme) }
        #expect(error.code == .invalid && error.connector == "settings")
        #expect(error.message == "the setting \"theme\" is an integer, which does not fit String")
        let refused = try await failure { () async throws(ConnectorError) in try await settings.set("x", for: "size") }
        #expect(refused.code == .invalid)
        #expect(refused.message.contains("\"size\" must be a number"), "\(refused)")
        await host.close()
    }

    @Test(arguments: Form.allCases)
    func `a watcher sees the current value, and the new one after each change that affects it`(_ form: Form)
        async throws
    {
        let host = try await host(form)
        let settings = try host.settings("settings")
        var names = settings.values(of: Self.name).makeAsyncIterator()
        #expect(try await names.next(isolation: nil) == "Nobody")
        try await settings.set("Ada", for: Self.first)
        #expect(try await names.next(isolation: nil) == "Ada Nobody")
        // A change of another setting, or to the same value, is not reported.
        try await settings.set("dark", for: Self.theme)
        try await settings.set("Ada", for: Self.first)
        try await settings.set("Lovelace", for: Self.last)
        #expect(try await names.next(isolation: nil) == "Ada Lovelace")
        await host.close()
        #expect(try await names.next(isolation: nil) == nil)
    }

    @Test(arguments: Form.allCases)
    func `a watcher is told that another instance has taken over, and sees the default that a reload has changed`(
        _ form: Form
    ) async throws {
        let host = try await host(form)
        let settings = try host.settings("settings")
        var themes = settings.values(of: Self.theme).makeAsyncIterator()
        var changes = settings.changes().makeAsyncIterator()
        #expect(try await themes.next(isolation: nil) == "light")
        let next = try Configuration(parsing: #"{"version": 1, "connectors": []}"#)
            .appending([connector(form, "settings", ["defaults": ["theme": "dark"]])])
        #expect(await host.reload(next).isActive)
        try await settings.set(1, for: "size")
        let change = await changes.next(isolation: nil)
        try #require(change?.change == SettingsChange())
        #expect(try await themes.next(isolation: nil) == "dark")
        await host.close()
    }

    @Test(arguments: Form.allCases)
    func `a slow watcher still gets the latest value`(_ form: Form) async throws {
        let host = try await host(form)
        let settings = try host.settings("settings")
        var values = settings.values(of: Self.volume).makeAsyncIterator()
        #expect(try await values.next(isolation: nil) == 0.8)
        try await settings.set(0.1, for: Self.volume)
        for number in 0..<300 as Range<Int64> { try await settings.set(.integer(number), for: "size") }
        #expect(try await values.next(isolation: nil) == 0.1)
        await host.close()
    }

    @Test(arguments: Form.allCases)
    func `a change that cannot be stored says so, and the settings stay`(_ form: Form) async throws {
        let host = try await host(form)
        let settings = try host.settings("settings")
        try await settings.set("dark", for: Self.theme)
        // A file in the place of the directory: nothing can be written, whoever runs the test.
        let (state, aside) = ("\(directory.path)/state", "\(directory.path)/aside")
        #expect(unsafe rename(state, aside) == 0)
        directory.write([1], to: "state")
        let error = try await failure { () async throws(ConnectorError) in
            try await settings.set("light", for: Self.theme)
        }
        #expect(error.code == .unavailable)
        #expect(error.message.contains("state"), "\(error)")
        #expect(unsafe unlink(state) == 0 && rename(aside, state) == 0)
        #expect(try await settings.value(of: Self.theme) == "dark")
        await host.close()
    }
}
