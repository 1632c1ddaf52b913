// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A plugin that ends the process is named, at once and by the next `status`.
@Suite struct CrashNoteTests {
    private func program(_ plugin: String) throws -> Program {
        let workspace = try Workspace()
        try workspace.configure([
            ["name": "bad", "plugin": .string(FixturePlugins.misbehaving(plugin)), "probe": "off"]
        ])
        var program = workspace.program
        program.environment["XDG_STATE_HOME"] = workspace.path + "/state"
        return program
    }

    @Test(arguments: [
        ("write", 11, "SIGSEGV in"), ("starve", 11, "SIGSEGV in"), ("jump", 11, "SIGSEGV below"),
        ("abort", 6, "SIGABRT below"),
        ("overflow", 11, "SIGSEGV in"), ("later", 4, "SIGILL in"),
    ])
    func `a fatal signal in an operation names the plugin and the gate`(
        _ operation: String,
        _ signal: Int32,
        _ event: String
    ) async throws {
        let program = try program("ends-the-process")
        let crash = try await program.run("call", "bad", operation)
        #expect(crash.status == 128 + signal)
        #expect(
            crash.error.contains("connector-host: \(event) the plugin ends-the-process 1.2.3 of bad, at /"),
            "\(crash.error)"
        )
        #expect(crash.output.isEmpty)
        let next = try await program.run("status")
        #expect(next.lines.first?.hasPrefix("previously, the process ended with SIG") == true, "\(next.output)")
        #expect(next.lines.first?.contains("the plugin ends-the-process 1.2.3 of bad, at /") == true)
        #expect(next.status == 0)
        let after = try await program.run("status")
        #expect(!after.output.contains("previously, "))
    }

    /// The program with two gates of the C library, and a plugin that opens after them.
    private func programWithLibrary() throws -> Program {
        let program = try program("ends-the-process")
        let workspace = try #require(program.workspace)
        for name in ["first", "second"] {
            try workspace.write(
                """
                {"manifest": 1, "id": "\(name)", "version": "1.0.0", "abi": [1, 1], "library": "libc.so.6",
                 "capabilities": {"\(name)/1": {
                   "abs": {"symbol": "abs", "signature": "(value: i32) -> i32"},
                   "length": {"symbol": "strlen", "signature": "(text: handle?) -> u64"},
                   "exit": {"symbol": "exit", "signature": "(status: i32)"}
                 }}}
                """,
                to: "\(name).connector.json"
            )
        }
        try workspace.configure([
            ["name": "first", "plugin": "./first.connector.json"],
            ["name": "second", "plugin": "./second.connector.json", "after": ["first"]],
            [
                "name": "bad", "plugin": .string(FixturePlugins.misbehaving("ends-the-process")), "probe": "off",
                "after": ["first", "second"],
            ],
        ])
        return program
    }

    @Test func `a command with a gate of the C library ends as it should`() async throws {
        let program = try programWithLibrary()
        let call = try await program.run("call", "second", "abs", "4")
        #expect(call.status == 0 && call.output == "4\n", "\(call)")
        let status = try await program.run("status")
        #expect(status.status == 0 && !status.output.contains("previously, "), "\(status)")
        #expect(try await program.run("status").output.contains("previously, ") == false)
    }

    @Test(
        arguments: [
            (["first", "length"], 139, "SIGSEGV in the plugin first 1.0.0 of first, at libc.so.6+0x"),
            (["second", "length"], 139, "SIGSEGV in the plugin second 1.0.0 of second, at libc.so.6+0x"),
            (["second", "exit", "0"], 70, "exit below the plugin second 1.0.0 of second, at libc.so.6+0x"),
            (["bad", "abort"], 134, "SIGABRT below the plugin ends-the-process 1.2.3 of bad, at /"),
            (["bad", "release"], 134, "SIGABRT below the plugin ends-the-process 1.2.3 of bad, at /"),
            (["bad", "exit", "0"], 70, "exit below the plugin ends-the-process 1.2.3 of bad, at /"),
        ] as [([String], Int32, String)]
    )
    func `of all that use the C library, the gate whose call it was is named`(
        _ arguments: [String],
        _ status: Int32,
        _ note: String
    ) async throws {
        let program = try programWithLibrary()
        let result = try await program.start(["call"] + arguments).finish()
        #expect(result.status == status, "\(result)")
        #expect(result.error.contains("connector-host: \(note)"), "\(result.error)")
    }

    @Test(arguments: ["abort", "syscall"])
    func `a status that finds the file faulty leaves the note for the next one`(_ operation: String) async throws {
        let program = try program("ends-the-process")
        let workspace = try #require(program.workspace)
        _ = try await program.run("call", "bad", operation)
        let file = try readFile(at: "\(workspace.path)/connectors.json")
        try workspace.write("{", to: "connectors.json")
        #expect(try await program.run("status").status == 2)
        try workspace.write(file, to: "connectors.json")
        let next = try await program.run("status")
        #expect(next.lines.first?.hasPrefix("previously, ") == true, "\(next.output)")
        #expect(try await program.run("status").output.contains("previously, ") == false)
    }

    @Test(arguments: [false, true])
    func `a crash while a status opens its gates is left for the next one`(_ isSecond: Bool) async throws {
        let program = try program("ends-the-process")
        let workspace = try #require(program.workspace)
        try workspace.configure([
            ["name": "bad", "plugin": .string(FixturePlugins.misbehaving("ends-the-process")), "probe": "off"],
            ["name": "silent", "plugin": .string(FixturePlugins.misbehaving("never-opens"))],
        ])
        if isSecond { _ = try await program.run("call", "bad", "abort") }
        let status = try program.start(["status"])
        // The mark is made once the note has been read.
        let process = #""process": *\#(status.identifier)[,}]"#
        let mark = "grep -Eqrs --include='*.mark' '\(process)' '\(workspace.path)/state'"
        try #require(shell("for i in $(seq 600); do \(mark) && exit 0; sleep 0.1; done; exit 1") == 0)
        _ = try await program.run("call", "bad", "write")
        status.signal(SIGINT)
        let shown = try await status.finish()
        #expect(shown.output.contains("previously, the process ended with SIGABRT") == isSecond, "\(shown)")
        let next = try await program.run("status", "--timeout", "200ms")
        #expect(next.output.contains("previously, the process ended with SIGSEGV"), "\(next)")
        #expect(try await program.run("status", "--timeout", "200ms").output.contains("previously, ") == false)
    }

    @Test func `a command whose reader has gone closes its gates, fails, and leaves no note`() async throws {
        let program = try program("ends-the-process")
        // The command starts once nobody can read what it writes.
        let command = "(while [ ! -e gone ]; do sleep 0.01; done; '\(Program.path)' status; echo $? > status)"
        let reader = "{ exec 0<&-; touch gone; while [ ! -s status ]; do sleep 0.01; done; }"
        var script = program
        script.file = "/bin/sh"
        let result = try await script.run("-c", "\(command) | \(reader)")
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        #expect(try readFile(at: program.directory + "/status") == "1\n")
        #expect(try await program.run("status").output.contains("previously, ") == false)
    }

    @Test func `the note is in the document of status, too`() async throws {
        let program = try program("ends-the-process")
        _ = try await program.run("call", "bad", "abort")
        let document = try JSONValue(parsing: try await program.run("status", "--json").output)
        #expect(document["lastCrash"]?["event"] == "SIGABRT")
        #expect(document["lastCrash"]?["plugin"] == "ends-the-process 1.2.3")
        #expect(document["lastCrash"]?["gates"] == "bad")
        #expect(document["version"] == 1)
    }

    @Test func `the note lists the frames that led to the end, each with its file`() async throws {
        let program = try program("ends-the-process")
        _ = try await program.run("call", "bad", "write")
        let document = try JSONValue(parsing: try await program.run("status", "--json").output)
        let crash = try #require(document["lastCrash"])
        let frames = try #require(crash["frames"]?.array)
        #expect(frames.count > 3)
        #expect(frames.first?["offset"] == crash["offset"])
        #expect(frames.contains { $0["file"]?.string?.contains("libffi") == true })
        #expect(crash["thread"]?.integer != nil)
        #expect(crash["address"]?.string?.hasPrefix("0x") == true)
    }

    @Test func `the next status names the function and the line`() async throws {
        let workspace = try Workspace()
        let root = #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/\($1)" }
        let source = "\(root)/Tests/Fixtures/misbehaving/ends-the-process.c"
        #expect(
            shell(
                "cc -std=c99 -g -O1 -fPIC -shared -I'\(root)/Sources/CConnector/include' '\(source)' -o '\(workspace.path)/libends.so'"
            ) == 0
        )
        try workspace.configure([["name": "bad", "plugin": "./libends.so", "probe": "off"]])
        var program = workspace.program
        program.environment["XDG_STATE_HOME"] = workspace.path + "/state"
        for (operation, function) in [("write", "ends_write"), ("abort", "ends_abort"), ("release", "ends_release")] {
            _ = try await program.run("call", "bad", operation)
            let next = try await program.run("status")
            let line = try #require(next.lines.first)
            #expect(line.contains(" (\(function), \(source):"), "\(line)")
        }
        _ = try await program.run("call", "bad", "write")
        let crash = try JSONValue(parsing: try await program.run("status", "--json").output)["lastCrash"]
        #expect(crash?["function"] == "ends_write")
        #expect(crash?["source"]?.string?.hasPrefix("\(source):") == true)
        #expect(crash?["frames"]?[0]?["function"] == "ends_write")
    }

    @Test(arguments: [(0, 70), (3, 3)] as [(Int, Int32)])
    func `a plugin that calls exit does not end the program as if it had succeeded`(
        _ status: Int,
        _ expected: Int32
    ) async throws {
        let program = try program("ends-the-process")
        let result = try await program.run("call", "bad", "exit", "\(status)")
        #expect(result.status == expected)
        #expect(result.error.contains("connector-host: exit below the plugin ends-the-process 1.2.3 of bad"))
        let next = try await program.run("status")
        #expect(
            next.lines.first?.hasPrefix("previously, the process called exit in the plugin ends-the-process") == true
        )
    }

    @Test(arguments: [(0, 70), (3, 70)] as [(Int, Int32)])
    func `a plugin that calls quick_exit does not end the program as if it had succeeded`(
        _ status: Int,
        _ expected: Int32
    ) async throws {
        let program = try program("ends-the-process")
        let result = try await program.run("call", "bad", "quick", "\(status)")
        #expect(result.status == expected)
        #expect(result.error.contains("connector-host: quick_exit below the plugin ends-the-process 1.2.3 of bad"))
        let next = try await program.run("status")
        #expect(next.lines.first?.hasPrefix("previously, the process called quick_exit in the plugin") == true)
    }

    @Test(arguments: ["vanish", "handle"])
    func `a plugin that calls _exit does not end the program as if it had succeeded`(_ operation: String) async throws {
        let program = try program("ends-the-process")
        let result = try await program.run("call", "bad", operation)
        #expect(result.status == 70)
        #expect(result.error.contains("connector-host: _exit below the plugin ends-the-process 1.2.3 of bad"))
        let next = try await program.run("status")
        #expect(
            next.lines.first?.hasPrefix("previously, the process called _exit in the plugin ends-the-process") == true
        )
        #expect(try await program.run("status").output.contains("previously, ") == false)
    }

    @Test func `a command that ended unseen is reported by the next one, once`() async throws {
        let program = try program("ends-the-process")
        let result = try await program.run("call", "bad", "syscall")
        #expect(result.output.isEmpty)
        let next = try await program.run("status")
        #expect(next.lines.first?.hasPrefix("previously, the command call (process ") == true, "\(next.output)")
        #expect(next.lines.first?.contains("ended without a report: a plugin called _exit") == true)
        #expect(try await program.run("status").output.contains("previously, ") == false)
        _ = try await program.run("call", "bad", "syscall")
        let call = try await program.run("call", "bad", "fork")
        #expect(call.error.contains("connector-host: previously, the command call (process "), "\(call.error)")
        #expect(call.status == 0)
        let document = try JSONValue(parsing: try await program.run("status", "--json").output)
        #expect(document["lastCrash"] == nil)
    }

    @Test func `a crash in a forked copy of the process leaves no note`() async throws {
        let program = try program("ends-the-process")
        let result = try await program.run("call", "bad", "fork")
        #expect(result.status == 0)
        #expect(result.output.contains("11"))
        #expect(!result.error.contains("connector-host:"), "\(result.error)")
        #expect(try await program.run("status").output.contains("previously, ") == false)
    }

    @Test func `a crash in the C library's free names the plugin that lent the memory`()
        async throws
    {
        let program = try program("ends-the-process")
        let result = try await program.run("call", "bad", "release")
        #expect(result.status == 134)
        #expect(
            result.error.contains("connector-host: SIGABRT below the plugin ends-the-process 1.2.3 of bad, at /"),
            "\(result.error)"
        )
    }

    @Test func `a crash on a small stack of the plugin's own thread leaves a note`() async throws {
        let program = try program("ends-the-process")
        let result = try await program.run("call", "bad", "thread")
        #expect(result.status == 139)
        #expect(result.error.contains("connector-host: SIGSEGV in the plugin ends-the-process 1.2.3 of bad"))
    }

    @Test(arguments: [
        ("crashes-in-constructor", "SIGABRT while the plugin crashes-in-constructor 1.0.0 was loaded"),
        ("crashes-in-open", "SIGABRT below the plugin crashes-in-open 1.0.0 of bad"),
    ])
    func `a plugin that crashes while it opens is named`(_ plugin: String, _ note: String) async throws {
        let program = try program(plugin)
        let result = try await program.run("status")
        #expect(result.status == 134)
        #expect(result.error.contains("connector-host: \(note)"), "\(result.error)")
    }

    @Test func `a program that ends as it should leaves no note`() async throws {
        let program = try program("ends-the-process")
        #expect(try await program.run("status").status == 0)
        #expect(try await program.run("status").error.isEmpty)
    }
}
