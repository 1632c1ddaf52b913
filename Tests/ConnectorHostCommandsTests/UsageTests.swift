// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import ConnectorTestSupport
import Testing

/// Arguments, help and completions.
@Suite struct UsageTests {
    @Test(arguments: [
        ["no-such-command"], ["status", "--no-such-option"], ["status", "--timeout", "5"], ["status", "extra"],
        ["simulate", "--vendor", "nobody"], ["simulate", "--fault", "segment"], ["simulate", "--port", "70000"],
        ["status", "--log-level", "loud"], ["inspect"],
    ])
    func `wrong usage is status 64, told on standard error`(arguments: [String]) async throws {
        let result = try await Program(directory: "/").start(arguments).finish()
        #expect(result.status == 64)
        #expect(result.output == "")
        #expect(result.error.hasPrefix("Error: "))
        #expect(result.error.contains("Usage: connector-host"))
    }

    @Test(.enabled(if: Program.mayMount, "only root may mount"))
    func `without the file system proc a command is an error, and no request for help`() async throws {
        let script = "mount -t tmpfs none /proc && exec \"$0\" status"
        let result = try await Program(directory: "/").startMounting(script).finish()
        #expect(result.status == 1 && result.output == "", "\(result)")
        #expect(result.error.contains("/proc is not mounted"), "\(result)")
        #expect(result.error.contains("mount -t proc proc /proc"), "\(result)")
    }

    @Test(.enabled(if: !Sanitizer.isPresent, "a sanitizer must be loaded before other libraries"))
    func `a library that moves the environment before the program begins hides no arguments`() async throws {
        let workspace = try Workspace()
        let function = "__attribute__((constructor)) static void f(void) { setenv(\"ANY\", \"1\", 1); }"
        try workspace.write("#include <stdlib.h>\n\(function)\n", to: "moves.c")
        try #require(shell("cd '\(workspace.path)' && cc -shared -fPIC moves.c -o moves.so") == 0)
        var program = workspace.program
        program.environment["LD_PRELOAD"] = "\(workspace.path)/moves.so"
        let result = try await program.run("explain", "not-open")
        #expect(result.status == 0 && result.error.isEmpty && result.output.contains("not-open"), "\(result)")
    }

    // Other systems refuse such arguments and names.
    #if os(Linux)
        @Test(arguments: [
            ("call tools echo BYTES", 4), ("send BYTES track event=e userId=u", 2), ("status --config BYTES.json", 3),
            ("BYTES", 1), ("test --only=BYTES libany.so", 2), ("status --help BYTES", 3),
        ])
        func `an argument that is not UTF-8 is refused with its number, whatever the command would do with it`(
            words: String,
            number: Int
        ) async throws {
            let arguments = words.replacing("BYTES", with: "\"$(printf 'a\\377\\303\\244')\"")
            func run(_ options: String) async throws -> Program.Result {
                let script = "exec \"$0\" \(arguments)\(options)"
                return try await Child(start: "/bin/sh", ["-c", script, Program.path], Program(directory: "/")).finish()
            }
            let result = try await run("")
            #expect(result.status == 64 && result.output.isEmpty, "\(result)")
            #expect(result.error.hasPrefix("Error: argument \(number) is not UTF-8: \""), "\(result)")
            #expect(result.error.contains("a\\xffä") && result.error.contains("  See 'connector-host"), "\(result)")
            #expect(result.error.contains("give bytes as {\"base64\": \"…\"}"), "\(result)")
            let json = try await run(" --json")
            let error = try JSONValue(parsing: json.output)["errors"]?[0]
            #expect(json.status == 64 && error?["code"] == "invalid", "\(json)")
            #expect(error?["message"]?.string?.hasPrefix("argument \(number) is not UTF-8") == true, "\(json)")
        }

        @Test(arguments: [1, 2])
        func `connector-manifest takes a path that is not UTF-8 for no other path`(number: Int) async throws {
            let workspace = try Workspace()
            for name in ["a", "a\u{FFFD}"] { try workspace.write("{}", to: name) }
            let words = number == 1 ? "\"$(printf 'a\\377')\" a" : "a \"$(printf 'a\\377')\""
            let tool = "\(Program.buildDirectory)/connector-manifest"
            let result = try await Child(start: "/bin/sh", ["-c", "exec \"$0\" \(words)", tool], workspace.program)
                .finish()
            #expect(result.status == 64 && result.output.isEmpty, "\(result)")
            #expect(result.error.hasPrefix("error: argument \(number) is not UTF-8"), "\(result)")
        }

