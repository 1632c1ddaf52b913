// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorConsole

/// Forms that call operations, as values.
@Suite struct OperationFormTests {
    private func errors(_ form: SceneForm, _ texts: [String: String]) throws -> [String: String] {
        try #require(throws: FormFault.self) { try form.act(texts) }.errors
    }

    @Test func `a form asks for the members of its capability's model`() throws {
        let form = try SceneForm.of("geocoder/1", "reverse")
        #expect(
            form.fields.map(\.name) == ["request.latitude", "request.longitude", "request.limit", "request.language"]
        )
        #expect(form.fields.map(\.label) == ["latitude", "longitude", "limit", "language"])
        #expect(form.fields.map(\.isRequired) == [true, true, false, false])
        #expect(form.fields.map(\.kind) == [.number, .number, .number, .text])
        let level = try SceneForm.of("crash/1", "message").fields.first { $0.label == "level" }
        #expect(level?.kind.choices == ["fatal", "error", "warning", "info", "debug"])
    }

    @Test func `a form without a model asks for the parameters of the signature`() throws {
        let form = try SceneForm.of(
            "mine/1",
            "do",
            "(n: i16, x: f64?, t: string, b: bytes, j: json, h: handle, o: out u64)"
        )
        #expect(form.fields.map(\.name) == ["n", "x", "t", "b", "j", "h"])
        #expect(form.fields.map(\.kind.name) == ["number", "number", "text", "text", "json", "json"])
        #expect(form.fields.map(\.isRequired) == [true, false, true, true, true, true])
        #expect(try SceneForm.of("mine/1", "do", "()").fields.isEmpty)
    }

    @Test func `the texts of a form become a call, and the command line that makes the same call`() throws {
        let act = try SceneForm.of("geocoder/1", "geocode").act(["request.query": "3011", "request.limit": "2"])
        #expect(
            act.subject
                == .operation(
                    "geocode",
                    of: "a/b",
                    ["request": ["query": "3011", "limit": 2]],
                    isDelivered: false
                )
        )
        #expect(act.verb == .call && act.question == nil)
        #expect(act.commandLine == "connector-host call a/b geocode query=3011 limit=2")
        let commands = CommandLines(file: "x.json", isSimulated: true)
        let sent = try SceneForm.of("analytics/1", "track", nil, commands).act(
            ["event.event": "It's", "event.userId": "u1"]
        )
        #expect(
            sent.commandLine
                == #"connector-host send a/b track 'event=It'\''s' userId=u1 --config x.json --simulate"#
        )
        let real = try SceneForm.of("analytics/1", "track").act(["event.event": "Seen", "event.userId": "u1"])
        #expect(real.commandLine == "connector-host send a/b track event=Seen userId=u1")
        #expect(real.title == "send track to a/b")
    }

    @Test func `each error names its field`() throws {
        let form = try SceneForm.of("geocoder/1", "reverse")
        #expect(try errors(form, [:]).keys.sorted() == ["request.latitude", "request.longitude"])
        let wrong = ["request.latitude": "north", "request.longitude": "true", "request.limit": "1"]
        #expect(try errors(form, wrong).keys.sorted() == ["request.latitude", "request.longitude"])
        let mine = try SceneForm.of("mine/1", "do", "(n: i8, u: u8, t: string, j: json)")
        let texts = ["n": "128", "u": "-1", "t": "{", "j": "{\"a\": }"]
        #expect(try errors(mine, texts).keys.sorted() == ["j", "n", "u"])
        #expect(try errors(mine, texts)["j"]?.contains("line 1") == true)
        let crash = try SceneForm.of("crash/1", "message")
        let level = ["report.message": "x", "report.level": "loud", "report.handled": "yes"]
        #expect(try errors(crash, level).keys.sorted() == ["report.handled", "report.level"])
    }

    @Test func `numbers span the whole range of their type`() throws {
        let form = try SceneForm.of("mine/1", "do", "(u: u64, i: i64)")
        let act = try form.act(["u": "18446744073709551615", "i": "-9223372036854775808"])
        #expect(
            act.subject
                == .operation(
                    "do",
                    of: "a/b",
                    ["u": "18446744073709551615", "i": .integer(.min)],
                    isDelivered: false
                )
        )
        #expect(try errors(form, ["u": "1e30", "i": "9223372036854775808"]).keys.sorted() == ["i", "u"])
    }

    @Test func `a model whose members are all left out is sent as an empty object`() throws {
        let act = try SceneForm.of("database/1", "query").act(["collection": "notes"])
        #expect(
            act.subject == .operation("query", of: "a/b", ["collection": "notes", "query": [:]], isDelivered: false)
        )
    }

    @Test func `a call that overwrites or deletes a record asks first`() throws {
        let texts = ["collection": "notes", "id": "1", "record": "{}"]
        for name in ["create", "get", "replace", "update", "delete"] {
            let question = try SceneForm.of("database/1", name).act(texts).question
            #expect((question != nil) == ["replace", "delete"].contains(name), "\(name)")
        }
    }

    @Test func `texts for fields that do not exist are ignored`() throws {
        let act = try SceneForm.of("mine/1", "do", "()").act(["token": "x"])
        #expect(act.subject == .operation("do", of: "a/b", [:], isDelivered: false))
        #expect(act.commandLine == "connector-host call a/b do")
    }
}
