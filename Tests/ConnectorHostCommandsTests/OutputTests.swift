// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Standard output has one answer, whatever happens: a signal, a full disk, a plugin that prints, wrong arguments.
@Suite struct OutputTests {
    /// A plugin that prints and then opens, or waits forever.
    private static func source(_ end: String) -> String {
        """
        #include "fixture.h"
        #include <stdio.h>

        CONNECTOR_MANIFEST({
            "manifest": 1, "id": "talker", "version": "1.0.0", "abi": [1, 1], "entry": "fixture_entry",
            "services": {"optional": ["log/1"]},
            "capabilities": {"talk/1": {"say": {"symbol": "say", "signature": "(a: f64) -> f64"}}}
        });

        CONNECTOR_EXPORT int32_t say(void *instance, double a, double *result, connector_error *error) {
            (void)instance, (void)error;
            printf("said\\n");
            fflush(stdout);
            *result = a;
            return CONNECTOR_OK;
        }

        static int32_t open_talking(void *instance, const connector_call *call, connector_error *error) {
            (void)instance, (void)call, (void)error;
            printf("{\\"not\\": \\"asked for\\"}\\n");
            fflush(stdout);
            \(end)
            return CONNECTOR_OK;
        }

        FIXTURE_PLUGIN(open_talking)
        """
    }

    private func workspace(_ end: String) throws -> Workspace {
        let workspace = try Workspace()
        let root = FixturePlugins.root
        try workspace.write(Self.source(end), to: "talker.c")
        let includes = "-I'\(root)/Sources/CConnector/include' -I'\(root)/Tests/Fixtures'"
        let compiler = "cc -std=c99 -fPIC -shared -fvisibility=hidden"
        try #require(shell("cd '\(workspace.path)' && \(compiler) \(includes) talker.c -o libtalker.so") == 0)
        try workspace.configure([["name": "talker", "plugin": "talker", "timeout": "5m"]], plugins: ["."])
        return workspace
    }

    private static let opens = "fixture_succeed(instance, call->operation);"

    @Test(arguments: [["status"], ["call", "talker", "say", "1"]])
    func `what a plugin prints goes to standard error, and standard output stays one document`(arguments: [String])
        async throws
    {
        let workspace = try workspace(Self.opens)
        let child = try workspace.program.start(arguments + ["--json"])
        let result = try await child.finish()
        #expect(result.status == 0)
        #expect(try JSONValue(parsing: result.output)["version"] == 1)
        #expect(result.error.contains("{\"not\": \"asked for\"}"))
    }

