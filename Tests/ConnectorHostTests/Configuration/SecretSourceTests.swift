// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Where secrets come from besides variables and files: commands, credentials, members of JSON files, and lists of these.
@Suite(.timeLimit(.minutes(5))) struct SecretSourceTests {
    private static let manifest = Result {
        try Manifest(
            parsing: Array(
                #"""
                {"manifest": 1, "id": "a", "version": "1.0.0", "abi": [1, 1], "entry": "e", "configuration": {
                  "key": {"type": "string", "secret": true}, "certificate": {"type": "string", "secret": true}}}
                """#.utf8
            )
        )
    }

    private func resolved(
        _ key: String,
        _ certificate: String = "\"\"",
        directory: String = "/",
        environment: [String: String] = [:],
        simulation: SimulationRequest? = nil
    ) throws -> ResolvedConfiguration {
        let environment = Configuration.Environment(environment)
        let configuration = try Configuration(
            parsing: """
                {"version": 1, "connectors": [{"name": "a", "plugin": "a", "config":
                {"key": \(key), "certificate": \(certificate)}}]}
                """,
            directory: directory,
            environment: environment
        )
        let manifest = try Self.manifest.get()
        return try configuration.resolved(environment: environment, simulation: simulation) { _ in .success(manifest) }
    }

    /// The value of the field `key`.
    private func key(
        _ key: String,
        directory: String = "/",
        environment: [String: String] = [:]
    ) throws -> String? {
        try resolved(key, directory: directory, environment: environment).leaves["a"]?.get().secrets["key"]?.reveal()
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch {
            return "\(error)"
        }
    }

    // MARK: Commands

    @Test func `a command's output without its line break is the secret`() throws {
        #expect(try key(#"{"secret": {"exec": ["printf", "%s-%s\n", "a b", "$HOME; exit 3"]}}"#) == "a b-$HOME; exit 3")
        #expect(try key(#"{"secret": {"exec": ["echo", "${NAME}"]}}"#, environment: ["NAME": "x y"]) == "x y")
    }

    @Test func `the path of a program in the file's directory is one word, and no shell reads it`() throws {
        try withTemporaryDirectory { directory in
            try directory.write("print key", "#!/bin/sh\necho \"$#\"\n", mode: 0o700)
            #expect(try key(#"{"secret": {"exec": ["./print key"]}}"#, directory: directory.path) == "0")
            try directory.write("print", "#!/bin/sh\necho key\n", mode: 0o700)
            #expect(try key(#"{"secret": "exec:./print"}"#, directory: directory.path) == "key")
        }
    }

    @Test func `a command runs in the file's directory, where its arguments may name files`() throws {
        try withTemporaryDirectory { directory in
            try directory.write("key", "sesame\n", mode: 0o600)
            #expect(try key(#"{"secret": {"exec": ["cat", "key"]}}"#, directory: directory.path) == "sesame")
            let absent = "\(directory.path)/absent"
            let message = message { _ = try key(#"{"secret": {"exec": ["cat", "key"]}}"#, directory: absent) }
            #expect(message.contains("cannot be started in the directory \(absent): No such file"), "\(message)")
        }
    }

    @Test func `a command gets a small environment, no descriptor and no input`() throws {
        let held = dup(2)
        defer { close(held) }
        let script = "echo $(env | cut -d= -f1) $(ls /proc/self/fd | wc -l); cat; readlink /proc/self/fd/0"
        let output = try key(
            #"{"secret": {"exec": ["sh", "-c", "\#(script)"]}}"#,
            environment: ["PATH": "/usr/bin:/bin", "HOME": "/h", "TOKEN": "t"]
        )
        let lines = try #require(output).split(separator: "\n")
        #expect(lines.first?.contains("TOKEN") == false)
        #expect(lines.first?.contains("HOME") == true)
        // 0, 1, 2, and the directory that ls reads.
        #expect(lines.first?.hasSuffix(" 4") == true, "\(lines)")
        #expect(lines.last == "/dev/null")
    }

    /// In a process of its own, because other tests read the environment.
    @Test func `a command gets variables that are not UTF-8 with the bytes that they have`() async {
        await #expect(processExitsWith: .success) {
            let bytes = [0x2F, 0x78, 0xE4, 0].map { CChar(truncatingIfNeeded: $0) }
            try #require(unsafe setenv("HOME", bytes, 1) == 0)
            let command = #"{"secret": {"exec": ["sh", "-c", "printf %s \"$HOME\" | od -An -tx1"]}}"#
            let configuration = try Configuration(
                parsing:
                    #"{"version": 1, "connectors": [{"name": "a", "plugin": "a", "config": {"key": \#(command)}}]}"#
            )
            let manifest = try SecretSourceTests.manifest.get()
            let resolved = try configuration.resolved(environment: .process) { _ in .success(manifest) }
            let key = try resolved.leaves["a"]?.get().secrets["key"]?.reveal()
            #expect(key == " 2f 78 e4")
        }
    }

    @Test(arguments: [
        (#"["false"]"#, "ended with status 1"), (#"["/absent/program"]"#, "cannot be started"),
        (#"["sh", "-c", "kill -9 $$"]"#, "was ended by signal 9"), (#"["true"]"#, "is empty"),
        (#"["printf", "a\\0b"]"#, "contains a NUL byte"),
        (#"["head", "-c", "70000", "/dev/zero"]"#, "wrote more than 64 KiB"),
        (#"["cat", "/dev/zero"]"#, "wrote more than 64 KiB"),
    ])
    func `a command that fails is an error that shows neither its output nor its arguments`(
        _ words: String,
        _ expected: String
    ) {
        let message = message { _ = try key(#"{"secret": {"exec": \#(words)}}"#) }
        #expect(message.contains(expected), "\(message)")
        #expect(message.contains("[secret-unavailable]"))
        #expect(!message.contains("kill"))
    }

    /// In a process of its own, whose children the system reaps itself.
    @Test func `a command whose status nobody knows has failed`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGCHLD, SIG_IGN)
            for program in ["true", "false"] {
                let command = ChildCommand(
                    [program],
                    environment: .current,
                    timeout: .seconds(60),
                    limit: 100
                )
                #expect(throws: ChildCommand.Failure.unknownEnd) { _ = try command.output() }
            }
        }
    }

    @Test func `a command that does not end is killed with its children, and reaped`() async throws {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        let file = "\(directory.path)/processes"
        let script = "echo $$ > '\(file)'; sleep 100 & echo $! >> '\(file)'; wait; echo x"
        var processes: [pid_t] = []
        // A busy machine may need longer than the timeout to start both.
        while processes.count < 2 {
            let message = message {
                _ = try key(#"{"secret": {"exec": ["sh", "-c", "\#(script)"], "timeout": "100ms"}}"#)
            }
            #expect(message.contains("did not end within 100 ms"), "\(message)")
            processes = systemLines(file).compactMap { pid_t($0) }
        }
        #expect(waitpid(processes[0], nil, WNOHANG) == -1)
        // Its child is left to the system to reap.
        while systemLines("/proc/\(processes[1])/stat").first?.contains(") Z ") == false {
            try await Task.checkedYield()
        }
    }

    @Test func `a child that keeps the pipe open does not delay the secret`() throws {
        try withTemporaryDirectory { directory in
            let file = "\(directory.path)/child"
            let script = "sleep 100 & echo $! > '\(file)'; echo key"
            #expect(try key(#"{"secret": {"exec": ["sh", "-c", "\#(script)"], "timeout": "60s"}}"#) == "key")
            // It has the pipe still.
            let child = try #require(systemLines(file).first.flatMap { pid_t($0) })
            #expect(kill(child, SIGKILL) == 0)
        }
    }

    @Test func `a simulation runs no command`() throws {
        try withTemporaryDirectory { directory in
            let file = "\(directory.path)/ran"
            let key = #"{"secret": {"exec": ["touch", "\#(file)"]}}"#
            let plan = try resolved(key, simulation: SimulationRequest()).leaves["a"]?.get()
            #expect(plan?.placeholders == ["key"])
            let hasRun = unsafe access(file, F_OK) == 0
            #expect(!hasRun)
        }
    }

    // MARK: Credentials and JSON

    @Test func `a credential of systemd is a file in the directory of credentials`() throws {
        try withTemporaryDirectory { directory in
            try directory.write("token", "secret\n", mode: 0o440)
            try directory.write("open", "secret\n", mode: 0o444)
            let environment = ["CREDENTIALS_DIRECTORY": directory.path]
            #expect(try key(#"{"secret": "credential:token"}"#, environment: environment) == "secret")
            #expect(message { _ = try key(#"{"secret": "credential:token"}"#) }.contains("CREDENTIALS_DIRECTORY"))
            for name in ["absent", "open"] {
                let text = message { _ = try key("{\"secret\": \"credential:\(name)\"}", environment: environment) }
                #expect(text.contains("[secret-unavailable]"))
            }
            for name in ["../token", "..", "", "a/b"] {
                let text = message { _ = try key("{\"secret\": \"credential:\(name)\"}", environment: environment) }
                #expect(text.contains("[invalid-value]"), "\(name)")
            }
        }
    }

    @Test func `a member of a JSON file is picked by its pointer`() throws {
        try withTemporaryDirectory { directory in
            try directory.write(
                "all",
                #"{"db": {"user": "u", "pass/word": "hunter2", "port": 5432, "none": null}, "e": ""}"#
            )
            func member(_ pointer: String) throws -> String? {
                try key(#"{"secret": "file:all", "json": "\#(pointer)"}"#, directory: directory.path)
            }
            #expect(try member("/db/pass~1word") == "hunter2")
            #expect(try member("/db/port") == "5432")
            for (pointer, expected) in [
                ("/db/absent", "has no value at /db/absent"), ("/db/none", "must be a text, not null"),
                ("/db", "must be a text, not an object"), ("/e", "not an empty one"), ("db", "JSON Pointer"),
                ("", "the whole value in file:"), ("", "/all must be a text, not an object"),
            ] {
                let text = message { _ = try member(pointer) }
                #expect(text.contains(expected), "\(text)")
                #expect(!text.contains("hunter2"))
            }
            try directory.write("all", "{\"a\": hunter2}")
            let text = message { _ = try member("/a") }
            #expect(text.contains("is not JSON at line 1, column 7"), "\(text)")
            #expect(!text.contains("hunter2"))
        }
    }

    @Test func `only the picked member is redacted as a secret`() throws {
        try withTemporaryDirectory { directory in
            try directory.write("all", #"{"user": "somebody", "password": "hunter2hunter2"}"#)
            let resolved = try resolved(#"{"secret": "file:all", "json": "/password"}"#, directory: directory.path)
            #expect(resolved.redactor.redact("somebody hunter2hunter2") == "somebody •••")
        }
    }

    // MARK: Lists

    @Test func `the first source that can be read is used, and if all fail, the error is that of the first`() throws {
        let environment = ["A": "a", "B": "b"]
        #expect(try key(#"{"secret": ["env:A", "env:B"]}"#, environment: environment) == "a")
        #expect(try key(#"{"secret": ["env:NOPE", {"exec": ["false"]}, "env:B"]}"#, environment: environment) == "b")
        let nested = #"{"secret": ["env:NOPE", {"secret": {"exec": ["echo", "{\"k\": \"v\"}"]}, "json": "/k"}]}"#
        #expect(try key(nested) == "v")
        let text = message { _ = try key(#"{"secret": ["env:NOPE", "file:/absent"]}"#) }
        #expect(text.contains("NOPE"))
    }

    @Test func `a file of a list that is there and refused is told, and one that is absent is not`() throws {
        try Fixtures.withDirectory { directory in
            let environment = ["OLD": "old"]
            let absent = try resolved(#"{"secret": ["file:/absent", "env:OLD"]}"#, environment: environment)
            let first = try #require(try absent.leaves["a"]?.get())
            #expect(first.fault == nil)
            #expect(absent.renew("a", .all).fault == nil)
            let file = "\(directory)/new"
            try Fixtures.write(Array("new".utf8), to: file)
            #expect(Fixtures.run("chmod 644 '\(file)'") == 0)
            let refused = try resolved("{\"secret\": [\"file:\(file)\", \"env:OLD\"]}", environment: environment)
            let plan = try #require(try refused.leaves["a"]?.get())
            #expect(plan.secrets["key"]?.reveal() == "old")
            #expect(plan.fault?.fields == ["key"])
            #expect(plan.fault?.warning.contains("mode 644") == true)
            #expect(refused.renew("a", .files).fault?.warning.contains("mode 644") == true)
            #expect(Fixtures.run("chmod 600 '\(file)'") == 0)
            let renewed = refused.renew("a", .files)
            #expect(renewed.fault == nil)
            #expect(renewed.alternatives.first?.secrets["key"]?.reveal() == "new")
        }
    }

    @Test func `secrets of which none can be read have a fault, which a command that did not run cannot have`() throws {
        try Fixtures.withDirectory { directory in
            let file = "\(directory)/key"
            let environment = ["HOME": directory]
            try Fixtures.write(Array("1".utf8), to: file)
            #expect(Fixtures.run("chmod 600 '\(file)'") == 0)
            let sources = #"{"secret": {"exec": ["sh", "-c", "cat $HOME/key"]}}"#
            let printed = try resolved(sources, environment: environment)
            let read = try resolved("{\"secret\": \"file:\(file)\"}", environment: environment)
            #expect(read.renew("a", .all).fault == nil)
            #expect(Fixtures.run("rm '\(file)'") == 0)
            let absent = try #require(read.renew("a", .files).fault)
            #expect(absent.fields == ["key"] && !absent.isOfCommand)
            #expect(printed.renew("a", .files).fault == nil)
            let failed = try #require(printed.renew("a", .all).fault)
            #expect(failed.fields == ["key"] && failed.isOfCommand)
            #expect(printed.renew("a", .files).alternatives.count == 1)
        }
    }

    @Test func `lists of sources are read row by row, so that the old key comes with the old certificate`() throws {
        let environment = ["NEWKEY": "2", "OLDKEY": "1", "OLDCERTIFICATE": "1"]
        let resolved = try resolved(
            #"{"secret": ["env:NEWKEY", "env:OLDKEY"]}"#,
            #"{"secret": ["env:NEWCERTIFICATE", "env:OLDCERTIFICATE"]}"#,
            environment: environment
        )
        let plan = try #require(try resolved.leaves["a"]?.get())
        #expect(plan.secrets.mapValues { $0.reveal() } == ["key": "1", "certificate": "1"])
        #expect(plan.hasAlternatives)
        #expect(resolved.renew("a", .all).alternatives.map { $0.secrets["key"]?.reveal() } == ["1"])
    }

    @Test(arguments: [
        (#"["env:A", {"exec": ["sh", "-c", "echo run >> $HOME/runs; echo b"]}]"#, 0),
        (#"[{"exec": ["sh", "-c", "echo run >> $HOME/runs; exit 1"]}, "env:A"]"#, 1),
        (#"[{"exec": ["sh", "-c", "echo run >> $HOME/runs; echo b"]}, "env:A"]"#, 1),
    ])
    func `after a proof no command runs, whether it was not needed, has failed or has printed the secret`(
        _ sources: String,
        _ runs: Int
    ) throws {
        try Fixtures.withDirectory { directory in
            let environment = ["A": "a", "HOME": directory]
            let resolved = try resolved("{\"secret\": \(sources)}", environment: environment)
            let secret = try resolved.leaves["a"]?.get().secrets["key"]
            for _ in 0..<2 {
                #expect(resolved.renew("a", .files).alternatives.first?.secrets["key"] == secret)
            }
            #expect(systemLines("\(directory)/runs").count == runs)
            _ = resolved.renew("a", .all)
            #expect(systemLines("\(directory)/runs").count == runs + 1)
        }
    }

    @Test(arguments: [
        #"{"secret": []}"#, #"{"secret": [["env:A"]]}"#, #"{"secret": [1]}"#, #"{"secret": {"exec": []}}"#,
        #"{"secret": {"exec": "pass"}}"#, #"{"secret": {"exec": ["pass"], "timeout": "2h"}}"#,
        #"{"secret": {"exec": ["pass"], "shell": true}}"#, #"{"secret": "exec:pass show x"}"#,
        #"{"secret": "vault:x"}"#,
        #"{"secret": "env:A", "json": 1}"#, #"{"secret": {"run": ["pass"]}}"#,
    ])
    func `a malformed source is a fault of the file`(_ text: String) {
        let message = message { _ = try key(text, environment: ["A": "a"]) }
        #expect(!message.isEmpty && !message.contains("[secret-unavailable]"), "\(message)")
    }

    // MARK: Snapshots

    @Test func `rotations at any moment yield no mixed pair`() throws {
        try Fixtures.withDirectory { directory in
            let rotation = try SecretRotation(directory)
            let resolved = try resolved(
                "{\"secret\": \"file:\(directory)/current/key\"}",
                "{\"secret\": \"file:\(directory)/current/certificate\"}"
            )
            let failure = Mutex<(any Error)?>(nil)
            let isDone = Atomic(false)
            let thread = HostThread.start("rotation") {
                do {
                    while rotation.rotations < 2000 { try rotation.rotate() }
                } catch {
                    failure.withLock { $0 = error }
                }
                isDone.store(true, ordering: .releasing)
            }
            #expect(thread)
            var snapshots = 0
            while !isDone.load(ordering: .acquiring) {
                guard let plan = resolved.renew("a", .files).alternatives.first else { continue }
                snapshots += 1
                try #require(plan.secrets["key"] == plan.secrets["certificate"])
            }
            #expect(failure.withLock { $0 } == nil)
            #expect(snapshots > 0)
            let last = resolved.renew("a", .files).alternatives.first?.secrets.values.map { $0.reveal() }
            #expect(last == ["secret-2000", "secret-2000"])
        }
    }
}
