// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Relative paths start where the application was when it gave them. Each test is a process of its own, whose directory changes.
@Suite(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
struct WorkingDirectoryTests {
    private static let theme = Setting("theme", default: "light")

    /// Options with a relative directory.
    private static var options: ConnectorHost.Options {
        ConnectorHost.Options(environment: .init([:]), pluginDirectories: [], stateDirectory: "values")
    }

    /// Makes a configuration with a plugin in a directory, which becomes the working directory.
    private static func enter(_ directory: ScratchDirectory) throws {
        let image = try BuiltProducts.library("settings-file")
        try #require(unsafe mkdir("\(directory.path)/Plugins", 0o700) == 0)
        try #require(unsafe symlink(image, "\(directory.path)/Plugins/libsettings-file.so") == 0)
        let text = #"""
            {"version": 1, "state": "state", "plugins": ["Plugins"], "connectors": [
              {"name": "settings", "plugin": "settings-file", "config": {"defaults": {}}}
            ]}
            """#
        directory.write(Array(text.utf8), to: "connectors.json")
        directory.write(Array("sesame".utf8), to: "key")
        try #require(unsafe chmod("\(directory.path)/key", 0o600) == 0)
        try #require(unsafe chdir(directory.path) == 0)
    }

    @Test(arguments: [true, false])
    func `a host keeps its files when the application changes its directory`(beforeOpening isEarly: Bool) async {
        // The body of an exit test captures nothing.
        if isEarly {
            await #expect(processExitsWith: .success) { try await WorkingDirectoryTests.leave(isEarly: true) }
        } else {
            await #expect(processExitsWith: .success) { try await WorkingDirectoryTests.leave(isEarly: false) }
        }
    }

    private static func leave(isEarly: Bool) async throws {
        let (directory, elsewhere) = (ScratchDirectory(), ScratchDirectory())
        defer { withExtendedLifetime((directory, elsewhere)) {} }
        try enter(directory)
        let host = try ConnectorHost(file: "connectors.json", options: options)
        if isEarly { try #require(unsafe chdir(elsewhere.path) == 0) }
        try await host.open().requireReady()
        try await host.settings("settings").set("dark", for: theme)
        try #require(unsafe chdir(elsewhere.path) == 0)
        #expect(try await host.settings("settings").value(of: theme) == "dark")
        try await host.reload().requireActive()
        try await host.close("settings")
        try await host.open("settings").requireReady()
        #expect(try await host.settings("settings").value(of: theme) == "dark")
        let key = try #require(SecretReference("file:key", base: host.configuration.base(ofText: 0)))
        #expect(try key.secret(environment: .init([:])).reveal() == "sesame")
        let printed = try #require(SecretReference(command: ["cat", "key"], base: host.configuration.base(ofText: 0)))
        #expect(try printed.secret(environment: .init([:])).reveal() == "sesame")
        let outbox = host.configuration.hostDirectory(state: nil)
        #expect(outbox?.absolutePath == "\(directory.path.realPath)/state")
        await host.close()
        #expect(elsewhere.names() == [])
        #expect(directory.names().contains("values"))
    }

    @Test func `paths are shown as they were given`() async {
        await #expect(processExitsWith: .success) {
            let directory = ScratchDirectory()
            defer { withExtendedLifetime(directory) {} }
            try WorkingDirectoryTests.enter(directory)
            let configuration = try Configuration.read(file: "connectors.json")
            #expect(configuration.file == "connectors.json" && configuration.directory == ".")
            #expect(configuration.pluginDirectories == ["Plugins"] && configuration.stateDirectory == "state")
            let key = SecretReference("file:key", base: configuration.base(ofText: 0))
            #expect(key?.description == "file:key")
            directory.write(Array("{".utf8), to: "bad.json")
            let errors = #expect(throws: ConfigurationErrors.self) { try Configuration.read(file: "bad.json") }
            #expect(errors?.description.hasPrefix("bad.json:1:") == true, "\(errors?.description ?? "")")
            let text = #"{"version": 1, "connectors": [{"name": "a", "plugin": "Plugins/libnone.so"}]}"#
            directory.write(Array(text.utf8), to: "none.json")
            let host = try ConnectorHost(file: "none.json", options: WorkingDirectoryTests.options)
            let report = await host.open()
            #expect(report["a"]?.error?.message == "there is no file Plugins/libnone.so")
            await host.close()
        }
    }

    @Test func `a relative path in a directory that was removed is an error, and an absolute one is not`() async {
        await #expect(processExitsWith: .success) {
            let directory = ScratchDirectory()
            defer { withExtendedLifetime(directory) {} }
            try WorkingDirectoryTests.enter(directory)
            let gone = "\(directory.path)/gone"
            try #require(unsafe mkdir(gone, 0o700) == 0)
            try #require(unsafe chdir(gone) == 0)
            try #require(unsafe rmdir(gone) == 0)
            let errors = #expect(throws: ConfigurationErrors.self) { try Configuration.read(file: "connectors.json") }
            let expected = "connectors.json is relative to the working directory, which was removed"
            #expect(errors?.errors.first?.message == expected)
            let options = #expect(throws: ConfigurationErrors.self) {
                try ConnectorHost(file: "\(directory.path)/connectors.json", options: WorkingDirectoryTests.options)
            }
            #expect(options?.errors.first?.message == "values is relative to the working directory, which was removed")
            let made = #expect(throws: ConfigurationErrors.self) {
                try Configuration(connectors: [], plugins: ["Plugins"])
            }
            #expect(made?.errors.first?.message == "Plugins is relative to the working directory, which was removed")
            _ = try Configuration(connectors: [], plugins: ["/opt/plugins"])
            let read = try Configuration.read(file: "\(directory.path)/connectors.json")
            #expect(read.pluginDirectories == ["\(directory.path)/Plugins"])
        }
    }

    // Other systems refuse such names.
    #if os(Linux)
        @Test func `a relative path in a directory whose path is not UTF-8 is an error that shows its bytes`() async {
            await #expect(processExitsWith: .success) {
                let directory = ScratchDirectory()
                defer { withExtendedLifetime(directory) {} }
                let bytes = Array("\(directory.path)/bad".utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
                try #require(unsafe mkdir(bytes, 0o700) == 0)
                try #require(unsafe symlink(bytes, "\(directory.path)/link") == 0)
                try #require(unsafe chdir(bytes) == 0)
                let place = directory.path.realPath
                let told = "whose path is not UTF-8: \(place)/bad\\xff"
                let errors = #expect(throws: ConfigurationErrors.self) {
                    try Configuration.read(file: "connectors.json")
                }
                let message = "connectors.json is relative to the working directory, \(told)"
                #expect(errors?.errors.first?.message == message)
                // No other file has such a path.
                #expect("a/../b".absolutePath == "a/../b" && "a".lastingPath == "a" && "a".placePath == nil)
                #expect("\(place)/link".realPath == "\(place)/link")
                #expect("\(place)/link/file".placePath == "\(place)/link/file")
                #expect(FileTrust().concern("a") == "the path of the working directory is unknown")
            }
        }
    #endif
}
