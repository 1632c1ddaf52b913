// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHostCommands

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `connector-host test`.
@Suite(.timeLimit(.minutes(5)), .serialized) struct TestCommandTests {
    private let image = FixturePlugins.misbehaving("breaks")

    @Test func `a plugin that keeps the rules reaches the default level`() async throws {
        let result = try await Program(directory: "/").run("test", image)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        #expect(result.output.contains("✓ breaks 1.0.0: level 5 of 5"))
    }

    @Test func `a file with connectors is refused in place of the config of one connector`() async throws {
        let workspace = try Workspace()
        try workspace.configure([])
        let result = try await workspace.program.run("test", image, "--config", "connectors.json")
        #expect(result.status == 1 && result.output.isEmpty, "\(result)")
        #expect(result.error.contains("it is the \"config\" of one connector"), "\(result)")
    }

    @Test func `waiting for the file to change ends when the task is cancelled`() async {
        let waiting = Task { try await ConformanceSubject.change(of: "/nowhere/libnone.so", since: nil) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `a crash is reported with the signal, the function and the last calls`() async throws {
        let result = try await Program(directory: "/").run(
            "test",
            FixturePlugins.misbehaving("crashes-in-open"),
            "--only",
            "open",
            "--format",
            "json"
        )
        #expect(result.status == 1)
        let rule = try #require(try JSONValue(parsing: result.output)["rules"]?.array?.first)
        #expect(rule["verdict"] == "crashed")
        #expect(rule["crash"]?["event"] == "SIGABRT")
        #expect(rule["crash"]?["function"] == "open_crash")
        #expect(rule["calls"]?.array?.last == "open")
    }

    @Test func `a plugin that cannot be loaded has level 0, and nothing more of it is checked`() async throws {
        let result = try await Program(directory: "/").run("test", FixturePlugins.broken("no-manifest"))
        #expect(result.status == 1)
        #expect(result.output.contains("level 0 of 5"))
        #expect(result.output.contains("was not checked: the file cannot be loaded"))
    }

    @Test(arguments: ["empty", "script", "pipe", "truncated"])
    func `no rule about a file is kept by one that cannot be read`(_ kind: String) async throws {
        let workspace = try Workspace()
        let image = kind == "truncated" ? FixturePlugins.broken("truncated") : "\(workspace.path)/lib\(kind).so"
        switch kind {
        case "pipe": try #require(shell("mkfifo -m 600 '\(image)'") == 0)
        case "truncated": break
        default: try workspace.write(kind == "script" ? "#!/bin/sh\nexit 0\n" : "", to: "lib\(kind).so")
        }
        let rules = ["manifest", "manifest-sidecar", "manifest-abi", "manifest-services", "symbols", "signatures"]
        let arguments = ["test", image, "--format", "json"] + rules.flatMap { ["--only", $0] }
        let result = try await workspace.program.start(arguments).finish()
        #expect(result.status == 1, "\(result.output)\(result.error)")
        let found = try #require(JSONValue(parsing: result.output)["rules"]?.array)
        #expect(found.count == rules.count)
        #expect(found.allSatisfy { ["broken", "unchecked"].contains($0["verdict"]?.string) }, "\(result.output)")
    }

    @Test func `rules that need a vendor are not checked without one, and that is a failure`() async throws {
        let result = try await Program(directory: "/").run(
            "test",
            FixturePlugins.good("http"),
            "--strict",
            "7",
            "--only",
            "payloads"
        )
        #expect(result.status == 1)
        #expect(result.output.contains("payloads was not checked: nothing answers in place of the vendor"))
        let arguments = ["test", FixturePlugins.good("http"), "--strict", "7", "--only", "payloads", "--format"]
        let tap = try await Program(directory: "/").start(arguments + ["tap"]).finish()
        #expect(tap.status == 1 && tap.lines.prefix(3) == ["TAP version 14", "1..1", "not ok 1 - payloads"], "\(tap)")
        let junit = try await Program(directory: "/").start(arguments + ["junit"]).finish()
        #expect(junit.output.contains("errors=\"1\" skipped=\"0\""), "\(junit.output)")
        #expect(junit.output.contains("<error message=\"was not checked: nothing answers"), "\(junit.output)")
    }

    @Test func `every output format names a broken rule`() async throws {
        let arguments = ["test", image, "--config", "{\"rule\":\"close\"}", "--only", "close", "--timeout", "300ms"]
        let program = Program(directory: "/")
        let tap = try await program.start(arguments + ["--format", "tap"]).finish()
        #expect(tap.lines.prefix(3) == ["TAP version 14", "1..1", "not ok 1 - close"])
        let junit = try await program.start(arguments + ["--format", "junit"]).finish()
        #expect(
            junit.output.contains("failures=\"1\"") && junit.output.contains("<failure message=\"close completes\">")
        )
        let text = try await program.start(arguments).finish()
        #expect(text.output.contains("got: close did not complete within 0.3 seconds"))
    }

    @Test func `a certificate holds only for the bytes that were tested`() async throws {
        let workspace = try Workspace()
        shell("cp '\(image)' '\(workspace.path)/libbreaks.so'")
        let tested = try await workspace.program.run("test", "./libbreaks.so", "--certify", "--strict", "4")
        #expect(tested.status == 0, "\(tested.output)\(tested.error)")
        let certified = try await workspace.program.run("inspect", "libbreaks.so", "--json")
        #expect(try JSONValue(parsing: certified.output)["conformance"]?["level"] == 4)
        try workspace.configure([], plugins: ["."])
        let listed = try await workspace.program.alone.run("plugins", "--json")
        #expect(try JSONValue(parsing: listed.output)["plugins"]?.array?.first?["conformance"]?["level"] == 4)
        let table = try await workspace.program.alone.run("plugins")
        #expect(table.lines.contains { $0.hasPrefix("✓ breaks") && $0.contains(" 4 ") }, "\(table.output)")
        shell("printf x >> '\(workspace.path)/libbreaks.so'")
        let changed = try await workspace.program.run("inspect", "libbreaks.so", "--json")
        #expect(try JSONValue(parsing: changed.output)["conformance"] == nil)
    }

    @Test(arguments: ["text", "json"])
    func `a certificate that cannot be written is an error beside the report`(_ format: String) async throws {
        let workspace = try Workspace()
        shell("cp '\(image)' '\(workspace.path)/libbreaks.so' && mkdir '\(workspace.path)/conformance.json'")
        let arguments = ["test", "./libbreaks.so", "--strict", "1", "--certify", "--format", format]
        let result = try await workspace.program.start(arguments).finish()
        #expect(result.status == 1)
        guard format == "json" else {
            #expect(result.output.contains("✓ breaks 1.0.0: level "))
            #expect(result.error.contains("conformance.json cannot be written"), "\(result.error)")
            return
        }
        let document = try JSONValue(parsing: result.output)
        #expect(document["passed"] == true && document["errors"]?[0]?["code"] == "storage")
    }

    /// Starts a check of a plugin that blocks, with temporary directories in `tmp`, and waits until its process runs.
    ///
    /// - Returns: The program with those directories, its process, and a command of the shell that succeeds while the check's runs.
    private func blockedCheck(in workspace: Workspace) throws -> (program: Program, child: Child, isChecked: String) {
        let (name, image) = ("libblocks-in-constructor.so", FixturePlugins.misbehaving("blocks-in-constructor"))
        shell("cd '\(workspace.path)' && mkdir -p tmp && cp '\(image)' \(name)")
        var program = workspace.program
        program.environment["TMPDIR"] = workspace.path + "/tmp"
        let child = try program.start(["test", "./\(name)", "--only", "loads"])
        // The brackets keep the pattern from matching the commands that contain it.
        let isChecked = "grep -aqs '\(workspace.path)/[l]ibblocks' /proc/[0-9]*/cmdline"
        while shell(isChecked) != 0 { shell("sleep 0.05") }
        return (program, child, isChecked)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends the processes of the checks, and removes their directories`(_ signal: Int32) async throws {
        let workspace = try Workspace()
        let (_, child, isChecked) = try blockedCheck(in: workspace)
        child.signal(signal)
        let result = try await child.finish()
        #expect(result.status == 128 + signal && result.output.isEmpty, "\(result)")
        #expect(shell(isChecked) != 0, "the process of the check still runs")
        #expect(shell("rmdir '\(workspace.path)/tmp'") == 0, "its directory is still there")
    }

    @Test func `what a killed command left behind is removed by the next one, and nothing else`() async throws {
        let workspace = try Workspace()
        shell("mkdir -p -m 700 '\(workspace.path)/tmp/connector-test-output'")
        let (program, child, _) = try blockedCheck(in: workspace)
        child.signal(SIGKILL)
        // The process of the check keeps the streams open.
        while shell("kill -0 \(child.identifier) && ! grep -q 'State:.Z' /proc/\(child.identifier)/status") == 0 {}
        #expect(shell("test $(ls '\(workspace.path)/tmp' | wc -l) = 2") == 0, "nothing was left behind")
        let next = try await program.start(["test", self.image, "--only", "open"]).finish()
        #expect(next.status == 0, "\(next)")
        #expect(shell("rmdir '\(workspace.path)'/tmp/connector-test-output '\(workspace.path)'/tmp") == 0)
    }

    @Test func `the command that repeats a check has the options of the first one`() async throws {
        let options = ["--in", "runner", "--timeout", "300ms", "--unsealed", "--format", "json"]
        let arguments = ["test", image, "--config", "{\"rule\":\"close\"}", "--only", "close"] + options
        let result = try await Program(directory: "/").start(arguments).finish()
        let again = try JSONValue(parsing: result.output)["rules"]?[0]?["again"]?.string ?? ""
        #expect(again.contains(" --in runner --timeout 300ms --unsealed --only close "), "\(result.output)")
    }

    @Test(arguments: [["--format", "json"], ["--format=json"]])
    func `wrong usage is in the document, too`(_ format: [String]) async throws {
        let result = try await Program(directory: "/").start(["test", image, "--strict", "11"] + format).finish()
        #expect(result.status == 64)
        #expect(try JSONValue(parsing: result.output)["errors"]?[0]?["code"] == "invalid")
    }

    // MARK: The subject

    /// A plugin that crashes as it opens, unless the image was loaded from its own file.
    private static let placed = """
        #define _GNU_SOURCE
        #include "fixture.h"
        #include <dlfcn.h>

        CONNECTOR_MANIFEST({
            "manifest": 1, "id": "placed", "version": "1.0.0", "abi": [1, 1], "entry": "fixture_entry"
        });

        static int32_t open_placed(void *instance, const connector_call *call, connector_error *error) {
            Dl_info info;
            if (dladdr((void *)open_placed, &info) == 0 || strstr(info.dli_fname, "libplaced.so") == NULL) abort();
            return fixture_open(instance, call, error);
        }

        FIXTURE_PLUGIN(open_placed)
        """

    private func verdict(_ program: Program, _ arguments: String...) async throws -> String? {
        let result = try await program.start(["test"] + arguments + ["--format", "json", "--strict", "10"]).finish()
        return try JSONValue(parsing: result.output)["rules"]?.array?.first?["verdict"]?.string
    }

    @Test func `an image is loaded as a sealed copy, and unsealed from its own file`() async throws {
        let workspace = try Workspace()
        try workspace.write(Self.placed, to: "placed.c")
        let root = FixturePlugins.root
        let includes = "-I'\(root)/Sources/CConnector/include' -I'\(root)/Tests/Fixtures'"
        let compiler = "cc -std=c99 -fPIC -shared -fvisibility=hidden"
        try #require(shell("cd '\(workspace.path)' && \(compiler) \(includes) placed.c -o libplaced.so") == 0)
        #expect(try await verdict(workspace.program, "./libplaced.so", "--only", "open") == "crashed")
        #expect(try await verdict(workspace.program, "./libplaced.so", "--only", "open", "--unsealed") == "kept")
    }

    @Test func `the checks open their gates in a runner if that was asked for`() async throws {
        // This plugin opens in no runner, so that nothing can be called there.
        let config = #"{"rule":"runner-opens"}"#
        let program = Program(directory: "/")
        #expect(try await verdict(program, image, "--only", "operations-answer", "--config", config) == "kept")
        let isolated = try await verdict(
            program,
            image,
            "--only",
            "operations-answer",
            "--config",
            config,
            "--in",
            "runner"
        )
        #expect(isolated == "unchecked")
        #expect(try await verdict(program, image, "--only", "operations-answer", "--in", "runner") == "kept")
    }

    @Test func `a plugin is found by its id in the directories of the file`() async throws {
        let workspace = try Workspace()
        shell("mkdir '\(workspace.path)/Plugins' && cp '\(image)' '\(workspace.path)/Plugins/'")
        try workspace.configure([], plugins: ["Plugins"])
        #expect(try await verdict(workspace.program, "breaks", "--only", "open") == "kept")
        let unknown = try await workspace.program.run("test", "brakes")
        #expect(unknown.status == 1)
        #expect(unknown.error.contains("did you mean \"breaks\"?"), "\(unknown.error)")
        shell("mkdir '\(workspace.path)/breaks'")
        #expect(try await verdict(workspace.program, "breaks", "--only", "open") == "kept")
    }

    @Test func `a plugin is checked again whenever its file changes`() async throws {
        let workspace = try Workspace()
        let file = "\(workspace.path)/libwatched.so"
        shell("cp '\(image)' '\(file)'")
        let child = try workspace.program.start(["test", "./libwatched.so", "--only", "open", "--watch"])
        #expect(await child.output(until: "1 kept").contains("breaks 1.0.0: 1 kept"))
        shell("cp '\(FixturePlugins.misbehaving("refuses-to-open"))' '\(file).new' && mv '\(file).new' '\(file)'")
        #expect(await child.output(until: "refuses-to-open 1.0.0").contains("✓"))
        child.signal(SIGTERM)
        #expect(try await child.finish().status == 128 + SIGTERM)
    }
}
