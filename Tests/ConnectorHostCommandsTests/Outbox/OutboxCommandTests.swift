// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `connector-host send`, `outbox` and `run`, alone and beside each other.
@Suite(.timeLimit(.minutes(10))) struct OutboxCommandTests {
    /// Sends one event.
    private func send(_ bench: OutboxWorkspace, _ id: String) async throws {
        let sent = try await bench.json("send", "segment", "track", "event=event \(id)", "messageId=\(id)", "userId=u")
        #expect(sent == ["version": 1, "path": "segment", "operation": "track", "sent": 1, "id": .string(id)])
    }

    /// Ends a host as a service manager does.
    private func end(_ host: Child) async throws -> JSONValue {
        host.signal(SIGTERM)
        let result = try await host.finish()
        #expect(result.status == 0, "\(result.error)")
        return try JSONValue(parsing: result.output)
    }

    @Test func `without a host, events are stored, shown and dropped`() async throws {
        let bench = try await OutboxWorkspace()
        #expect(try await bench.program.run("outbox").output == "no events sent yet\n")
        #expect(try await bench.json("outbox") == ["version": 1, "outboxes": []])
        try await send(bench, "m1")
        let listed = try await bench.json("outbox", "list")["outboxes"]?.array?.first
        #expect(listed?["connector"] == "segment")
        #expect(listed?["queued"] == 1)
        #expect(try await bench.program.run("outbox", "list").output.contains("segment"))
        let shown = try await bench.json("outbox", "show", "m1")
        #expect(shown["event"]?["messageId"] == "m1")
        #expect(shown["operation"] == "track")
        #expect(try await bench.program.run("outbox", "show", "m1").output.contains("\"event m1\""))
        let explained = try await bench.json("outbox", "explain", "m1")
        #expect(explained["connectors"] == [["connector": "segment", "state": "queued", "attempts": []]])
        #expect(explained["event"] == nil)
        #expect(try await bench.program.run("outbox", "explain", "m1").output.contains("no attempt yet"))
        for command in [["show"], ["explain"], ["replay"], ["drop"]] {
            let unknown = try await bench.program.start(["outbox"] + command + ["m2"]).finish()
            #expect(unknown.status == 1 && unknown.output == "", "\(command)")
        }
        #expect(try await bench.program.run("outbox", "list", "--gate", "segmnt").error.contains("segment"))
        #expect(try await bench.json("outbox", "drop", "m1", "--queued") == ["version": 1, "dropped": 1])
        let after = try await bench.json("outbox", "list")["outboxes"]?.array?.first
        #expect(after?["queued"] == 0 && after?["dropped"] == 1)
        #expect(try await bench.program.run("outbox", "dead").output == "no dead letters\n")
        try await bench.sink.stop()
    }

    @Test func `events in the folder that an earlier version used are warned of`() async throws {
        let bench = try await OutboxWorkspace()
        var program = bench.program
        program.environment["HOME"] = bench.workspace.path
        let file: JSONValue = ["version": 1, "connectors": [bench.leaf("segment")]]
        try bench.workspace.write(file.serialized(pretty: true), to: "connectors.json")
        #expect(try await program.run("send", "segment", "track", "event=Seen", "userId=u").status == 0)
        let state = "\(bench.workspace.path)/.local/state/connector-host"
        let digest = "printf %s \"$(realpath '\(bench.workspace.path)/connectors.json')\" | sha256sum | cut -d ' ' -f 1"
        try #require(shell("cd '\(state)' && mv *.file \"$(\(digest)).file\"") == 0)
        let result = try await program.run("outbox")
        #expect((result.output + result.error).contains("1 event waits in \(state)/"), "\(result)")
        try await bench.sink.stop()
    }

    @Test(arguments: ["name", "state"])
    func `events that another name or state leaves behind are warned of until they are delivered`(
        _ key: String
    ) async throws {
        let bench = try await OutboxWorkspace()
        var program = bench.program
        program.environment["HOME"] = bench.workspace.path
        func configure(_ name: String?, _ value: String = "") throws {
            var file: JSONObject = ["version": 1, "connectors": [bench.leaf("segment")]]
            if let name { file[name] = .string(value) }
            try bench.workspace.write(JSONValue.object(file).serialized(pretty: true), to: "connectors.json")
        }
        func warnings() async throws -> [String] {
            let document = try JSONValue(parsing: try await program.run("validate", "--json").output)
            return try #require(document["warnings"]?.array).compactMap(\.string)
        }
        try configure(nil)
        #expect(try await program.run("send", "segment", "track", "event=Seen", "userId=u").status == 0)
        #expect(try await program.run("outbox").error.isEmpty)
        #expect(try await warnings().isEmpty)

        try configure(key, "shop")
        let warning = try #require(try await warnings().first)
        #expect(warning.hasPrefix("1 event waits in \(bench.workspace.path)/.local/state/"), "\(warning)")
        for command in ["validate", "outbox", "status"] {
            let result = try await program.run(command)
            #expect(result.status == 0 && (result.output + result.error).contains(warning), "\(result)")
        }
        let earlier = try #require(warning.split(separator: " waits in ").last?.split(separator: ", where").first)
        let host = try program.start(["run", "--json"])
        let log = await host.error(until: "directory=\(earlier)")
        #expect(log.contains("warning: events wait where this host does not look"), "\(log)")
        _ = try await end(host)

        try configure("state", String(earlier))
        #expect(try await warnings().isEmpty)
        let second = try program.start(["run", "--json"])
        while !(try await program.run("outbox", "--json").output.contains("\"queued\": 0")) {}
        _ = try await end(second)
        try configure(key, "shop")
        #expect(try await warnings().isEmpty)
        try await bench.sink.stop()
    }

    @Test(arguments: [false, true])
    func `an unknown id is named, and the others are acted on`(_ isBesideHost: Bool) async throws {
        let bench = try await OutboxWorkspace()
        bench.sink.answers { _ in .away }
        let host = isBesideHost ? try bench.run("--grace", "100ms") : nil
        for id in ["m1", "m2", "m3"] { try await send(bench, id) }
        let attachment = isBesideHost ? "--attach" : "--no-attach"
        while try await bench.program.run("outbox", "show", "m3", attachment).status != 0 {}
        let json = try await bench.program.run("outbox", "drop", "m1", "m9", "--queued", "--json", attachment)
        #expect(json.status == 1)
        let document = try JSONValue(parsing: json.output)
        #expect(document["dropped"] == 1 && document["errors"]?[0]?["code"] == "missing", "\(json.output)")
        let text = try await bench.program.run("outbox", "drop", "m2", "m8", "m9", "--queued", attachment)
        #expect(text.status == 1 && text.output == "dropped 1 event\n")
        #expect(text.error.hasPrefix("error: no event has the id m8, m9 [missing]\n"), "\(text.error)")
        let none = try await bench.program.run("outbox", "drop", "m8", "m9", "--queued", attachment)
        #expect(none.status == 1 && none.output.isEmpty)
        #expect(none.error.hasPrefix("error: no event has the id m8, m9 [missing]\n"), "\(none.error)")
        // A waiting event is not a dead letter.
        let waiting = try await bench.program.run("outbox", "replay", "m3", attachment)
        #expect(waiting.status == 1 && waiting.output.isEmpty)
        #expect(waiting.error.hasPrefix("error: no dead letter has the id m3 [missing]\n"), "\(waiting.error)")
        if let host { _ = try await end(host) }
        try await bench.sink.stop()
    }

    @Test(arguments: ["[1]", #"{"event":""#, #"{"event":"","userId":"u"}"#, #"{"event":"e","userId":1}"#])
    func `a line that is not an event is an error with its number, and only the lines before it are stored`(
        _ wrong: String
    ) async throws {
        let bench = try await OutboxWorkspace()
        let good = (1...300).map { OutboxWorkspace.line("m\($0)") }.joined()
        let after = (301...320).map { OutboxWorkspace.line("m\($0)") }.joined()
        try bench.workspace.write(good + wrong + "\n" + after, to: "events.jsonl")
        let result = try await bench.send("segment", file: "events.jsonl").finish()
        #expect(result.status == 1)
        let document = try JSONValue(parsing: result.output)
        let error = document["errors"]?[0]
        #expect(error?["message"]?.string?.hasPrefix("line 301 of standard input: ") == true, "\(result.output)")
        #expect(error?["line"] == (wrong == #"{"event":""# ? 301 : nil), "\(result.output)")
        #expect(document["sent"] == 300)
        #expect(try await bench.json("outbox")["outboxes"]?.array?.first?["queued"] == 300)
        var program = bench.program
        program.input = "\(bench.workspace.path)/events.jsonl"
        let text = try await program.run("send", "segment", "track", "-")
        #expect(text.status == 1 && text.error.hasSuffix("\n300 events stored\n"), "\(text.error)")
        try await bench.sink.stop()
    }

    @Test func `lines from a pipe are stored as they come, and a signal that ends the command keeps them`() async throws
    {
        let bench = try await OutboxWorkspace()
        let pipe = "\(bench.workspace.path)/events"
        #expect(shell("mkfifo '\(pipe)'") == 0)
        // For writing, too: the command would otherwise not start before someone writes.
        let writing = unsafe open(pipe, O_RDWR | O_CLOEXEC)
        try #require(writing >= 0)
        defer { close(writing) }
        let command = try bench.send("segment", file: "events")
        let text = Array(((1...3).map { OutboxWorkspace.line("m\($0)") }.joined() + "{\"event\":").utf8)
        #expect(unsafe write(writing, text, text.count) == text.count)
        while try await bench.json("outbox")["outboxes"]?.array?.first?["queued"] != 3 {}
        command.signal(SIGTERM)
        let result = try await command.finish()
        #expect(result.status == 143 && !result.error.contains("waiting for"), "\(result.error)")
        #expect(try JSONValue(parsing: result.output)["sent"] == 3)
        #expect(try await bench.json("outbox")["outboxes"]?.array?.first?["queued"] == 3)
        try await bench.sink.stop()
    }

    @Test(
        arguments: [
            (#"EVENT\r\n\n \r\nEVENT\r\n"#, 2, nil), (#"EVENT\nEVENT"#, 2, nil), ("", 0, nil),
            (#"EVENT\n\n{"event":"\377"}\n"#, 1, "line 3 of standard input"),
            (#"EVENT\n{"event":"#, 1, "line 2 of standard input"),
        ] as [(String, Int64, String?)]
    )
    func `a line may end with a carriage return or the input, and must be JSON in UTF-8`(
        _ format: String,
        _ count: Int64,
        _ error: String?
    ) async throws {
        let bench = try await OutboxWorkspace()
        let text = format.replacing("EVENT", with: #"{"event":"e","userId":"u"}"#)
        #expect(shell("printf '\(text)' > '\(bench.workspace.path)/events.jsonl'") == 0)
        let result = try await bench.send("segment", file: "events.jsonl").finish()
        #expect(result.status == (error == nil ? 0 : 1))
        let document = try JSONValue(parsing: result.output)
        #expect(document["sent"] == .integer(count))
        #expect(document["errors"]?[0]?["message"]?.string?.contains(error ?? "") == (error == nil ? nil : true))
        let queued = try await bench.json("outbox")["outboxes"]?.array?.first?["queued"]
        #expect(queued == (count == 0 ? nil : .integer(count)))
        try await bench.sink.stop()
    }

    @Test func `beside a host, commands show its attempts and replay dead letters, and no second host runs`()
        async throws
    {
        let bench = try await OutboxWorkspace()
        let sink = bench.sink
        sink.answers { _ in .away }
        let host = try bench.run()
        let triedTwice = sink.expect(.began, 2)
        try await send(bench, "m1")
        try await triedTwice.met()
        let attempt = try await bench.json("outbox", "explain", "m1")["connectors"]?.array?.first?["attempts"]?.array?
            .first
        #expect(attempt?["code"] == "unavailable")
        let second = try await bench.program.run("run")
        #expect(second.status == 1)
        #expect(second.error.contains("another process delivers the events"))
        sink.answers { _ in .refuses }
        var letters: [JSONValue] = []
        while letters.isEmpty { letters = try await bench.json("outbox", "dead")["dead"]?.array ?? [] }
        #expect(letters.first?["id"] == "m1" && letters.first?["code"] == "invalid")
        #expect(letters.first?["reason"]?.string?.contains("bad event") == true)
        for attachment in ["--attach", "--no-attach"] {
            let page = try await bench.json("outbox", "dead", "--limit", "1", attachment)
            let place = try #require(page["next"]?.string)
            let lines = try await bench.program.run("outbox", "dead", "--limit", "1", attachment).output
            #expect(lines.hasSuffix("there may be more: --after \(place)\n"))
            #expect(try await bench.json("outbox", "dead", "--after", place, attachment) == ["version": 1, "dead": []])
        }
        let wrong = try await bench.program.run("outbox", "dead", "--after", "m1")
        #expect(wrong.status == 64 && wrong.error.contains("'m1' is not a cursor"))
        sink.answers { _ in .takes }
        let replayed = sink.expect(.answered, 1)
        #expect(try await bench.json("outbox", "replay", "--all") == ["version": 1, "replayed": 1])
        try await replayed.met()
        #expect(try await end(host) == ["version": 1, "queued": 0])
        #expect(sink.taken == ["m1": 1])
        #expect(try await bench.json("outbox", "explain", "m1")["connectors"]?.array?.first?["state"] == "delivered")
        try await sink.stop()
    }

    @Test func `a host that is told to stop exits with 0 after its grace, and says what is left`() async throws {
        let bench = try await OutboxWorkspace()
        bench.sink.answers { _ in .away }
        let tried = bench.sink.expect(.answered, 1)
        let host = try bench.run("--grace", "100ms")
        try await send(bench, "m1")
        try await tried.met()
        #expect(try await end(host) == ["version": 1, "queued": 1])
        bench.sink.answers { _ in .takes }
        let arrives = bench.sink.expect(.read, 1)
        let next = try bench.run("--grace", "1m")
        try await arrives.met()
        #expect(try await end(next) == ["version": 1, "queued": 0])
        #expect(bench.sink.taken == ["m1": 1])
        try await bench.sink.stop()
    }

    @Test func `while a key is wrong the events wait, and a new one in its file delivers them`() async throws {
        let bench = try await OutboxWorkspace()
        try bench.configure(
            bench.leaf(
                "segment",
                ["config": ["endpoint": .string(bench.sink.url), "writeKey": ["secret": "file:key"]]]
            )
        )
        try bench.workspace.write("old", to: "key")
        bench.sink.answers { key in key == "Basic bmV3Og==" ? .takes : .unauthorized }
        let host = try bench.run("--grace", "1m")
        let refused = bench.sink.expect(.answered, 2)
        try await send(bench, "m1")
        try await refused.met()
        let attempt = try await bench.json("outbox", "explain", "m1")["connectors"]?.array?.first?["attempts"]?.array?
            .first
        #expect(attempt?["code"] == "unauthorized")
        try bench.workspace.write("new", to: "key")
        #expect(try await end(host) == ["version": 1, "queued": 0])
        #expect(bench.sink.taken == ["m1": 1])
        #expect(Set(bench.sink.keys) == ["Basic b2xkOg==", "Basic bmV3Og=="])
        try await bench.sink.stop()
    }

    @Test func `a vendor that goes away, comes back, and changes its key twice gets everything once`() async throws {
        let bench = try await OutboxWorkspace()
        let (sink, port) = (bench.sink, bench.sink.port)
        let config: JSONValue = ["endpoint": .string(sink.url), "writeKey": ["secret": "file:key"]]
        try bench.configure(bench.leaf("segment", ["config": config]))
        try bench.workspace.write("one", to: "key")
        sink.answers { key in key == "Basic b25lOg==" ? .takes : .unauthorized }
        let host = try bench.run("--grace", "1m")
        func sendAll(_ name: String) async throws {
            let text = (1...300).map { OutboxWorkspace.line("\(name)-\($0)") }.joined()
            try bench.workspace.write(text, to: "\(name).jsonl")
            let sent = try await bench.send("segment", file: "\(name).jsonl").finish()
            #expect(sent.status == 0, "\(sent.error)")
        }
        try await sendAll("before")
        // The host knows that the vendor has them.
        while try await bench.json("outbox")["outboxes"]?.array?.first?["queued"] != 0 {}
        try await sink.stop()
        try await sendAll("away")
        let refused = sink.expect(.answered, 2)
        sink.answers { key in key == "Basic dHdvOg==" ? .takes : .unauthorized }
        try await sink.listen(port)
        try await refused.met()
        try bench.workspace.write("two", to: "key")
        try await sink.expect("away-300").met()
        let refusedAgain = sink.expect(.answered, 2)
        sink.answers { key in key == "Basic dGhyZWU6" ? .takes : .unauthorized }
        try await sendAll("after")
        try await refusedAgain.met()
        try bench.workspace.write("three", to: "key")
        #expect(try await end(host) == ["version": 1, "queued": 0])
        let ids = ["before", "away", "after"].flatMap { name in (1...300).map { "\(name)-\($0)" } }
        #expect(sink.taken == Dictionary(uniqueKeysWithValues: ids.map { ($0, 1) }))
        try await sink.stop()
    }

    @Test(arguments: [(Sink.Answer.forbidden, "unauthorized"), (.absent, "missing")])
    func `no event is lost while the vendor answers 403 or 404`(_ answer: Sink.Answer, _ code: String) async throws {
        let bench = try await OutboxWorkspace()
        bench.sink.answers { _ in answer }
        let host = try bench.run("--grace", "1m")
        let refused = bench.sink.expect(.answered, 3)
        try await send(bench, "m1")
        try await refused.met()
        let event = try await bench.json("outbox", "explain", "m1")["connectors"]?.array?.first
        #expect(event?["state"] == "queued")
        #expect(event?["attempts"]?.array?.first?["code"]?.string == code)
        bench.sink.answers { _ in .takes }
        #expect(try await end(host) == ["version": 1, "queued": 0])
        #expect(bench.sink.taken == ["m1": 1])
        try await bench.sink.stop()
    }

    // MARK: Disks

    /// What is only in the log may outlive the file, and the other way around.
    @Test(arguments: [["outbox.sqlite"], ["outbox.sqlite-wal"], ["outbox.sqlite", "outbox.sqlite-wal"]])
    func `files that are damaged beneath a host do not end its deliveries`(_ names: [String]) async throws {
        let bench = try await OutboxWorkspace()
        let host = try bench.run("--grace", "1m")
        let first = bench.sink.expect(.answered, 1)
        try await send(bench, "m1")
        try await first.met()
        let damage = String(repeating: "no database ", count: 1000)
        for name in names { try bench.workspace.write(damage, to: "state/\(name)") }
        let second = bench.sink.expect(.answered, 1)
        try await send(bench, "m2")
        try await second.met()
        #expect(try await end(host) == ["version": 1, "queued": 0])
        #expect(bench.sink.taken["m2"] == 1)
        try await bench.sink.stop()
    }

    @Test func `a command that sets a damaged file aside says so, and where it is`() async throws {
        let bench = try await OutboxWorkspace()
        try await send(bench, "m1")
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

    private static let mounts = geteuid() == 0 && shell("unshare -m true 2>/dev/null") == 0

    /// Runs commands of the shell with a file system of their own as the directory of the outbox.
    private func run(_ bench: OutboxWorkspace, mount: String, _ commands: String) async throws -> Program.Result {
        let script = "mkdir -p state && mount -t tmpfs -o \(mount) none state && \(commands)"
        let words = ["-m", "sh", "-c", script, Program.path]
        return try await Child(start: "/usr/bin/unshare", words, bench.program).finish()
    }

    @Test(.enabled(if: mounts, "only root may mount"))
    func `a disk that cannot be written is an error with a remedy`() async throws {
        let bench = try await OutboxWorkspace()
        for command in ["send segment track event=e userId=u", "run"] {
            let result = try await run(bench, mount: "ro,mode=700", "\"$0\" \(command)")
            #expect(result.status == 1, "\(result.output)")
            #expect(result.error.contains("state"), "\(result.error)")
        }
        try await bench.sink.stop()
    }

    @Test(.enabled(if: mounts, "only root may mount"), arguments: ["ro,mode=700", "size=16k,mode=700"])
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

    @Test(.enabled(if: mounts, "only root may mount"))
    func `a full disk is an error, and the outbox can still be read`() async throws {
        let bench = try await OutboxWorkspace()
        let text = (1...5000).map { OutboxWorkspace.line("m\($0)") }.joined()
        try bench.workspace.write(text, to: "events.jsonl")
        let result = try await run(
            bench,
            mount: "size=400k,mode=700",
            "\"$0\" send segment track - < events.jsonl; echo $? && \"$0\" outbox --json"
        )
        #expect(result.lines.first == "1")
        #expect(result.error.contains("free space on the disk"), "\(result.error)")
        // Reading needs no space.
        #expect(result.output.contains("\"segment\""), "\(result.output) \(result.error)")
        try await bench.sink.stop()
    }

    @Test(.enabled(if: mounts, "only root may mount"))
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
        let words = ["-m", "sh", "-c", script, Program.path]
        let host = try Child(start: "/usr/bin/unshare", words, bench.program)
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
        #expect(try await end(host) == ["version": 1, "queued": 0])
        #expect(sink.taken == Dictionary(uniqueKeysWithValues: (1...200).map { ("m\($0)", 1) }))
        try await sink.stop()
    }
}