    @Test func `a line that a plugin logs is told from the host's, and its words from the host's fields`()
        async throws
    {
        let forging = #"""
            const connector_log *log = fixture_service(instance, "log/1");
            const char *line = "gate failed connector=bank error=\"closed\"";
            const char *fields = "{\"a\": \"x connector=bank\", \"b c\": 7, \"line\": \"\"}";
            log->log(log->context, CONNECTOR_LOG_WARNING, line, strlen(line), fields, strlen(fields));
            """#
        let result = try await workspace(forging + "\n" + Self.opens).program.run("status")
        #expect(result.status == 0, "\(result)")
        let line = result.error.split(separator: "\n").first { $0.hasPrefix("warning: ") }
        let own = "warning: plugin logged a line connector=talker"
        let foreign = #"line="gate failed connector=bank error=\"closed\"" a="x connector=bank" "b c"=7 line="""#
        #expect(line.map(String.init) == "\(own) \(foreign)")
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal while gates open shows the report, and a second one ends the program with its status`(number: Int32)
        async throws
    {
        let workspace = try workspace("")
        let child = try workspace.program.start(["status", "--json"])
        await child.error(until: "asked for")
        child.signal(number)
        let shown = await child.output(until: "\n}\n")
        let document = try JSONValue(parsing: shown)
        #expect(document["ready"] == false)
        #expect(document["gates"]?[0]?["state"] == "opening")
        // The program does not wait a second time for the gate that does not open.
        await child.error(until: "exits immediately")
        child.signal(number)
        #expect(try await child.finish().status == 128 + number)
    }

    @Test func `two signals at once are one signal`() async throws {
        let workspace = try workspace(Self.opens)
        let child = try workspace.program.start(["run", "--json"])
        await child.error(until: "gate opened")
        // Both wait for the program while it is stopped.
        for number in [SIGSTOP, SIGINT, SIGTERM, SIGCONT] { child.signal(number) }
        let result = try await child.finish()
        #expect(result.status == 0, "\(result)")
        #expect(try JSONValue(parsing: result.output) == ["version": 1, "queued": 0])
    }

    @Test(arguments: [["call", "talker", "say", "1"], ["watch"]])
    func `a signal ends every command that waits for gates`(arguments: [String]) async throws {
        let workspace = try workspace("")
        let child = try workspace.program.start(arguments)
        await child.error(until: "asked for")
        child.signal(SIGTERM)
        let result = try await child.finish()
        #expect(result.status == 143, "\(result)")
    }

    @Test(.enabled(if: TmuxTerminal.isThere, "tmux is not installed"), .timeLimit(.minutes(2)))
    func `the line that lists gates still opening fits a narrow terminal, and disappears`() async throws {
        let workspace = try Workspace()
        let plugin = JSONValue.string(FixturePlugins.misbehaving("never-opens"))
        let names = ["the-first-one-with-a-long-name", "the-second-one-with-a-long-name"]
        try workspace.configure(.array(names.map { ["name": .string($0), "plugin": plugin, "timeout": "2s"] }))
        let terminal = try await TmuxTerminal(workspace.program, "status", width: 40, height: 60)
        let screen = try await terminal.screen(with: "status 1")
        #expect(!screen.contains { $0.contains("waiting for") }, "\(screen)")
    }

    @Test(arguments: [
        "status", "validate", "plugins", "operations", "schema", "inspect Plugins", "status --json", "--version",
        "--help", "status --help", "--generate-completion-script zsh",
    ])
    func `an answer that cannot be written is not a success`(command: String) async throws {
        let workspace = try workspace(Self.opens)
        let child = try Child(
            start: "/bin/sh",
            ["-c", "exec '\(workspace.program.alone.file)' \(command) > /dev/full"],
            workspace.program
        )
        let result = try await child.finish()
        #expect(result.status == 1)
        #expect(
            result.error.hasSuffix("error: the answer cannot be written to standard output: No space left on device\n")
        )
    }

    @Test func `an answer is whole even if standard output does not block`() async throws {
        var program = Program(directory: "/")
        let expected = try await program.run("reference", "commands")
        program.isNonblocking = true
        let result = try await program.run("reference", "commands")
        #expect(result.status == 0 && result.output == expected.output, "\(result.error)")
        #expect(expected.output.utf8.count > 4096)
    }

    @Test(.timeLimit(.minutes(5))) func `a signal ends a command whose answer nobody reads`() async throws {
        let workspace = try Workspace()
        let path = "/none/\(String(repeating: "n", count: 200)).so"
        // More than a pipe holds.
        let gates = (0..<400).map { number -> JSONValue in
            ["name": .string("gate-\(number)"), "plugin": .string(path)]
        }
        try workspace.configure(.array(gates))
        let script = """
            mkfifo pipe
            "$0" status > pipe &
            exec 3< pipe
            IFS= read -r line <&3
            kill -TERM $!
            wait $!
            """
        let result = try await Child(start: "/bin/sh", ["-c", script, Program.path], workspace.program).finish()
        #expect(result.status == 143, "\(result)")
    }

    @Test func `standard descriptors that are closed are an error, and never another file`() async throws {
        let workspace = try workspace(Self.opens)
        func run(_ command: String) async throws -> Program.Result {
            let words = ["-c", "exec '\(Program.path)' \(command)"]
            return try await Child(start: "/bin/sh", words, workspace.program).finish()
        }
        #expect(try await run("status --json <&- >&- 2>&-").status == 1)
        let silent = try await run("status --json >&-")
        #expect(silent.status == 1 && silent.error.contains("Bad file descriptor"), "\(silent)")
        let sent = try await run("send talker say - <&-")
        #expect(sent.status == 1 && sent.error.contains("standard input cannot be read"), "\(sent)")
    }

    @Test(
        .timeLimit(.minutes(2)),
        arguments: [["status"], ["validate"], ["run"], ["console", "--web", "127.0.0.1:0"]]
    )
    func `a signal ends a program that prints a secret, and with it the command`(arguments: [String]) async throws {
        let workspace = try Workspace()
        try workspace.write("#!/bin/sh\necho $$ > new\nmv new process\nexec sleep 1000\n", to: "key")
        shell("chmod +x '\(workspace.path)/key'")
        let secret: JSONValue = ["secret": ["exec": ["./key"], "timeout": "60s"]]
        try workspace.configure([
            [
                "name": "segment", "plugin": .string("\(Program.buildDirectory)/libsegment.so"),
                "config": ["writeKey": secret],
            ]
        ])
        let child = try workspace.program.start(arguments)
        while shell("[ -e '\(workspace.path)/process' ]") != 0 {}
        let process = try readFile(at: "\(workspace.path)/process").filter(\.isNumber)
        child.signal(SIGTERM)
        let result = try await child.finish()
        #expect(result.status == (["run", "console"].contains(arguments[0]) ? 0 : 143), "\(result)")
        while !hasEnded(process) { try await Task.checkedYield() }
    }

    @Test(arguments: [
        ["status", "--json", "--no-such-option"], ["status", "--timeout", "5", "--json"], ["inspect", "--json"],
        ["no-such-command", "--json"], ["watch", "--count", "0", "--json"],
    ])
    func `wrong usage is one document, too`(arguments: [String]) async throws {
        let result = try await Program(directory: "/").start(arguments).finish()
        #expect(result.status == 64)
        let document = try JSONValue(parsing: result.output)
        #expect(document["version"] == 1)
        #expect(document["errors"]?[0]?["code"] == "invalid")
        #expect(document["errors"]?[0]?["fix"]?.string?.hasSuffix(" --help") == true)
    }
}
