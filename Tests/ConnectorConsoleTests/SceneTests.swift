// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorConsole
@testable import ConnectorHost
@testable import ConnectorOutbox

/// What is shown for each route, as values.
@Suite
struct SceneTests {
    @Test func `the gates are a tree that says what is down and why`() {
        let scene = Mock.scene(.gates)
        let tree = scene.components[1]
        #expect(tree.shape == .tree && tree.rows.map(\.id) == ["analytics", "analytics/segment", "analytics/posthog"])
        #expect(tree.rows.map(\.depth) == [0, 1, 1])
        #expect(tree.rows[2].link == .gate("analytics/posthog"))
        #expect(tree.rows[2].cells.map(\.text).contains("the key was refused [unauthorized]"))
        #expect(tree.rows[1].cells.map(\.text).contains("authenticated 5 s ago  the key was accepted"))
        #expect(scene.components[0].rows[0].cells[0].text == "not ready: 1 of 2 gates open")
        #expect(scene.commandLine == "connector-host status")
        // A console refuses to open the gates a second time, so no line starts one.
        #expect(tree.rows.allSatisfy { $0.commandLine == "connector-host status" })
    }

    @Test func `a gate tells why it is not open, and what to do`() {
        let scene = Mock.scene(.gate("analytics/posthog"))
        for text in ["the key was refused [unauthorized]", "HTTP 401", "give it another", "failed"] {
            #expect(scene.text.contains(text), "\(text)")
        }
        #expect(scene.acts.map(\.verb) == [.retry, .close])
        #expect(scene.acts[0].question == nil && scene.acts[1].question != nil)
        #expect(scene.commandLine == "connector-host status")
    }

    @Test func `the question before a gate is closed mentions events only if the gate has an outbox`() {
        let calls = Mock.scene(.gate("analytics/posthog")).acts[1].question
        #expect(calls == "Close analytics/posthog? Its calls fail until it is opened again.")
        let events = Mock.scene(.gate("analytics/segment")).acts[1].question
        #expect(events?.hasSuffix("until it is opened again; its events wait in the outbox.") == true)
    }

    @Test func `a gate shows its outbox, its operations, and since when it has been in its state`() {
        var snapshot = Mock.snapshot()
        var before = Mock.report
        before.gates[1].state = .failed
        snapshot.history.note(before, at: Mock.ago(200))
        snapshot.history.note(Mock.report, at: Mock.ago(120))
        var load = LoadHistory()
        load.sample(Mock.report, [:])
        snapshot.load["analytics/segment"] = load["analytics/segment"]
        let scene = ConsoleRegistry.standard.scene(for: .gate("analytics/segment"), of: snapshot)
        #expect(scene.text.contains("since | \(Mock.ago(120)), 2 min ago"))
        #expect(scene.text.contains("stuck | the vendor is away"))
        #expect(scene.text.contains("authenticated"))
        #expect(scene.components.contains { $0.shape == .chart && $0.series.map(\.values) == [[2]] })
        let operations = scene.components.last
        #expect(operations?.rows.first?.link == .operation("track", of: "analytics/segment"))
    }

    @Test func `a change has the style of the connector that changed, and an earlier state is muted`() throws {
        var snapshot = Mock.snapshot()
        var before = Mock.report
        before.gates[0].state = .open
        before.gates[1].state = .failed
        before.gates[2].state = .open
        snapshot.history.note(before, at: Mock.ago(200))
        snapshot.history.note(Mock.report, at: Mock.ago(120))
        var after = snapshot
        after.report.gates[1].state = .closed
        func changes(_ snapshot: ConsoleSnapshot) throws -> [StyledText.Span] {
            let scene = ConsoleRegistry.standard.scene(for: .gate("analytics"), of: snapshot)
            let component = scene.components.first { $0.id == "changes" }
            return try #require(component).rows.flatMap { $0.cells[1].spans }.filter { $0.style != .text }
        }
        typealias Span = StyledText.Span
        let proof = Span(text: "  authenticated: the key was accepted", style: .muted)
        let reason = Span(text: "  the key was refused", style: .muted)
        let states = [Span(text: "degraded", style: .warning), Span(text: "failed", style: .bad)]
        #expect(try changes(snapshot) == [states[0], Span(text: "open", style: .good), proof, states[1], reason])
        #expect(try changes(after)[1] == Span(text: "open", style: .muted))
    }

