// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorHostTesting
import ConnectorTestSupport
import Testing

@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Settings as an application uses them, kept by the adapter `settings-file` on a real disk.
@Suite(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
struct SettingsClientTests {
    private static let theme = Setting("theme", default: "light")
    private static let volume = Setting("audio.volume", default: 0.8)
    private static let first = Setting("name.first", default: "")
    private static let last = Setting("name.last", default: "Nobody")
    private static let name = ComputedSetting(first, last) { first, last in first.isEmpty ? last : "\(first) \(last)" }

    private let directory = ScratchDirectory()

    /// A host whose gate `settings` is open.
    private func host(state: String = "state") async throws -> ConnectorHost {
        let host = try ConnectorHost.testing(
            #"[{"name": "settings", "plugin": "settings-file", "config": {"defaults": {"size": 3}}}]"#,
            plugins: [try BuiltProducts.library("settings-file")],
            stateDirectory: "\(directory.path)/\(state)"
        )
        try await host.open().requireReady()
        return host
    }

    @Test func `the adapter keeps the contract of its capability`() async throws {
        let host = try await host()
        let findings = try await SettingsConformance.check(host.settings("settings"))
        #expect(findings == [])
        await host.close()
    }

    @Test func `a setting has its type, its default, and its value after a restart`() async throws {
        var host = try await host()
        var settings = try host.settings("settings")
        #expect(try await settings.value(of: Self.theme) == "light")
        try await settings.set("dark", for: Self.theme)
        var change = SettingsChange()
        try change.set(0.5, for: Self.volume)
        try change.set("Ada", for: Self.first)
        try await settings.change(change)
        await host.close()
        host = try await self.host()
        settings = try host.settings("settings")
        #expect(try await settings.value(of: Self.theme) == "dark")
        #expect(try await settings.value(of: Self.volume) == 0.5)
        #expect(try await settings.value(of: Self.name) == "Ada Nobody")
        try await settings.remove(Self.volume)
        #expect(try await settings.value(of: Self.volume) == 0.8)
        #expect(try await settings.list() == ["name.first": "Ada", "size": 3, "theme": "dark"])
        await host.close()
    }

    @Test func `a value of another type is an error that names the setting, and no default`() async throws {
        let host = try await host()
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

    @Test func `a watcher sees the value now and after each change that makes it another`() async throws {
        let host = try await host()
        let settings = try host.settings("settings")
        var names = settings.values(of: Self.name).makeAsyncIterator()
        #expect(try await names.next(isolation: nil) == "Nobody")
        try await settings.set("Ada", for: Self.first)
        #expect(try await names.next(isolation: nil) == "Ada Nobody")
        // Another setting, and the same value, are no news.
        try await settings.set("dark", for: Self.theme)
        try await settings.set("Ada", for: Self.first)
        try await settings.set("Lovelace", for: Self.last)
        #expect(try await names.next(isolation: nil) == "Ada Lovelace")
        await host.close()
        #expect(try await names.next(isolation: nil) == nil)
    }

    @Test func `a watcher that is slow reads what it missed`() async throws {
        let host = try await host()
        let settings = try host.settings("settings")
        var values = settings.values(of: Self.volume).makeAsyncIterator()
        #expect(try await values.next(isolation: nil) == 0.8)
        try await settings.set(0.1, for: Self.volume)
        for number in 0..<300 as Range<Int64> { try await settings.set(.integer(number), for: "size") }
        #expect(try await values.next(isolation: nil) == 0.1)
        await host.close()
    }

    @Test func `a change that cannot be stored says so, and the settings stay`() async throws {
        let host = try await host()
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

    @Test func `a connector without settings has no client of them`() throws {
        let test = try TestHost(TestHost.leaf("gate"))
        let error = #expect(throws: ConnectorError.self) { try test.host.settings("gate") }
        #expect(error?.code == .unsupported)
    }
}
