// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// The pages of adapters in `docs/adapters`, and the recordings beside their manifests.
@Suite(.timeLimit(.minutes(10)), .serialized) struct AdapterPageTests {
    static let adapters = [
        "amplitude", "clickhouse", "datasette", "ga4", "matomo", "mixpanel", "opencage", "postgrest", "pushgateway",
        "rollbar", "victoriametrics",
    ]

    /// The configurations of the recordings, where they are not what `test` makes of the manifest.
    static let configurations = [
        "clickhouse": #"{ "table": "events", "password": "key" }"#,
        "datasette": #"{ "database": "demo", "token": "key" }"#,
        "ga4": #"{ "stream": "G-AB12CD34EF", "validate": true }"#,
        "matomo": #"{ "siteId": "1", "token": "key" }"#,
        "postgrest": #"{ "token": "key" }"#, "pushgateway": #"{ "job": "shop" }"#,
        "victoriametrics": #"{ "job": "shop" }"#,
    ]

    @Test func `every adapter has a page that agrees with its manifest and is linked from the configuration page`()
        async throws
    {
        let root = FixturePlugins.root
        let pages = Self.adapters.map { "'docs/adapters/\($0).md'" }.joined(separator: " ")
        #expect(shell("cd '\(root)' && test \"$(echo docs/adapters/*.md)\" = \"$(echo \(pages))\"") == 0)
        let manifests = Self.adapters.flatMap { ["--plugin", "Plugins/\($0)/\($0).connector.json"] }
        let result = try await Program(directory: root).start(
            ["reference", "--into", "docs/adapters", "--check"] + manifests
        ).finish()
        #expect(result.status == 0, "run: make docs\n\(result.error)")
        let list = try readFile("docs/configuration.md")
        for name in Self.adapters { #expect(list.contains("[`\(name)`](adapters/\(name).md)"), "\(name)") }
    }

    @Test(arguments: adapters)
    func `the commands of a page print what it shows`(_ name: String) {
        let page = "docs/adapters/\(name).md"
        #expect(shell("'\(FixturePlugins.root)/scripts/run-page' \(page) adapter '\(Program.path)' > /dev/null") == 0)
    }

    @Test(arguments: adapters)
    func `a recording equals what is recorded today, and its adapter conforms to it`(_ name: String) async throws {
        let root = FixturePlugins.root
        let workspace = try Workspace()
        let again =
            "'\(root)/scripts/record-adapters' '\(Program.path)' '\(root)/Plugins' '\(workspace.path)' \(name) > /dev/null"
        #expect(shell(again) == 0)
        let file = "Plugins/\(name)/\(name).recording.json"
        let text = try readFile(file)
        #expect(try readFile(at: "\(workspace.path)/\(name).recording.json") == text, "run: make recordings")
        #expect(!text.contains("recorded-key") && !text.contains("127.0.0.1"))
        let calls = try #require(JSONValue(parsing: text)["calls"]?.array)
        #expect(calls.count >= 2 && calls.contains { $0["error"] == nil })
        let test = [
            "test", name, "--answers", file, "--config", Self.configurations[name] ?? "{}", "--only", "recorded-calls",
            "--strict", "6",
        ]
        let result = try await Program(directory: root).start(test).finish()
        #expect(result.status == 0, "\(result.output)\(result.error)")
    }

    @Test func `an adapter is at most 200 lines besides its manifest`() {
        for name in Self.adapters {
            let lines = "cd '\(FixturePlugins.root)' && test $(cat Plugins/\(name)/Sources/*.swift | wc -l) -le 200"
            #expect(shell(lines) == 0, "\(name)")
        }
    }
}