    @Test func `an operation says what it takes and how it is called`() {
        let scene = Mock.scene(.operation("track", of: "analytics/segment"))
        #expect(scene.components.map(\.shape) == [.details, .form])
        let form = scene.components[1].form
        #expect(form?.fields.first?.name == "event.event" && form?.isDelivered == true)
        #expect(scene.components[1].rows.map(\.id) == form?.fields.map(\.name))
        #expect(scene.commandLine == "connector-host send analytics/segment track")
    }

    @Test func `an operation shows the progress and the outcome of its last call`() throws {
        let route = Route.operation("track", of: "analytics/segment")
        var snapshot = Mock.snapshot(route)
        func text(_ change: (inout ConsoleCall) -> Void) throws -> Scene {
            var call = ConsoleCall(
                try SceneForm.of("analytics/1", "track").act(["event.event": "Seen"]),
                at: Mock.now
            )
            change(&call)
            snapshot.calls[route] = call
            return ConsoleRegistry.standard.scene(for: route, of: snapshot)
        }
        #expect(try text { _ in }.text.contains("result | pending"))
        let progress = try text { call in
            for number in 0..<500 as Range<Int64> { call.note(["done": .integer(number)]) }
        }
        #expect(progress.text.contains(#"{"done":499}"#) && !progress.text.contains(#"{"done":99}"#))
        #expect(try text { $0.end(.null, after: .milliseconds(3)) }.text.contains("done, without an answer"))
        let answer = try text { $0.end(["a": [1, 2]], after: .milliseconds(3)) }
        #expect(answer.text.contains("\"a\": [") && answer.components.last?.shape == .text)
        let huge = try text { $0.end(.array(Array(repeating: "x", count: 100_000)), after: .zero) }
        #expect(huge.components.last?.rows.count == ConsoleCall.lineLimit + 1)
        let long = try text { $0.end(.string(String(repeating: "x", count: 1 << 20)), after: .zero) }
        #expect(long.text.utf8.count < 10_000)
        let failed = try text {
            $0.end(ConnectorError(.rateLimited, "slow down", fix: "wait", cause: "HTTP 429"), after: .zero)
        }
        for part in ["slow down [rate-limited]", "remedy | wait", "cause | HTTP 429"] {
            #expect(failed.text.contains(part), "\(part)")
        }
        let receipt = Receipt(id: "e1", connectors: ["analytics/segment"], outcomes: [], outbox: nil)
        let stored = try text { $0.end(receipt, after: .zero) }
        #expect(stored.components.flatMap(\.rows).contains { $0.link == .event("e1") })
        let part = Receipt(id: "e2", connectors: ["a"], dropped: ["b"], outcomes: [], outbox: nil)
        let partly = try text { $0.end(part, after: .zero) }
        #expect(partly.text.contains("the outbox was full and dropped the event"))
    }

    @Test func `the outbox says what waits, since when, and why`() {
        let scene = Mock.scene(.outbox)
        #expect(scene.text.contains("analytics/segment | 2 | 1 min | 1 | 7 | 3 s ago | 0 | the vendor is away"))
        #expect(scene.components[1].rows.map(\.link) == [.event("m1"), .event("m2")])
        #expect(scene.commandLine == "connector-host outbox list")
    }