        @Test func `a working directory whose path is not UTF-8 is told, and its file is not missing`() async throws {
            let workspace = try Workspace()
            try workspace.configure([])
            let script = """
                mkdir "$(printf 'bad\\377')" && cp connectors.json "$(printf 'bad\\377')" && cd "$(printf 'bad\\377')" || exit 9
                exec "$0" validate
                """
            let result = try await Child(start: "/bin/sh", ["-c", script, Program.path], workspace.program).finish()
            #expect(result.status == 2, "\(result)")
            #expect(result.error.contains("whose path is not UTF-8: \(workspace.path)/bad\\xff"), "\(result)")
            #expect(result.error.contains("rename that directory"), "\(result)")
        }

        @Test func `a state directory whose name is not UTF-8 is told, and no other is made`() async throws {
            let workspace = try Workspace()
            let config: JSONValue = ["endpoint": "http://127.0.0.1:9", "writeKey": "demo-write-key"]
            try workspace.configure([
                ["name": "segment", "plugin": .string("\(Program.buildDirectory)/libsegment.so"), "config": config]
            ])
            let send = "exec \"$0\" send segment track event=e userId=u"
            let script = "export XDG_STATE_HOME=\"$PWD/$(printf 'st\\377')\"; \(send)"
            let result = try await Child(start: "/bin/sh", ["-c", script, Program.path], workspace.program).finish()
            #expect(result.status == 1, "\(result)")
            let told = "the variable XDG_STATE_HOME is not UTF-8: \(workspace.path)/st\\xff"
            #expect("\(result.output)\(result.error)".contains(told), "\(result)")
            #expect(shell("ls '\(workspace.path)' | grep -q '^st'") != 0)
            #expect(shell("[ -e '\(workspace.home)/.local' ]") != 0)
        }
    #endif

    @Test(arguments: ["-1", "0", "1", "26", "39"])
    func `help has its text in a terminal of any width`(columns: String) async throws {
        var program = Program(directory: "/")
        program.environment["COLUMNS"] = columns
        let result = try await program.run("status", "--help")
        #expect(result.status == 0 && result.error.isEmpty, "\(result)")
        let text = result.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(text.contains("The configuration file."), "\(result)")
        let refused = try await program.run("status", "--no-such-option")
        #expect(refused.status == 64 && refused.error.contains("Usage: connector-host status"), "\(refused)")
    }

    @Test(arguments: [("0s", "is out of range"), ("8761h", "is out of range"), ("soon", "is not a duration")])
    func `a duration that is not accepted says why`(_ text: String, _ reason: String) async throws {
        let result = try await Program(directory: "/").run("run", "--grace", text)
        #expect(result.status == 64 && result.error.contains("'\(text)' \(reason)"), "\(result)")
    }

    @Test(arguments: [
        (["stauts", "--simulate"], "connector-host", "stauts", "did you mean \"status\"?"),
        (["frobnicate"], "connector-host", "frobnicate", ""),
        (["outbox", "lst", "--gate", "a"], "connector-host outbox", "lst", "did you mean \"list\"?"),
        (["stauts", "--help"], "connector-host", "stauts", "did you mean \"status\"?"),
        (["help", "stauts"], "connector-host", "stauts", "did you mean \"status\"?"),
        (["help", "outbox", "lst"], "connector-host outbox", "lst", "did you mean \"list\"?"),
    ])
    func `a word that is not a command is named, even before an option and in a request for help`(
        _ arguments: [String],
        _ command: String,
        _ word: String,
        _ hint: String
    ) async throws {
        let message = "there is no command \"\(word)\"" + (hint.isEmpty ? "" : "; \(hint)")
        let text = try await Program(directory: "/").start(arguments).finish()
        #expect(text.status == 64 && text.output.isEmpty)
        #expect(text.error.hasPrefix("Error: \(message)\nUsage: \(command) <subcommand>\n"), "\(text.error)")
        let json = try await Program(directory: "/").start(arguments + ["--json"]).finish()
        let error = try JSONValue(parsing: json.output)["errors"]?[0]
        #expect(json.status == 64 && json.error.isEmpty)
        #expect(error?["message"] == .string(message) && error?["fix"] == .string("see \(command) --help"))
    }

    @Test(arguments: [["help", "outbox", "list"], ["help", "help"], ["help"], ["--help"], []])
    func `a request for help on something that exists succeeds`(_ arguments: [String]) async throws {
        let result = try await Program(directory: "/").start(arguments).finish()
        #expect(result.status == 0 && result.error.isEmpty, "\(result)")
        #expect(result.output.contains("USAGE: connector-host"), "\(result)")
    }

    @Test(arguments: [["a\u{1B}[31m\nb"], ["status", "a\u{1B}[31mb"], ["status", "--a\u{1B}[31mb"]])
    func `a control character in wrong usage is escaped`(_ arguments: [String]) async throws {
        let result = try await Program(directory: "/").start(arguments).finish()
        #expect(result.status == 64 && result.error.contains("a\\u{1b}[31m"), "\(result)")
        #expect(!result.error.contains("\u{1B}") && result.output.isEmpty)
        #expect(result.error.contains("\nUsage: connector-host"), "\(result.error)")
    }

