// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The outbox on damaged files, and on disks that are full or cannot be written.
@Suite(.timeLimit(.minutes(10))) struct OutboxDiskTests {
    /// What is only in the log may outlive the file, and the other way around.
    @Test(arguments: [["outbox.sqlite"], ["outbox.sqlite-wal"], ["outbox.sqlite", "outbox.sqlite-wal"]])
    func `files that are damaged beneath a host do not end its deliveries`(_ names: [String]) async throws {
        let bench = try await OutboxWorkspace()
        let host = try bench.run("--grace", "1m")
        let first = bench.sink.expect(.answered, 1)
        try await bench.track("m1")
        try await first.met()
        let damage = String(repeating: "no database ", count: 1000)
        for name in names { try bench.workspace.write(damage, to: "state/\(name)") }
        let second = bench.sink.expect(.answered, 1)
        try await bench.track("m2")
        try await second.met()
        #expect(try await bench.end(host) == ["version": 1, "queued": 0])
        #expect(bench.sink.taken["m2"] == 1)
        try await bench.sink.stop()
    }

    @Test func `a command that sets a damaged file aside says so, and where it is`() async throws {
        let bench = try await OutboxWorkspace()
        try await bench.track("m1")
        try bench.workspace.write(String(repeating: "no database ", count: 1000), to: "state/outbox.sqlite")
        let first = try await bench.program.run("outbox", "list", "--json")
        #expect(first.status == 0)
        #expect(try JSONValue(parsing: first.output) == ["version": 1, "outboxes": []])
        #expect(first.error.hasPrefix("warning: the outbox file was damaged or replaced ("), "\(first.error)")
        #expect(first.error.contains("kept as "), "\(first.error)")
        #expect(first.error.contains("state/outbox.sqlite.damaged-"), "\(first.error)")
        #expect(try await bench.program.run("outbox", "list").error.isEmpty)
        try await bench.sink.stop()
    }

    @Test func `an outbox that cannot be used is one error of send, and no line of its log besides`() async throws {
        let bench = try await OutboxWorkspace()
        let state = "\(bench.workspace.path)/state"
        #expect(shell("mkdir -m 700 '\(state)' && mkfifo -m 600 '\(state)/outbox.sqlite'") == 0)
        let result = try await bench.program.run("send", "segment", "track", "event=e", "userId=u")
        #expect(result.status == 1)
        #expect(result.error.split(separator: "\n").count { $0.hasPrefix("error: ") } == 1, "\(result.error)")
        #expect(result.error.contains("outbox.sqlite") && !result.error.contains("error="), "\(result.error)")
        try await bench.sink.stop()
    }

    /// Runs commands of the shell with a file system of their own as the directory of the outbox.
    private func run(_ bench: OutboxWorkspace, mount: String, _ commands: String) async throws -> Program.Result {
        let script = "mkdir -p state && mount -t tmpfs -o \(mount) none state && \(commands)"
        return try await bench.program.startMounting(script).finish()
    }

    @Test(.enabled(if: Program.mayMount, "only root may mount"))
    func `a disk that cannot be written is an error with a remedy`() async throws {
        let bench = try await OutboxWorkspace()
        for command in ["send segment track event=e userId=u", "run"] {
            let result = try await run(bench, mount: "ro,mode=700", "\"$0\" \(command)")
            #expect(result.status == 1, "\(result.output)")
            #expect(result.error.contains("state"), "\(result.error)")
            #expect(result.error.contains("writable"), "\(result.error)")
        }
        try await bench.sink.stop()
    }

    @Test(.enabled(if: Program.mayMount, "only root may mount"))
    func `a disk without inodes is an error that says to free some`() async throws {
        let bench = try await OutboxWorkspace()
        // The root of the file system has the only one.
        let send = "\"$0\" send segment track event=e userId=u"
        let result = try await run(bench, mount: "nr_inodes=1,mode=700", send)
        #expect(result.status == 1, "\(result.output)")
        #expect(result.error.contains("free space on the disk") && result.error.contains("inodes"), "\(result.error)")
        try await bench.sink.stop()
    }

    @Test(.enabled(if: Program.mayMount, "only root may mount"), arguments: ["ro,mode=700", "size=16k,mode=700"])
    func `a report is not ready if events cannot be stored`(_ mount: String) async throws {
        let bench = try await OutboxWorkspace()
        let result = try await run(bench, mount: mount, "\"$0\" status; \"$0\" status --json")
        #expect(result.status == 1, "\(result.output)")
        let start = try #require(result.output.firstIndex(of: "{"))
        let document = try JSONValue(parsing: String(result.output[start...]))
        #expect(document["ready"]?.bool == false)
        #expect(document["outbox"]?["ready"]?.bool == false)
        #expect(document["outbox"]?["error"]?["code"]?.string == "storage")
        #expect(result.output.contains("error: the outbox"), "\(result.output)")
        #expect(result.output.contains("not ready"))
        try await bench.sink.stop()
    }

    @Test(.enabled(if: Program.mayMount, "only root may mount"))
    func `a full disk is an error, and the outbox can still be read`() async throws {
        let bench = try await OutboxWorkspace()
        let text = (1...5000).map { OutboxWorkspace.line("m\($0)") }.joined()
        try bench.workspace.write(text, to: "events.jsonl")
        let result = try await run(
            bench,
            mount: "size=1m,mode=700",
            "\"$0\" send segment track - < events.jsonl; echo $? && \"$0\" outbox --json"
        )
        #expect(result.lines.first == "1")
        #expect(result.error.contains("free space on the disk"), "\(result.error)")
        // Reading needs no space.
        #expect(result.output.contains("\"segment\""), "\(result.output) \(result.error)")
        try await bench.sink.stop()
    }

    @Test(.enabled(if: Program.mayMount, "only root may mount"))
    func `on a full disk the lines before the first that does not fit are stored, and no others`() async throws {
        let bench = try await OutboxWorkspace()
        let text = (1...5000).map { OutboxWorkspace.line("m\($0)") }.joined()
        try bench.workspace.write(text, to: "events.jsonl")
        let script = """
            head -c 200k /dev/zero > state/filler
            "$0" send segment track - --json < events.jsonl > sent.json
            rm state/filler
            last=$(sed -n 's/.*"sent": \\([0-9]*\\).*/\\1/p' sent.json)
            "$0" outbox show m$last > shown.txt || exit 3
            "$0" outbox show m$((last + 1)) > shown.txt 2>&1 && exit 4
            exec "$0" outbox --json
            """
        let result = try await run(bench, mount: "size=1200k,mode=700", script)
        #expect(result.status == 0, "\(result)")
        let sent = try JSONValue(parsing: readFile(at: "\(bench.workspace.path)/sent.json"))
        let count = try #require(sent["sent"]?.integer)
        #expect(count < 5000)
        let message = sent["errors"]?[0]?["message"]?.string
        #expect(message?.hasPrefix("line \(count + 1) of standard input: ") == true, "\(sent)")
        #expect(message?.contains("all the same") == false)
        #expect(try JSONValue(parsing: result.output)["outboxes"]?.array?.first?["queued"] == .integer(count))
        try await bench.sink.stop()
    }

    @Test(.enabled(if: Program.mayMount, "only root may mount"), arguments: [false, true])
    func `a volume that events have filled is emptied by delivering or by dropping them`(
        _ isDropping: Bool
    ) async throws {
        let bench = try await OutboxWorkspace()
        let text = (1...50_000).map { OutboxWorkspace.line("m\($0)") }.joined()
        try bench.workspace.write(text, to: "events.jsonl")
        let drop = "\"$0\" outbox drop --all --queued --gate segment >&2 || exit 4;"
        let script = """
            mkdir -p state && mount -t tmpfs -o size=6m,mode=700 none state || exit 2
            "$0" send segment track - < events.jsonl > sent.txt 2>&1
            test $? = 1 || exit 3
            \(isDropping ? drop : "") exec "$0" run --json --grace 1m
            """
        let host = try bench.program.startMounting(script)
        await host.error(until: "gate opened")
        #expect(try await bench.end(host) == ["version": 1, "queued": 0])
        #expect(isDropping == bench.sink.taken.isEmpty)
        #expect(bench.sink.taken.values.allSatisfy { $0 == 1 })
        try await bench.sink.stop()
    }

    @Test(.enabled(if: Program.mayMount, "only root may mount"))
    func `a host that cannot start on a full disk says why, and delivers once there is room`() async throws {
        let bench = try await OutboxWorkspace()
        let text = (1...20).map { OutboxWorkspace.line("m\($0)") }.joined()
        try bench.workspace.write(text, to: "events.jsonl")
        let script = """
            mkdir -p state && mount -t tmpfs -o size=2m,mode=700 none state || exit 2
            "$0" send segment track - < events.jsonl >&2 || exit 3
            dd if=/dev/zero of=state/filler bs=4k 2> /dev/null
            "$0" run > refused.txt 2>&1
            test $? = 1 || exit 4
            rm state/filler
            exec "$0" run --json --grace 1m
            """
        let host = try bench.program.startMounting(script)
        await host.error(until: "gate opened")
        #expect(try await bench.end(host) == ["version": 1, "queued": 0])
        #expect(bench.sink.taken.count == 20 && bench.sink.taken.values.allSatisfy { $0 == 1 })
        let refused = try readFile(at: "\(bench.workspace.path)/refused.txt")
        #expect(refused.contains("the disk is full") && refused.contains("a few megabytes to be opened"), "\(refused)")
        #expect(!refused.contains("gate opened"), "\(refused)")
        try await bench.sink.stop()
    }

    @Test(.enabled(if: Program.mayMount, "only root may mount"))
    func `a disk that fills up while events are delivered loses none of them, and sends none again`() async throws {
        let bench = try await OutboxWorkspace()
        let sink = bench.sink
        sink.answers { _ in .away }
        let text = (1...200).map { OutboxWorkspace.line("m\($0)") }.joined()
        try bench.workspace.write(text, to: "events.jsonl")
        let script = """
            mkdir -p state && mount -t tmpfs -o size=8m,mode=700 none state &&
            "$0" send segment track - < events.jsonl > /dev/null && exec "$0" run --json --grace 1m
            """
        let host = try bench.program.startMounting(script)
        /// Runs commands of the shell with the same file systems as the host.
        func beside(_ commands: String) async throws -> Program.Result {
            let script = "cd '\(bench.workspace.path)' && \(commands)"
            let words = ["-t", "\(host.identifier)", "-m", "sh", "-c", script, Program.path]
            return try await Child(start: "/usr/bin/nsenter", words, bench.program).finish()
        }
        func outbox() async throws -> JSONValue? {
            let status = try await beside("\"$0\" status --json")
            #expect(!status.output.isEmpty, "\(status)")
            return try JSONValue(parsing: status.output)["gates"]?.array?.first?["outbox"]
        }
        await host.error(until: "gate opened")
        // Between taking the first batch and its answer nothing fits any more.
        let filler = "\(bench.workspace.path)/state/filler"
        let fill = "nsenter -t \(host.identifier) -m sh -c 'test -e \(filler) || cat /dev/zero > \(filler)' 2>&-"
        sink.answers { _ in
            shell(fill)
            return .takes
        }
        while try await outbox()?["code"] != "storage" {}
        #expect(try await beside("rm state/filler").status == 0)
        #expect(try await bench.end(host) == ["version": 1, "queued": 0])
        #expect(sink.taken == Dictionary(uniqueKeysWithValues: (1...200).map { ("m\($0)", 1) }))
        try await sink.stop()
    }
}