    @Test func `an event shows every attempt at every connector, and what the vendors get`() {
        let scene = Mock.scene(.event("m3"))
        #expect(
            scene.components.map(\.title) == [
                "", "At analytics/segment", "At analytics/posthog", "Payload for the vendors",
            ]
        )
        #expect(scene.text.contains("3 attempts until \(Mock.ago(40)): invalid: bad \u{1B}[31mevent"))
        #expect(scene.text.contains(#""userId": "u1""#))
        #expect(scene.acts.map(\.verb) == [.replay, .drop])
        #expect(scene.acts[0].commandLine == "connector-host outbox replay m3 --gate analytics/segment")
        #expect(scene.acts[0].question == nil && scene.acts[1].question != nil)
    }

    @Test func `dead letters are acted on one by one, or all after a question`() {
        let scene = Mock.scene(.dead)
        let row = scene.components[0].rows[0]
        #expect(row.link == .event("m3"))
        #expect(
            row.acts.map(\.subject) == [
                .letter("m3", connector: "analytics/segment"), .letter("m3", connector: "analytics/segment"),
            ]
        )
        #expect(scene.acts.allSatisfy { $0.subject.isEveryLetter && $0.question?.contains("1 dead letter?") == true })
        #expect(
            scene.acts.map(\.commandLine) == ["connector-host outbox replay --all", "connector-host outbox drop --all"]
        )
    }

    @Test(arguments: [Route.dead, .outbox])
    func `a full list ends with a link to the rest`(_ route: Route) throws {
        let state = route == .dead ? OutboxRecord.State.dead : .queued
        func records(_ numbers: ClosedRange<Int>) -> [OutboxRecord] {
            numbers.map { number in
                var record = Mock.record("m\(number)", state)
                record.cursor = RecordCursor(position: UInt64(number), path: record.path)
                return record
            }
        }
        var snapshot = Mock.snapshot(route)
        let full = records(1...RecordList.limit)
        snapshot.records[route] = RecordPage(full, next: full.last?.cursor, total: 103)
        let first = ConsoleRegistry.standard.scene(for: route, of: snapshot)
        let link = try #require(first.components.last?.rows.last?.link)
        #expect("\(link)" == "\(route)/after/0.100.analytics%2Fsegment" && Route("\(link)") == link)
        #expect(first.components.flatMap(\.rows).compactMap(\.link).filter { $0.parts.contains("after") } == [link])
        snapshot.routes.insert(link)
        snapshot.records[link] = RecordPage(records(101...103), total: 103)
        let next = ConsoleRegistry.standard.scene(for: link, of: snapshot)
        #expect(next.components.map(\.rows.count) == [3] && next.text.contains("m103"))
        #expect(next.acts.isEmpty, "every letter is acted on where the list of every letter begins")
        let command = route == .dead ? "connector-host outbox dead --after 0.100.analytics/segment" : nil
        #expect(next.commandLine == command)
        snapshot.records[link] = RecordPage()
        let last = ConsoleRegistry.standard.scene(for: link, of: snapshot)
        #expect(last.text.contains(route == .dead ? "no more dead letters" : "no more waiting events"))
    }

    @Test(arguments: [Route.dead, .outbox])
    func `a search says what it found, and where it goes on`(_ route: Route) throws {
        let state = route == .dead ? OutboxRecord.State.dead : .queued
        let list = route.searched(by: "Ne/edle")
        #expect("\(list)" == "\(route)/find/Ne%2Fedle" && Route("\(list)") == list)
        #expect(list.searched(by: "") == list && list.searched(by: "x") == route.searched(by: "x"))
        #expect(Route.gates.searched(by: "x") == .gates && Route.event("m1").searched(by: "x") == .event("m1"))
        #expect([".", ".."].allSatisfy { route.searched(by: $0) == route }, "a browser would resolve them in a path")
        var snapshot = Mock.snapshot(list)
        var page = RecordPage([Mock.record("needle", state)])
        snapshot.records[list] = page
        let found = ConsoleRegistry.standard.scene(for: list, of: snapshot)
        #expect(found.text.contains("needle") && found.acts.isEmpty)
        page = RecordPage(next: RecordCursor(position: 7, path: "a"))
        page.readCount = 2000
        snapshot.records[list] = page
        let unfinished = ConsoleRegistry.standard.scene(for: list, of: snapshot)
        let link = try #require(unfinished.components.last?.rows.last?.link)
        #expect("\(link)" == "\(list)/after/0.7.a" && Route("\(link)") == link)
        #expect(unfinished.text.contains("none of 2000") && unfinished.text.contains("\"Ne/edle\""))
        snapshot.records[list] = RecordPage()
        let none = ConsoleRegistry.standard.scene(for: list, of: snapshot)
        #expect(none.text.contains("contain \"Ne/edle\""))
    }

    @Test func `events and plugins are shown`() {
        #expect(Mock.scene(.events).text.contains(#"analytics/segment  limit  {"left":3}"#))
        let plugins = Mock.scene(.plugins)
        #expect(plugins.text.contains("✓ segment | 1.0.0 | analytics/1"))
        #expect(plugins.text.contains("it has no manifest"))
        #expect(Mock.scene(.plugin("segment")).text.contains("Sends events."))
        #expect(Mock.scene(.plugin("/p/libbroken.so")).text.contains("it has no manifest"))
    }

    @Test func `the configuration shows each field, where its value came from, and secrets as references`() throws {
        var snapshot = Mock.snapshot(.configuration)
        let position = FilePosition(file: "c.json", line: 7, column: 3)
        func field(
            _ name: String,
            _ value: ConfiguredField.Value,
            _ source: ConfiguredField.Source,
            _ position: FilePosition? = position
        ) -> ConfiguredField {
            ConfiguredField(name: name, value: value, source: source, position: position)
        }
        snapshot.leaves = [
            ConfiguredLeaf(
                path: "segment",
                sendsEvents: true,
                fields: [
                    field("host", .shown("h"), .file),
                    field("zone", .shown("z"), .environment(["ZONE"])),
                    field("mode", .shown("safe"), .fallback(for: ["MODE"])),
                    field("writeKey", .secret(reference: "env:KEY"), .environment(["KEY"])),
                    field("token", .secret(reference: "file:t"), .secretFile),
                    field("literal", .secret(reference: nil), .file),
                    field("endpoint", .shown("http://127.0.0.1:1"), .simulator),
                    field("batch", .shown("20"), .manifest, nil),
                ]
            )
        ]
        let scene = ConsoleRegistry.standard.scene(for: .configuration, of: snapshot)
        let rows = try #require(scene.components.last).rows.map { $0.cells.map(\.text).joined(separator: " | ") }
        #expect(
            rows == [
                "segment | host | h | file | 7",
                "segment | zone | z | environment ZONE | 7",
                "segment | mode | safe | default: MODE unset | 7",
                "segment | writeKey | secret env:KEY | environment KEY | 7",
                "segment | token | secret file:t | secret's file | 7",
                "segment | literal | secret | file | 7",
                "segment | endpoint | http://127.0.0.1:1 | simulator | 7",
                "segment | batch | 20 | plugin's default | ",
            ]
        )
        #expect(!scene.text.contains("TOPSECRET"))
        let seen = ConsoleRegistry.standard.scene(for: .configuration, of: snapshot.forReaders)
        let values = try #require(seen.components.last).rows.map { $0.cells[2].text }
        #expect(values == Array(repeating: "hidden: for those who may act", count: 8))
    }

    @Test func `a field of an included file says which file its line is in`() throws {
        var snapshot = Mock.snapshot(.configuration)
        let file = "\(#filePath.parentPath.parentPath.parentPath)/Examples/Include/connectors.json"
        let configuration = try Configuration.read(file: file)
        snapshot.configuration = configuration
        let included = try #require(configuration.includedFiles.first)
        let fields = [file, included].map { file in
            let position = FilePosition(file: file, line: 7, column: 3)
            return ConfiguredField(name: "host", value: .shown("h"), source: .file, position: position)
        }
        snapshot.leaves = [ConfiguredLeaf(path: "segment", sendsEvents: true, fields: fields)]
        let scene = ConsoleRegistry.standard.scene(for: .configuration, of: snapshot)
        let rows = try #require(scene.components.last).rows
        #expect(rows.map { $0.cells.last?.text } == ["7", "\(included):7"])
        #expect(scene.text.contains("includes") && included.hasSuffix("/teams/search.json"))
    }

    @Test func `a composite says how its events travel, unless each child has its own`() throws {
        var snapshot = Mock.snapshot(.configuration)
        snapshot.configuration = try Configuration(
            parsing: #"""
                {"version": 1, "connectors": [
                  {"name": "all", "connectors": [
                    {"name": "a", "plugin": "x", "delivery": "direct", "timeout": "3s"}, {"name": "b", "plugin": "y"}]},
                  {"name": "first", "policy": "first", "delivery": "direct", "connectors": [
                    {"name": "a", "plugin": "x"}, {"name": "b", "plugin": "y"}]},
                  {"name": "calls", "policy": "first", "connectors": [{"name": "b", "plugin": "y"}]}]}
                """#
        )
        snapshot.leaves = ["all/a", "first/a", "all/b", "first/b", "calls/b"].map { path in
            ConfiguredLeaf(
                path: path,
                sendsEvents: path.hasSuffix("a"),
                timeout: .seconds(3),
                probeInterval: path == "all/a" ? .seconds(2) : nil,
                fields: []
            )
        }
        let scene = ConsoleRegistry.standard.scene(for: .configuration, of: snapshot)
        let rows = try #require(scene.components.last).rows.map { $0.cells.map(\.text).joined(separator: "|") }
        #expect(
            rows == [
                "all|all||||", "a|x|3.0 s|2.0 s||direct", "b|y|3.0 s|never||none", "first|first||||direct",
                "a|x|3.0 s|never||queued", "b|y|3.0 s|never||none", "calls|first||||none", "b|y|3.0 s|never||none",
            ]
        )
    }

    @Test(arguments: [(true, "queued"), (false, "none"), (nil, "")] as [(Bool?, String)])
    func `only a leaf whose operations send events says how they travel`(sends: Bool?, says: String) throws {
        var snapshot = Mock.snapshot(.configuration)
        snapshot.leaves = [ConfiguredLeaf(path: "segment", sendsEvents: sends, fields: [])]
        let scene = ConsoleRegistry.standard.scene(for: .configuration, of: snapshot)
        let tree = try #require(scene.components.last)
        #expect(tree.columns.last?.title == "events" && tree.rows[0].cells.last?.text == says)
        #expect(tree.rows[0].cells[1].text == "segment")
    }

    @Test(
        arguments: [
            Route.gate("nowhere"), .operation("nothing", of: "analytics/segment"), .plugin("none"),
            Route(["dead", "a"]), Route(["dead", "after", "a"]), Route(["outbox", "after", "1.2."]),
            Route(["configuration", "a"]), Route(["events", "a", "b"]), Route(["outbox", "a", "b"]), Route(["nowhere"]),
        ]
    )
    func `a route to something that does not exist says so`(route: Route) {
        #expect(Mock.scene(route).text.contains("there is nothing at \(route)"))
    }

    @Test func `an event that was not looked up yet is loading, not missing`() {
        let scene = ConsoleRegistry.standard.scene(for: .event("m9"), of: Mock.snapshot())
        #expect(scene.text.contains("loading"))
        #expect(Mock.scene(.event("m9")).text.contains("there is nothing at /outbox/m9"))
    }

    @Test func `with simulators no command line names the outbox, which ends with the process`() {
        var snapshot = Mock.snapshot(.dead)
        snapshot.commands = CommandLines(file: "my file.json", isSimulated: true)
        let scene = ConsoleRegistry.standard.scene(for: .dead, of: snapshot)
        #expect(scene.commandLine == nil && scene.acts.allSatisfy { $0.commandLine == nil })
        let gates = ConsoleRegistry.standard.scene(for: .gates, of: snapshot)
        #expect(gates.commandLine == "connector-host status --config 'my file.json' --simulate")
    }

    @Test func `a search keeps the rows that match and, in a tree, their ancestors`() {
        let found = Mock.scene(.gates).filtered(by: "REFUSED")
        #expect(found.components[1].rows.map(\.id) == ["analytics", "analytics/posthog"])
        #expect(found.components[0].rows.count == 1, "a notice is not a list")
        #expect(Mock.scene(.gates).filtered(by: "nothing like it").components[1].rows.isEmpty)
        #expect(Mock.scene(.gates).filtered(by: "") == Mock.scene(.gates))
    }

    @Test func `words that a shell would interpret are quoted`() {
        #expect(CommandLineText.command(["a", "it's $HOME", "", "b/c=d"]) == #"a 'it'\''s $HOME' '' b/c=d"#)
    }

    @Test(arguments: [
        ("event=A\u{202E}B <x>", #"$'event=A\342\200\256B <x>'"#),
        ("it's\\\n\u{1B}[31m", #"$'it\'s\\\n\033[31m'"#),
        ("\u{FEFF}\u{E0041}", #"$'\357\273\277\363\240\201\201'"#), ("a\u{3164}", #"$'a\343\205\244'"#),
        ("❤\u{FE0F}", "'❤\u{FE0F}'"),
    ])
    func `a word with characters that no display shows is written with escapes that a shell reads`(
        _ word: String,
        _ written: String
    ) {
        #expect(CommandLineText.command([word]) == written)
    }
}
