// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Commands that have the host on the same file do what they are asked for.
@Suite(.timeLimit(.minutes(5))) struct AttachedCommandTests {
    /// A plugin that rings when it is called.
    private static let bell = """
        #include "fixture.h"
        #include <connector/services/events.h>

        CONNECTOR_MANIFEST({
            "manifest": 1, "id": "bell", "version": "1.0.0", "abi": [1, 1], "entry": "fixture_entry",
            "services": {"required": ["events/1"]},
            "capabilities": {"bell/1": {"ring": {"symbol": "bell_ring", "signature": "()"}}}
        });

        CONNECTOR_EXPORT int32_t bell_ring(void *instance, connector_error *error) {
            const connector_events *events = fixture_service(instance, "events/1");
            (void)error;
            events->emit(events->context, "rang", 4, "1", 1);
            return CONNECTOR_OK;
        }

        static int32_t open_silently(void *instance, const connector_call *call, connector_error *error) {
            (void)error;
            fixture_succeed(instance, call->operation);
            return CONNECTOR_OK;
        }

        FIXTURE_PLUGIN(open_silently)
        """

    /// Compiles a plugin into a directory.
    private func compile(_ source: String, _ name: String, in workspace: Workspace) throws {
        try workspace.write(source, to: "\(name).c")
        let root = FixturePlugins.root
        let includes = "-I'\(root)/Sources/CConnector/include' -I'\(root)/Tests/Fixtures'"
        let compiler = "cc -std=c99 -fPIC -shared -fvisibility=hidden -pthread"
        try #require(shell("cd '\(workspace.path)' && \(compiler) \(includes) \(name).c -o lib\(name).so") == 0)
    }

    /// A plugin whose call lasts until a test lets it end: opening a FIFO waits until somebody opens its other end.
    private static func waiter(in folder: String) -> String {
        """
        #define _POSIX_C_SOURCE 200809L
        #include "fixture.h"
        #include <fcntl.h>
        #include <pthread.h>
        #include <unistd.h>

        CONNECTOR_MANIFEST({
            "manifest": 1, "id": "waiter", "version": "1.0.0", "abi": [1, 1], "entry": "fixture_entry",
            "capabilities": {
                "waiter/1": {
                    "wait": {"symbol": "waiter_wait", "signature": "() async"},
                    "pass": {"symbol": "waiter_pass", "signature": "()"}
                }
            }
        });

        typedef struct waiting {
            const fixture *self;
            uint64_t operation;
        } waiting;

        static void *wait_for_go(void *argument) {
            waiting *call = argument;
            close(open("\(folder)/begun", O_WRONLY));
            close(open("\(folder)/go", O_RDONLY));
            call->self->host->complete(call->self->host->context, call->operation, CONNECTOR_OK, NULL, 0, NULL);
            free(call);
            return NULL;
        }

        CONNECTOR_EXPORT int32_t waiter_wait(void *instance, const connector_call *call, connector_error *error) {
            pthread_t thread;
            waiting *pending = malloc(sizeof(waiting));
            if (pending == NULL) return fixture_fail(error, CONNECTOR_FAILED, "out of memory");
            pending->self = instance;
            pending->operation = call->operation;
            if (pthread_create(&thread, NULL, wait_for_go, pending) != 0) {
                free(pending);
                return fixture_fail(error, CONNECTOR_FAILED, "no thread");
            }
            pthread_detach(thread);
            return CONNECTOR_OK;
        }

        CONNECTOR_EXPORT int32_t waiter_pass(void *instance, connector_error *error) {
            (void)instance;
            (void)error;
            return CONNECTOR_OK;
        }

        FIXTURE_PLUGIN(fixture_open)
        """
    }

    @Test func `a host that is stopped lets a call end, refuses others, and tells their callers`() async throws {
        let workspace = try Workspace()
        let (program, path) = (workspace.program, workspace.path)
        try compile(Self.waiter(in: path), "waiter", in: workspace)
        try #require(shell("mkfifo '\(path)/begun' '\(path)/go'") == 0)
        let file: JSONValue = [
            "version": 1, "state": "state", "plugins": ["."],
            "connectors": [["name": "gate", "plugin": "waiter", "isolation": "none", "probe": "off"]],
        ]
        try workspace.write(file.serialized(), to: "connectors.json")
        let host = try program.start(["run", "--json", "--grace", "120s"])
        while try await program.run("status", "--attach", "--json").status != 0 {}
        let call = try program.start(["call", "gate", "wait", "--attach", "--timeout", "120s"])
        #expect(shell("timeout 60 cat '\(path)/begun'") == 0)
        host.signal(15)
        var refused = try await program.run("call", "gate", "pass", "--attach")
        while refused.status == 0 { refused = try await program.run("call", "gate", "pass", "--attach") }
        #expect(refused.error.contains("the host is stopping"), "\(refused)")
        #expect(shell("timeout 60 sh -c ': > \"\(path)/go\"'") == 0)
        let answer = try await call.finish()
        #expect(answer.status == 0, "\(answer)")
        #expect(try await host.finish().status == 0)
    }

    /// A directory with two gates, and a host that runs there with both open.
    private func started() async throws -> (workspace: Workspace, host: Child) {
        let workspace = try Workspace()
        try compile(Self.bell, "bell", in: workspace)
        let file: JSONValue = [
            "version": 1, "state": "state", "plugins": ["."],
            "connectors": [
                ["name": "gate", "plugin": .string(FixturePlugins.contract("calls"))],
                ["name": "door", "plugin": "bell"],
            ],
        ]
        try workspace.write(file.serialized(), to: "connectors.json")
        let host = try workspace.program.start(["run", "--json"])
        while try await workspace.program.run("status", "--attach", "--json").status != 0 {}
        return (workspace, host)
    }

    private func end(_ host: Child) async throws {
        host.signal(SIGTERM)
        #expect(try await host.finish().status == 0)
    }

    @Test func `a console does not open a running host's gates a second time, unless it is told to`() async throws {
        let (workspace, host) = try await started()
        let web = try await workspace.program.run("console", "--web", "127.0.0.1:0")
        #expect(web.status == 1 && web.output.isEmpty)
        #expect(web.error.contains("a host runs on ") && web.error.contains("run --console"), "\(web.error)")
        if TmuxTerminal.isThere {
            let refused = try await TmuxTerminal(workspace.program, "console")
            #expect(try await refused.end().contains("status 1"))
            let second = try await TmuxTerminal(workspace.program, "console", "--no-attach")
            try await second.screen(with: "✓ 2/2")
            try await second.press("q")
            #expect(try await second.end().contains("status 0"))
        }
        try await end(host)
        let alone = try workspace.program.start(["console", "--web", "127.0.0.1:0"])
        #expect(await alone.output(until: "?token=").contains("console: http://"))
        alone.signal(SIGTERM)
        #expect(try await alone.finish().status == 0)
    }

    @Test func `a call is made by the host, with the same output, status and errors`() async throws {
        let (workspace, host) = try await started()
        for arguments in [
            ["gate", "answer", "[1]"], ["gate", "answer", "value={\"a\": 1}", "--json"], ["gate", "anser", "1"],
            ["gate", "answer", "1", "2", "--json"], ["gat", "answer", "1"], ["gate", "refuse", "5"], ["door", "ring"],
        ] {
            let asked = try await workspace.program.start(["call"] + arguments).finish()
            let alone = try await workspace.program.start(["call", "--no-attach"] + arguments).finish()
            #expect(asked.output == alone.output && asked.error == alone.error && asked.status == alone.status)
        }
        // The next command sees a call that is pending in the host.
        let child = try workspace.program.start(["call", "gate", "begin", "n", "--json"])
        while try await workspace.program.run("call", "--attach", "gate", "progress", "n", "1").status != 0 {}
        #expect(try await workspace.program.run("call", "gate", "finish", "n", "7").status == 0)
        let result = try await child.finish()
        #expect(try JSONValue(parsing: result.output)["result"] == 7)
        try await end(host)
        #expect(try await workspace.program.run("call", "--attach", "gate", "answer", "1").status == 1)
        #expect(
            try await workspace.program.run("call", "gate", "answer", "1").output == "1\n",
            "it opens the gate itself"
        )
        #expect(try await workspace.program.run("call", "gate", "answer", "1", "--attach", "--simulate").status == 1)
    }

    @Test func `a host is found even if its file has become invalid, and says why it runs an earlier one`()
        async throws
    {
        let (workspace, host) = try await started()
        try workspace.write(
            #"{"version": 1, "state": "state", "connectors": [{"name": "gate", "plugin": "bell", "timeout": "soon"}]}"#,
            to: "connectors.json"
        )
        #expect(try await workspace.program.run("call", "door", "ring").status == 0)
        #expect(try await workspace.program.run("reload").status == 2)
        let status = try await workspace.program.run("status")
        #expect(status.status == 0)
        #expect(status.output.contains("the file is not what runs: "))
        #expect(status.output.contains("soon"))
        #expect(status.output.contains("2 of 2 gates open, reported by process"))
        // Cut off, or with a comma too many: what can be read still tells the state directory.
        for damaged in [
            #"{"version": 1, "state": "state", "connectors": [{"na"#, #"{"plugins": [],, "state": "state"}"#,
        ] {
            try workspace.write(damaged, to: "connectors.json")
            #expect(try await workspace.program.run("reload").status == 2)
            let status = try await workspace.program.run("status")
            #expect(status.output.contains("the file is not what runs: "), "\(status.error)")
        }
        // An empty file does not tell it, but the mark of the host does.
        try workspace.write("", to: "connectors.json")
        let found = try await workspace.program.run("status", "--attach")
        #expect(found.status == 0 && found.output.contains("the file is not what runs: "), "\(found)")
        try await end(host)
    }

    @Test func `an interrupt cancels the call in the host`() async throws {
        let (workspace, host) = try await started()
        let child = try workspace.program.start(["call", "gate", "begin", "n"])
        while try await workspace.program.run("call", "gate", "progress", "n", "1").status != 0 {}
        child.signal(SIGINT)
        #expect(try await child.finish().status == 130)
        var counts: JSONValue = .null
        repeat {
            counts = try JSONValue(parsing: try await workspace.program.run("call", "gate", "counts", "--json").output)
        } while counts["result"]?["cancels"]?.integer != 1
        try await end(host)
    }

    @Test func `watch shows the host's events until there are enough, an interrupt comes, or the host ends`()
        async throws
    {
        let (workspace, host) = try await started()
        let program = workspace.program
        /// Rings until the child that watches has ended.
        func ringing(_ child: Child) async throws -> Program.Result {
            let ringing = Task { while !Task.isCancelled { _ = try await program.run("call", "door", "ring") } }
            defer { ringing.cancel() }
            return try await child.finish()
        }
        let watched = try await ringing(try program.start(["watch", "door", "--count", "2", "--json"]))
        #expect(watched.status == 0)
        let events = try watched.lines.filter { !$0.isEmpty }.map { try JSONValue(parsing: $0) }
        #expect(events.map { $0["name"] } == ["rang", "rang"] && events.allSatisfy { $0["payload"] == 1 })
        let unknown = try await program.run("watch", "dor", "--attach")
        #expect(unknown.status == 1 && unknown.error.contains("did you mean \"door\"?"))
        let interrupted = try program.start(["watch"])
        let ring = Task { while !Task.isCancelled { _ = try await program.run("call", "door", "ring") } }
        _ = await interrupted.output(until: "rang")
        ring.cancel()
        interrupted.signal(SIGINT)
        #expect(try await interrupted.finish().status == 0)
        let last = try program.start(["watch", "--attach"])
        let again = Task { while !Task.isCancelled { _ = try await program.run("call", "door", "ring") } }
        _ = await last.output(until: "rang")
        again.cancel()
        _ = await again.result
        try await end(host)
        let ended = try await last.finish()
        #expect(ended.status == 1 && ended.error.contains("has ended"))
    }

    @Test func `operations prints the same with a host as without one`() async throws {
        let (workspace, host) = try await started()
        for arguments in [[], ["--json"], ["door"], ["nothing"]] {
            let asked = try await workspace.program.start(["operations", "--attach"] + arguments).finish()
            let alone = try await workspace.program.start(["operations", "--no-attach"] + arguments).finish()
            #expect(asked.output == alone.output && asked.error == alone.error && asked.status == alone.status)
        }
        try await end(host)
        #expect(try await workspace.program.run("operations", "--attach").status == 1)
    }

    @Test func `outbox commands print the same with a host as without one, and act on its outbox`() async throws {
        let bench = try await OutboxWorkspace()
        bench.sink.answers { _ in .refuses }
        try bench.workspace.write(["m1", "m2", "m3"].map { OutboxWorkspace.line($0) }.joined(), to: "events.jsonl")
        _ = try await bench.send("segment", file: "events.jsonl").finish()
        let host = try bench.run("--grace", "10ms")
        while try await bench.program.run("status", "--attach", "--json").status != 0 {}
        while try await bench.json("outbox", "dead", "--attach")["dead"]?.array?.count != 3 {}
        for arguments in [
            ["list"], ["list", "--json"], ["list", "--gate", "segmnt"], ["dead"], ["dead", "--json"],
            ["dead", "--limit", "1"], ["show", "m1"], ["show", "m1", "--json"], ["explain", "m1", "--json"],
            ["explain", "m9"], ["replay", "m9"], ["drop", "m9", "--json"],
        ] {
            let asked = try await bench.program.start(["outbox"] + arguments + ["--attach"]).finish()
            let alone = try await bench.program.start(["outbox"] + arguments + ["--no-attach"]).finish()
            #expect(asked.output == alone.output && asked.error == alone.error && asked.status == alone.status)
        }
        #expect(try await bench.program.run("outbox", "drop", "m1").output == "dropped 1 dead letter\n")
        bench.sink.answers { _ in .takes }
        #expect(try await bench.json("outbox", "replay", "--all", "--gate", "segment")["replayed"] == 2)
        while try await bench.json("outbox", "list")["outboxes"]?[0]?["delivered"] != 2 {}
        #expect(bench.sink.taken == ["m2": 1, "m3": 1])
        host.signal(SIGTERM)
        _ = try await host.finish()
        try await bench.sink.stop()
    }

    @Test func `a simulated host has an outbox of its own, which is reached with --simulate`() async throws {
        let bench = try await OutboxWorkspace()
        let missing = try await bench.program.run("outbox", "list", "--simulate")
        #expect(missing.status == 1 && missing.error.contains("no simulated host runs"), "\(missing)")
        #expect(try await bench.program.run("outbox", "list", "--simulate", "--no-attach").status == 64)
        let host = try bench.run("--simulate")
        while try await bench.program.run("status", "--simulate", "--attach", "--json").status != 0 {}
        try bench.workspace.write(OutboxWorkspace.line("m1"), to: "events.jsonl")
        _ = try await bench.send("segment", file: "events.jsonl").finish()
        #expect(try await bench.json("outbox", "list")["outboxes"]?.array?.count == 1)
        #expect(try await bench.json("outbox", "list", "--simulate")["outboxes"]?.array?.isEmpty == true)
        host.signal(SIGTERM)
        _ = try await host.finish()
        try await bench.sink.stop()
    }
}