    @Test(arguments: [
        "status", "validate", "schema", "plugins", "inspect", "diff", "lock", "simulate", "operations", "call", "watch",
        "run", "plan", "apply", "reload", "explain",
    ])
    func `the help of every command has an example`(command: String) async throws {
        let result = try await Program(directory: "/").run(command, "--help")
        #expect(result.status == 0)
        #expect(result.error == "")
        #expect(result.output.contains("USAGE: connector-host \(command)"))
        #expect(result.output.contains("Examples:\n"))
        #expect(result.output.contains("  connector-host \(command)"))
    }

    @Test(
        arguments: [
            "", "run", "status", "simulate", "record", "call", "send", "new", "test", "outbox replay", "outbox drop",
        ]
    )
    func `every example fits the lines of a terminal`(command: String) async throws {
        let words = command.split(separator: " ").map(String.init) + ["--help"]
        let lines = try await Program(directory: "/").start(words).finish().lines
        let start = try #require(lines.firstIndex(of: "Examples:"))
        // The rest of a broken line would begin at the left edge.
        #expect(lines[(start + 1)...].prefix { !$0.isEmpty }.allSatisfy { $0.hasPrefix("  ") }, "\(lines)")
    }

    @Test func `run logs info by itself, and debug with --verbose`() async throws {
        let workspace = try Workspace()
        try workspace.configure([
            [
                "name": "files", "plugin": .string("\(Program.buildDirectory)/libfolder.so"),
                "config": ["directory": "connectors.json/none"],
            ]
        ])
        let host = try workspace.program.start(["run", "--verbose"])
        let log = await host.error(until: "debug: attempt to open failed")
        #expect(log.contains("debug: attempt to open failed"), "\(log)")
        host.signal(15)
        #expect(try await host.finish().status == 0)
        let help = try await Program(directory: "/").run("run", "--help").output
        let text = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(text.contains("(default: warning; info in run and console)"), "\(help)")
    }

    @Test func `the version is the one that README and CHANGELOG name`() async throws {
        let result = try await Program(directory: "/").run("--version")
        #expect(result.status == 0)
        #expect(result.output == ConnectorHost.version + "\n")
        #expect(try readFile("README.md").contains("from: \"\(ConnectorHost.version)\""))
        #expect(try readFile("CHANGELOG.md").contains("\n## \(ConnectorHost.version)\n"))
    }

    @Test(arguments: [["secret": ["exec": ["./key"]]], ["secret": "env:NO_SUCH_KEY"]] as [JSONValue])
    func `operations are completed and listed without their connector's secrets`(_ secret: JSONValue) async throws {
        let workspace = try Workspace()
        try workspace.write("#!/bin/sh\n: > ran\necho key\n", to: "key")
        shell("chmod +x '\(workspace.path)/key'")
        let segment: JSONValue = [
            "name": "segment", "plugin": .string("\(Program.buildDirectory)/libsegment.so"),
            "config": ["writeKey": secret],
        ]
        let file: JSONValue = ["version": 1, "connectors": [segment]]
        try workspace.write(file.serialized(), to: "other.json")
        let program = workspace.program
        for option in [["--config", "other.json"], ["--config=other.json"], ["--config", "=", "other.json"]] {
            func completions(_ command: [String], _ argument: String, _ words: [String]) async throws -> [String] {
                let line = ["connector-host"] + command + option + words + [""]
                let place = ["\(line.count - 1)", "0"]
                let result = try await program.start(["---completion"] + command + ["--", argument] + place + line)
                    .finish()
                return result.output.split(separator: "\n").map(String.init)
            }
            #expect(try await completions(["send"], "positional@1", ["segment"]).contains("track"), "\(option)")
            #expect(try await completions(["swap"], "positional@0", []) == ["segment"], "\(option)")
            #expect(try await completions(["outbox", "dead"], "--gate", ["--gate"]) == ["segment"], "\(option)")
            #expect(try await completions(["outbox", "replay"], "--to", ["--to"]) == ["segment"], "\(option)")
        }
        let listed = try await program.run("operations", "--config", "other.json")
        #expect(listed.status == 0 && listed.output.contains("track("), "\(listed.error)")
        #expect(shell("[ -e '\(workspace.path)/ran' ]") != 0, "the program that prints the secret has run")
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `completions are made for every shell`(shell: String) async throws {
        let result = try await Program(directory: "/").run("--generate-completion-script", shell)
        #expect(result.status == 0)
        #expect(result.output.contains("simulate"))
        #expect(result.output.contains("connector-host"))
    }
}
