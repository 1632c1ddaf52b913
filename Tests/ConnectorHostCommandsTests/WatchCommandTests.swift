// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `connector-host watch`.
@Suite struct WatchCommandTests {
    /// A plugin that publishes two events when it is opened.
    private static let source = """
        #include "fixture.h"
        #include <connector/services/events.h>

        CONNECTOR_MANIFEST({
            "manifest": 1, "id": "bell", "version": "1.0.0", "abi": [1, 1], "entry": "fixture_entry",
            "services": {"required": ["events/1"]}
        });

        static int32_t open_ringing(void *instance, const connector_call *call, connector_error *error) {
            const connector_events *events = fixture_service(instance, "events/1");
            (void)error;
            events->emit(events->context, "rang", 4, "{\\"times\\":1}", 11);
            events->emit(events->context, "rang", 4, "{\\"times\\":2}", 11);
            fixture_succeed(instance, call->operation);
            return CONNECTOR_OK;
        }

        FIXTURE_PLUGIN(open_ringing)
        """

    /// A workspace with a plugin that publishes two events, and a gate beside it.
    private func workspace(
        beside other: JSONValue = ["name": "broken", "plugin": .string(FixturePlugins.broken("truncated"))]
    ) throws -> Workspace {
        let workspace = try Workspace()
        let root = FixturePlugins.root
        try workspace.write(Self.source, to: "bell.c")
        let includes = "-I'\(root)/Sources/CConnector/include' -I'\(root)/Tests/Fixtures'"
        let compiler = "cc -std=c99 -fPIC -shared -fvisibility=hidden"
        try #require(shell("cd '\(workspace.path)' && \(compiler) \(includes) bell.c -o libbell.so") == 0)
        try workspace.configure(
            [["name": "door", "plugin": "bell"], other],
            plugins: ["."]
        )
        return workspace
    }

    @Test func `events are shown one per line, until there are enough`() async throws {
        let program = try workspace().program
        let result = try await program.run("watch", "--count", "2", "--json")
        #expect(result.status == 0)
        let events = try result.lines.dropLast().map { try JSONValue(parsing: $0) }
        #expect(events.map { $0["payload"] } == [["times": 1], ["times": 2]])
        #expect(events.allSatisfy { $0["connector"] == "door" && $0["name"] == "rang" && $0["version"] == 1 })
        let text = try await program.run("watch", "door", "--count", "1")
        #expect(text.output.hasSuffix("  door  rang  {\"times\":1}\n"))
        #expect(!text.error.contains("broken"), "only the door is opened")
    }

    @Test func `gates that do not open are named`() async throws {
        let child = try workspace().program.start(["watch"])
        #expect(await child.error(until: "error: broken: ").contains("error: broken: "))
        child.signal(SIGINT)
        _ = try await child.finish()
    }

    @Test func `events are shown while another gate still opens`() async throws {
        let never = JSONValue.string(FixturePlugins.misbehaving("never-opens"))
        let program = try workspace(beside: ["name": "slow", "plugin": never, "timeout": "5m"]).program
        let child = try program.start(["watch"])
        let shown = await child.output(until: "{\"times\":2}\n")
        #expect(shown.split(separator: "\n").count == 2)
        child.signal(SIGINT)
        #expect(try await child.finish().status == 0)
        let counted = try await program.run("watch", "--count", "1")
        #expect(counted.status == 0 && counted.output.hasSuffix("{\"times\":1}\n"), "\(counted)")
    }

    @Test func `an interrupt ends watch with 0`() async throws {
        let child = try workspace().program.start(["watch", "door"])
        let shown = await child.output(until: "{\"times\":2}\n")
        #expect(shown.split(separator: "\n").count == 2)
        child.signal(SIGINT)
        let result = try await child.finish()
        #expect(result.status == 0)
        #expect(result.error == "")
    }

    @Test func `an unknown connector is status 1`() async throws {
        let result = try await workspace().program.run("watch", "dor")
        #expect(result.status == 1)
        #expect(result.error.contains("did you mean \"door\"?"))
    }

    @Test(arguments: [["dor"], ["--count", "0"], ["--config", "none.json"]])
    func `with --json an error is a document of one line, too`(_ arguments: [String]) async throws {
        let result = try await workspace().program.start(["watch", "--json"] + arguments).finish()
        let documents = try result.lines.dropLast().map { try JSONValue(parsing: $0) }
        #expect(documents.count == 1 && documents.last?["errors"]?[0]?["code"]?.string != nil, "\(result)")
        #expect(result.status != 0)
    }
}
