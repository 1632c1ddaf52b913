// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

/// `connector-host call` with the adapter `settings-file`, whose values outlive each run.
@Suite(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
struct SettingsCommandTests {
    @Test func `settings are set and read from the command line, and last`() async throws {
        let workspace = try Workspace()
        let image = "\(Program.buildDirectory)/libsettings-file.so"
        try workspace.configure([
            ["name": "settings", "plugin": .string(image), "config": ["defaults": ["theme": "light"]]]
        ])
        var program = workspace.program
        program.environment["XDG_STATE_HOME"] = workspace.path
        let before = try await program.run("call", "settings", "get", "key=theme")
        #expect(before.output == "light\n", "\(before.error)")
        #expect(try await program.run("call", "settings", "set", "key=theme", "value=dark").status == 0)
        let changed = try await program.run("call", "settings", "change", "volume=0.5", "nickname=Ada")
        #expect(changed.status == 0, "\(changed.error)")
        let list = try await program.run("call", "settings", "list", "--json")
        #expect(
            try JSONValue(parsing: list.output)["result"] == ["nickname": "Ada", "theme": "dark", "volume": 0.5]
        )
        let wrong = try await program.run("call", "settings", "set", "theme", "5")
        #expect(wrong.status == 1)
        #expect(wrong.error.contains("the setting \"theme\" must be a string"))
        let status = try await program.run("status", "--simulate")
        #expect(status.status == 0, "\(status.error)")
        #expect(status.output.contains("settings stored: 3"), "\(status.output)")
    }
}
