// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `connector-host send` and `outbox`, alone and beside a host.
@Suite(.timeLimit(.minutes(10))) struct OutboxCommandTests {
    @Test func `without a host, events are stored, shown and dropped`() async throws {
        let bench = try await OutboxWorkspace()
        #expect(try await bench.program.run("outbox").output == "no events sent yet\n")
        #expect(try await bench.json("outbox") == ["version": 1, "outboxes": []])
        try await bench.track("m1")
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

    @Test(arguments: [16, 64])
    func `events in the folder that an earlier version used are warned of`(_ digits: Int) async throws {
        let bench = try await OutboxWorkspace()
        var program = bench.program
        program.environment["HOME"] = bench.workspace.path
        let file: JSONValue = ["version": 1, "connectors": [bench.leaf("segment")]]
        try bench.workspace.write(file.serialized(pretty: true), to: "connectors.json")
        #expect(try await program.run("send", "segment", "track", "event=Seen", "userId=u").status == 0)
        let state = "\(bench.workspace.path)/.local/state/connector-host"
        // The versions with 16 digits followed a link, too.
        let folder = bench.workspace.path
        try #require(shell("cd '\(folder)' && mv connectors.json real && ln -s real connectors.json") == 0)
        let digest = "printf %s \"$(realpath '\(folder)/connectors.json')\" | sha256sum | cut -c 1-\(digits)"
        try #require(shell("cd '\(state)' && mv *.file \"$(\(digest)).file\"") == 0)
        let result = try await program.run("outbox")
        #expect((result.output + result.error).contains("1 event waits in \(state)/"), "\(result)")
        try await bench.sink.stop()
    }

    @Test func `a file without a name that is reached through a linked directory is warned of`() async throws {
        let bench = try await OutboxWorkspace()
        let script = "cd '\(bench.workspace.path)' && mkdir 1 && mv connectors.json 1 && ln -s 1 current"
        try #require(shell(script) == 0)
        let warnings = try await bench.json("validate", "--config", "current/connectors.json")["warnings"]?.array
        #expect(warnings?.count == 1 && warnings?[0].string?.hasSuffix("give the file a \"name\"") == true)
        #expect(try await bench.json("validate", "--config", "1/connectors.json")["warnings"] == [])
        try await bench.sink.stop()
    }

    @Test func `events are stored and delivered below a home directory that is a symbolic link`() async throws {
        let bench = try await OutboxWorkspace()
        var program = bench.program
        try #require(shell("cd '\(bench.workspace.path)' && mkdir real && ln -s real home") == 0)
        program.environment["HOME"] = "\(bench.workspace.path)/home"
        let file: JSONValue = ["version": 1, "connectors": [bench.leaf("segment")]]
        try bench.workspace.write(file.serialized(pretty: true), to: "connectors.json")
        let taken = bench.sink.expect("m1")
        let sent = try await program.run("send", "segment", "track", "event=event m1", "messageId=m1", "userId=u")
        #expect(sent.status == 0, "\(sent)")
        let host = try program.start(["run", "--json", "--grace", "1m"])
        try await taken.met()
        #expect(try await bench.end(host) == ["version": 1, "queued": 0])
        try await bench.sink.stop()
    }

    @Test func `an event is stored by a shell that has neither the variables nor the secrets of the host`() async throws
    {
        let bench = try await OutboxWorkspace()
        let config: JSONValue = ["endpoint": "${ENDPOINT}", "writeKey": ["secret": "credential:key"]]
        try bench.configure(bench.leaf("segment", ["config": config]))
        try await bench.track("m1")
        #expect(try await bench.program.run("operations", "segment").status == 0)
        try bench.workspace.write("key", to: "credentials/key")
        var program = bench.program
        program.environment["ENDPOINT"] = bench.sink.url
        program.environment["CREDENTIALS_DIRECTORY"] = "\(bench.workspace.path)/credentials"
        let taken = bench.sink.expect("m1")
        let host = try program.start(["run", "--json", "--grace", "1m"])
        try await taken.met()
        #expect(try await bench.end(host) == ["version": 1, "queued": 0])
        try await bench.sink.stop()
    }

    @Test func `an event of a file whose place is unknown is refused, and not stored with those of other files`()
        async throws
    {
        let bench = try await OutboxWorkspace()
        var program = bench.program
        program.environment["HOME"] = bench.workspace.path
        let file: JSONValue = ["version": 1, "connectors": [bench.leaf("segment")]]
        try bench.workspace.write(file.serialized(pretty: true), to: "connectors.json")
        let command = "send segment track event=Seen userId=u --config ../connectors.json"
        let script = "mkdir removed && cd removed && rmdir ../removed && exec '\(Program.path)' \(command)"
        let result = try await Child(start: "/bin/sh", ["-c", script], program).finish()
        let problem = "../connectors.json is relative to the working directory, which was removed"
        #expect(result.status == 2 && result.error.contains(problem), "\(result)")
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
        _ = try await bench.end(host)

        try configure("state", String(earlier))
        #expect(try await warnings().isEmpty)
        let second = try program.start(["run", "--json"])
        while !(try await program.run("outbox", "--json").output.contains("\"queued\": 0")) {}
        _ = try await bench.end(second)
        try configure(key, "shop")
        #expect(try await warnings().isEmpty)
        try await bench.sink.stop()
    }

    @Test(arguments: [false, true])
    func `an unknown id is named, and the others are acted on`(_ isBesideHost: Bool) async throws {
        let bench = try await OutboxWorkspace()
        bench.sink.answers { _ in .away }
        let host = isBesideHost ? try bench.run("--grace", "100ms") : nil
        for id in ["m1", "m2", "m3"] { try await bench.track(id) }
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
        if let host { _ = try await bench.end(host) }
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

    @Test func `lines are delivered in their order`() async throws {
        let bench = try await OutboxWorkspace()
        let ids = (1...600).map { "m\($0)" }
        try bench.workspace.write(ids.map { OutboxWorkspace.line($0) }.joined(), to: "events.jsonl")
        let sent = try await bench.send("segment", file: "events.jsonl").finish()
        #expect(sent.status == 0, "\(sent.error)")
        let host = try bench.run("--grace", "1m")
        try await bench.sink.expect("m600").met()
        #expect(try await bench.end(host) == ["version": 1, "queued": 0])
        #expect(bench.sink.arrived == ids)
        try await bench.sink.stop()
    }

    @Test func `a full outbox whose callers wait is an error once the timeout is over`() async throws {
        let bench = try await OutboxWorkspace()
        try bench.configure(bench.leaf("segment", ["outbox": ["maxBytes": 1, "whenFull": "block"]]))
        try await bench.track("m1")
        let event = ["event=e", "userId=u", "messageId=m2"]
        let result = try await bench.program.start(["send", "segment", "track"] + event + ["--timeout", "2s"])
            .finish()
        #expect(result.status == 1 && result.output.isEmpty)
        let reason = "this process does not deliver; connector-host status says why"
        #expect(result.error.contains(reason) && result.error.contains("[timed-out]"), "\(result.error)")
        #expect(try await bench.json("outbox")["outboxes"]?.array?.first?["queued"] == 1)
        try await bench.sink.stop()
    }

    @Test func `an event waits for another process's lock no longer than the timeout says, and is then not stored`()
        async throws
    {
        let bench = try await OutboxWorkspace()
        try await bench.track("m1")
        let lock = unsafe open("\(bench.workspace.path)/state", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
        let event = ["event=e", "userId=u", "messageId=m2"]
        let result = try await bench.program.start(["send", "segment", "track"] + event + ["--timeout", "100ms"])
            .finish()
        #expect(result.status == 1 && result.output.isEmpty, "\(result)")
        #expect(result.error.contains("[timed-out]") && result.error.contains("the event was not stored"), "\(result)")
        close(lock)
        #expect(try await bench.json("outbox")["outboxes"]?.array?.first?["queued"] == 1)
        try await bench.sink.stop()
    }

    @Test func `letters of a connector that the file no longer has stay, and the error says how to move them`()
        async throws
    {
        let bench = try await OutboxWorkspace()
        bench.sink.answers { _ in .refuses }
        let host = try bench.run()
        try await bench.track("m1")
        var letters: [JSONValue] = []
        while letters.isEmpty { letters = try await bench.json("outbox", "dead")["dead"]?.array ?? [] }
        _ = try await bench.end(host)
        try bench.configure(bench.leaf("other"))
        let all = try await bench.program.run("outbox", "replay", "--all")
        #expect(all.status == 1 && all.output == "replayed 0 dead letters\n")
        let left = "1 dead letter stays, as no connector of the configuration gets them: segment"
        #expect(all.error.contains(left), "\(all.error)")
        let one = try await bench.program.run("outbox", "replay", "m1", "--json")
        let error = try JSONValue(parsing: one.output)["errors"]?[0]
        #expect(one.status == 1 && error?["code"] == "unknown-connector", "\(one.output)")
        #expect(error?["fix"]?.string?.contains("outbox replay --to PATH") == true, "\(one.output)")
        #expect(try await bench.json("outbox", "replay", "--all", "--to", "other") == ["version": 1, "replayed": 1])
        let queues = try await bench.json("outbox")["outboxes"]?.array ?? []
        #expect(queues.map { $0["queued"] } == [1, 0], "\(queues)")
        try await bench.sink.stop()
    }

    @Test func `letters go only to connectors that have a queue, by any of their paths`() async throws {
        let bench = try await OutboxWorkspace()
        bench.sink.answers { _ in .refuses }
        let host = try bench.run()
        try await bench.track("m1")
        var letters: [JSONValue] = []
        while letters.isEmpty { letters = try await bench.json("outbox", "dead")["dead"]?.array ?? [] }
        _ = try await bench.end(host)
        var direct = try #require(bench.leaf("direct", ["delivery": "direct"]).object)
        direct["outbox"] = nil
        try bench.configure(
            ["name": "all", "policy": "all", "connectors": [bench.leaf("a"), bench.leaf("b")]],
            .object(direct),
            ["name": "place", "same": "all/a"]
        )
        for path in ["all", "direct", "nobody"] {
            let result = try await bench.program.run("outbox", "replay", "m1", "--to", path)
            let reason = "error: the connector \"\(path)\" has no queue [unknown-connector]\n"
            #expect(result.status == 1 && result.output.isEmpty && result.error.hasPrefix(reason), "\(result)")
        }
        let elsewhere = try await bench.program.run("outbox", "show", "m1", "--gate", "all/a")
        let reason = "error: the event m1 is not at all/a; it is at segment [missing]\n"
        #expect(elsewhere.status == 1 && elsewhere.error.hasPrefix(reason), "\(elsewhere)")
        let twice = try await bench.program.run("outbox", "replay", "m9", "m9")
        #expect(twice.error.hasPrefix("error: no dead letter has the id m9 [missing]\n"), "\(twice)")
        #expect(try await bench.program.run("outbox", "list", "--gate", "").status == 64)
        #expect(try await bench.json("outbox", "replay", "m1", "--to", "place") == ["version": 1, "replayed": 1])
        let queues = try await bench.json("outbox")["outboxes"]?.array ?? []
        let receiver = queues.first { $0["connector"] == "all/a" }
        #expect(receiver?["queued"] == 1, "\(queues)")
        try await bench.sink.stop()
    }

    private static let full: JSONObject = ["outbox": ["maxBytes": 1, "whenFull": "dropNewest"]]

    @Test func `an event that a full outbox drops is not stored, and the lines after it are not sent`() async throws {
        let bench = try await OutboxWorkspace()
        try bench.configure(bench.leaf("segment", Self.full))
        try await bench.track("m1")
        let one = try await bench.program.run("send", "segment", "track", "event=e", "userId=u", "messageId=m2")
        #expect(one.status == 1 && one.output.isEmpty)
        #expect(one.error.hasPrefix("error: segment: the outbox was full and dropped the event"), "\(one.error)")
        #expect(try await bench.json("outbox", "drop", "m1", "--queued") == ["version": 1, "dropped": 1])
        try bench.workspace.write((3...6).map { OutboxWorkspace.line("m\($0)") }.joined(), to: "events.jsonl")
        let lines = try await bench.send("segment", file: "events.jsonl").finish()
        #expect(lines.status == 1)
        let document = try JSONValue(parsing: lines.output)
        let message = document["errors"]?[0]?["message"]?.string
        #expect(message?.hasPrefix("line 2 of standard input: the outbox was full") == true, "\(lines.output)")
        #expect(document["sent"] == 1)
        let outbox = try await bench.json("outbox")["outboxes"]?.array?.first
        #expect(outbox?["queued"] == 1 && outbox?["dropped"] == 3, "\(outbox ?? .null)")
        try await bench.sink.stop()
    }

    @Test func `events that only one of several outboxes drops are stored, with a warning`() async throws {
        let bench = try await OutboxWorkspace()
        try bench.configure([
            "name": "vendors", "policy": "all",
            "connectors": [bench.leaf("full", Self.full), bench.leaf("other")],
        ])
        let text = (1...3).map { OutboxWorkspace.line("m\($0)") }.joined()
        try bench.workspace.write(text, to: "events.jsonl")
        let lines = try await bench.send("vendors", file: "events.jsonl").finish()
        #expect(lines.status == 0)
        #expect(try JSONValue(parsing: lines.output)["sent"] == 3)
        #expect(lines.error.contains("warning: vendors/full: the outbox was full and dropped 2 events"), "\(lines)")
        let one = try await bench.program.run("send", "vendors", "track", "event=e", "userId=u", "messageId=m4")
        #expect(one.status == 0 && one.output == "m4\n")
        #expect(one.error.contains("warning: vendors/full: the outbox was full and dropped 1 event ("), "\(one)")
        try await bench.sink.stop()
    }

    @Test func `lines for a connector without an outbox stop at the first that is not delivered`() async throws {
        let bench = try await OutboxWorkspace()
        var direct = try #require(bench.leaf("segment", ["delivery": "direct"]).object)
        direct["outbox"] = nil
        try bench.configure(.object(direct))
        try bench.workspace.write((1...3).map { OutboxWorkspace.line("m\($0)") }.joined(), to: "events.jsonl")
        let lines = try await bench.send("segment", file: "events.jsonl").finish()
        #expect(lines.status == 1)
        let document = try JSONValue(parsing: lines.output)
        let message = document["errors"]?[0]?["message"]?.string
        #expect(message?.hasPrefix("line 1 of standard input: ") == true, "\(lines.output)")
        #expect(document["sent"] == 0 && bench.sink.taken.isEmpty)
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
        try await bench.track("m1")
        try await triedTwice.met()
        let attempt = try await bench.json("outbox", "explain", "m1")["connectors"]?.array?.first?["attempts"]?.array?
            .first
        #expect(attempt?["code"] == "unavailable")
        let second = try await bench.program.run("run")
        #expect(second.status == 1)
        #expect(second.error.contains("another host, in this process or another one, delivers the events"))
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
        #expect(try await bench.end(host) == ["version": 1, "queued": 0])
        #expect(sink.taken == ["m1": 1])
        #expect(try await bench.json("outbox", "explain", "m1")["connectors"]?.array?.first?["state"] == "delivered")
        try await sink.stop()
    }
}
