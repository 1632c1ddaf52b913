// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorSimulator
import Testing

/// `status`, `call` and `send` with `--simulate`: no vendor is contacted, whatever the file and its plugins say.
@Suite struct SimulateOptionTests {
    private static let token = "the-real-secret-token"

    /// A configuration of the fixture that opens by a request to its endpoint with its token.
    private func workspace(_ endpoint: String, simulate: String? = nil) throws -> Workspace {
        let workspace = try Workspace()
        var connector: JSONObject = [
            "name": "vendor", "plugin": .string(FixturePlugins.good("http")),
            "config": ["endpoint": .string(endpoint), "token": .string(Self.token)],
            "allow": ["hosts": ["127.0.0.1", "localhost"]], "timeout": "5s",
        ]
        connector["simulate"] = simulate.map(JSONValue.string)
        try workspace.configure([.object(connector)])
        return workspace
    }

    /// Runs a body beside a server that stands for the real vendor; the requests that it received.
    private func withVendor(
        _ body: (_ url: String) async throws -> Void
    ) async throws -> [RecordedRequest] {
        let simulator = try Simulator()
        let serving = Task { try await simulator.run() }
        defer { serving.cancel() }
        try await body("http://127.0.0.1:\(try await simulator.port)/photon/real?token=")
        return simulator.received()
    }

    @Test(arguments: [["status"], ["call", "vendor", "none"]])
    func `a gate whose plugin has no simulator is not opened, and its secret goes nowhere`(
        arguments: [String]
    ) async throws {
        let received = try await withVendor { url in
            let workspace = try workspace(url)
            let child = try workspace.program.start(arguments + ["--simulate", "--json"])
            let result = try await child.finish()
            #expect(result.status == 1)
            let document = try JSONValue(parsing: result.output)
            let error = document["gates"]?[0]?["error"] ?? document["errors"]?[0]
            #expect(error?["code"] == "not-simulated")
            #expect(error?["fix"]?.string?.contains("add \"simulate\" to the connector") == true)
        }
        #expect(received.isEmpty)
    }

    @Test func `a server of the user's own takes the vendor's place`() async throws {
        let simulated = try await withVendor { own in
            let real = try await withVendor { url in
                let port = try #require(URLParts(own)?.port)
                let workspace = try workspace(url, simulate: "http://localhost:\(port)")
                let result = try await workspace.program.run("status", "--simulate", "--json")
                #expect(try JSONValue(parsing: result.output)["gates"]?[0]?["state"] == "open", "\(result)")
            }
            #expect(real.isEmpty)
        }
        #expect(simulated.map(\.path).first?.hasPrefix("/real") == true)
    }

    @Test func `a file of answers takes the vendor's place`() async throws {
        let received = try await withVendor { url in
            let workspace = try workspace(url, simulate: "answers.json")
            try workspace.write(
                #"{"version": 1, "answers": [{"path": "/photon/*", "json": {"ok": true}}]}"#,
                to: "answers.json"
            )
            let result = try await workspace.program.run("status", "--simulate", "--json")
            #expect(result.status == 0, "\(result)")
            #expect(try JSONValue(parsing: result.output)["gates"]?[0]?["evidence"]?[0]?["kind"] == "authenticated")
            try workspace.write(#"{"version": 1, "answers": [{"path": "/", "status": 401}]}"#, to: "answers.json")
            let other = try await workspace.program.run("status", "--simulate")
            #expect(other.status == 0 && other.output.contains("reachable"))
            try workspace.write(#"{"version": 1, "answers": [{"path": "x"}]}"#, to: "answers.json")
            let faulty = try await workspace.program.run("status", "--simulate", "--json")
            let error = try JSONValue(parsing: faulty.output)["gates"]?[0]?["error"]
            #expect(error?["message"] == "the path \"x\" must begin with /")
            #expect(error?["file"]?.string?.hasSuffix("answers.json") == true && error?["column"] == 37)
        }
        #expect(received.isEmpty)
    }

    @Test func `a redirect of a simulator leads to no real host`() async throws {
        let received = try await withVendor { url in
            let workspace = try workspace(url, simulate: "answers.json")
            let answer = "{\"path\": \"/*\", \"status\": 302, \"headers\": {\"Location\": \"\(url)\"}}"
            try workspace.write("{\"version\": 1, \"answers\": [\(answer)]}", to: "answers.json")
            let result = try await workspace.program.run("status", "--simulate", "--json")
            #expect(result.status == 1)
            #expect(try JSONValue(parsing: result.output)["gates"]?[0]?["error"]?["code"] == "protocol")
        }
        #expect(received.isEmpty)
    }

    @Test(arguments: ["https://api.example.com", "http://192.0.2.1:80", "ftp://127.0.0.1", ""])
    func `what is not on this machine takes nobody's place`(simulate: String) async throws {
        let workspace = try workspace("https://api.example.com", simulate: simulate)
        let result = try await workspace.program.run("validate", "--json")
        #expect(result.status == 2)
        #expect(try JSONValue(parsing: result.output)["errors"]?[0]?["code"] == "invalid-value")
    }

    @Test func `a plugin that makes no requests opens unchanged`() async throws {
        let workspace = try Workspace()
        try workspace.configure([["name": "calculator", "plugin": .string(FixturePlugins.good("sync"))]])
        let result = try await workspace.program.run("status", "--simulate")
        #expect(result.status == 0)
        #expect(result.error == "")
    }

    // MARK: Secrets

    @Test(arguments: ["env:NO_SUCH_TOKEN", "file:absent.token", "plain"])
    func `a simulated gate needs no secret, and says that a placeholder takes its place`(source: String) async throws {
        let workspace = try workspace("https://api.example.com", simulate: "answers.json")
        let token: JSONValue = source == "plain" ? "${NO_SUCH_TOKEN}" : ["secret": .string(source)]
        func connector(_ name: String, simulate: String) -> JSONValue {
            [
                "name": .string(name), "plugin": .string(FixturePlugins.good("http")),
                "config": ["endpoint": "https://api.example.com", "token": token], "simulate": .string(simulate),
            ]
        }
        try workspace.write(#"{"version": 1, "answers": [{"path": "/*", "json": {}}]}"#, to: "answers.json")
        try workspace.configure([connector("vendor", simulate: "answers.json")])
        let result = try await workspace.program.run("status", "--simulate", "--json")
        #expect(result.status == 0, "\(result)")
        let gate = try JSONValue(parsing: result.output)["gates"]?[0]
        #expect(gate?["state"] == "open" && gate?["simulated"] == true)
        let warning = "the secret \"token\" is missing; a placeholder takes its place, because the gate is simulated"
        #expect(gate?["warnings"]?.array?.contains(.string(warning)) == true, "\(result)")
        #expect(try await workspace.program.run("status").status == 2)
        try workspace.configure([connector("vendor", simulate: "local")])
        #expect(try await workspace.program.run("status", "--simulate").status == 2)
    }

    // MARK: Interfaces

    /// A configuration whose only plugin is a manifest without an image.
    private func interface(_ answers: String) throws -> Workspace {
        let workspace = try Workspace()
        try workspace.write(
            #"""
            {"manifest": 1, "id": "notes", "version": "1.0.0", "abi": [1, 1], "entry": "notes_plugin",
             "configuration": {"token": {"type": "string", "required": true, "secret": true}},
             "services": {"required": ["http/1"]}, "capabilities": {"notes/1": {
               "add": {"symbol": "notes_add", "signature": "(id: string, note: json) async"},
               "get": {"symbol": "notes_get", "signature": "(id: string) async -> json"}}}}
            """#,
            to: "Plugins/notes.connector.json"
        )
        try workspace.write(answers, to: "answers.json")
        try workspace.configure(
            [
                [
                    "name": "notes", "plugin": "notes", "simulate": "answers.json", "timeout": "10m",
                    "config": ["token": ["secret": "env:NO_SUCH_TOKEN"]],
                ]
            ],
            plugins: ["Plugins"]
        )
        return workspace
    }

    @Test func `a manifest alone opens when it is simulated, and says how when it is not`() async throws {
        let workspace = try interface(
            #"""
            {"version": 1, "operations": [
              {"operation": "add", "keep": {"in": "notes", "key": "${args.id}", "value": "${args.note}"}},
              {"operation": "get", "when": {"id": "n1"}, "result": {"title": "Milk"}}],
             "timeline": [{"every": "1m", "event": {"name": "reminder", "payload": {"number": "${count}"}}}]}
            """#
        )
        let status = try await workspace.program.run("status", "--simulate")
        #expect(status.status == 0 && status.output.contains("notes 1.0.0 (simulated)"), "\(status)")
        let call = try await workspace.program.run("call", "notes", "get", "n1", "--simulate", "--json")
        #expect(try JSONValue(parsing: call.output)["result"] == ["title": "Milk"], "\(call)")
        let watch = try await workspace.program.run(
            "watch",
            "--simulate",
            "--speed",
            "60",
            "--count",
            "2",
            "--json"
        )
        let lines = watch.output.split(separator: "\n")
        let numbers = try lines.map { try JSONValue(parsing: String($0))["payload"]?["number"]?.integer ?? 0 }
        #expect(numbers.count == 2 && numbers.last == numbers[0] + 1, "\(watch)")
        var program = workspace.program
        program.environment["NO_SUCH_TOKEN"] = "token"
        let real = try await program.run("status", "--json")
        #expect(real.status == 1)
        let error = try JSONValue(parsing: real.output)["gates"]?[0]?["error"]
        #expect(error?["code"] == "not-found" && error?["fix"]?.string?.contains("--simulate") == true, "\(real)")
    }

    @Test func `a reload begins the timelines of answers that it brings, and ends those of answers that it takes`()
        async throws
    {
        let workspace = try interface("{}")
        func configure(_ events: KeyValuePairs<String, String>) throws {
            let connectors = events.map { name, event -> JSONValue in
                [
                    "name": .string(name), "plugin": "notes",
                    "config": ["token": ["secret": "env:NO_SUCH_TOKEN"]],
                    "simulate": [
                        "version": 1, "operations": [["operation": "get"]],
                        "timeline": [["every": "200ms", "event": ["name": .string(event)]]],
                    ],
                ]
            }
            try workspace.configure(.array(connectors), plugins: ["Plugins"])
        }
        try configure(["notes": "before"])
        let program = workspace.program
        let host = try program.start(["run", "--simulate"])
        while try await program.run("status", "--simulate", "--attach").status != 0 {}
        let watching = try program.start(["watch", "--simulate", "--attach", "--json"])
        _ = await watching.output(until: #""before""#)
        try configure(["notes": "after", "more": "added"])
        host.signal(1)
        for event in ["added", "after", "added"] { _ = await watching.output(until: "\"\(event)\"") }
        let later = await watching.output(until: #""added""#)
        #expect(!later.contains("before"), "\(later)")
        for child in [watching, host] {
            child.signal(15)
            #expect(try await child.finish().status == 0)
        }
    }

    @Test func `answers that do not fit the manifest are faults at their place`() async throws {
        let workspace = try interface(#"{"version": 1, "operations": [{"operation": "got", "result": 1}]}"#)
        let status = try await workspace.program.run("status", "--simulate", "--json")
        let error = try JSONValue(parsing: status.output)["gates"]?[0]?["error"]
        #expect(error?["message"] == "the plugin notes has no operation \"got\"" && error?["column"] == 45, "\(status)")
        let speed = try await workspace.program.run("watch", "--speed", "2")
        #expect(speed.status == 64)
    }

    @Test func `the configuration may have the answers themselves, whose faults have its lines and columns`()
        async throws
    {
        let workspace = try interface("{}")
        func configure(_ operations: String) throws {
            try workspace.write(
                """
                {"version": 1, "plugins": ["Plugins"], "connectors": [{
                  "name": "notes", "plugin": "notes", "config": {"token": {"secret": "env:NO_SUCH_TOKEN"}},
                  "simulate": {
                    "version": 1,
                    "operations": [\(operations)],
                    "timeline": [{"at": "0s", "event": {"name": "begun", "payload": "${count}"}}]
                  }
                }]}
                """,
                to: "connectors.json"
            )
        }
        try configure(#"{"operation": "get", "result": "note ${args.id}"}"#)
        let valid = try await workspace.program.run("validate", "--simulate")
        #expect(valid.status == 0, "\(valid)")
        let status = try await workspace.program.run("status", "--simulate")
        #expect(status.status == 0 && status.output.contains("simulated by connectors.json"), "\(status)")
        let call = try await workspace.program.run("call", "notes", "get", "n1", "--simulate")
        #expect(call.output == "note n1\n", "\(call)")
        let watch = try await workspace.program.run("watch", "--simulate", "--count", "1", "--json")
        #expect(try JSONValue(parsing: watch.output)["payload"] == 1, "\(watch)")
        try configure(#"{"operation": "got"}, {"operation": "get", "results": 1}"#)
        var program = workspace.program
        program.environment["NO_SUCH_TOKEN"] = "token"
        for options in [["validate"], ["validate", "--simulate"]] {
            let faulty = try await program.start(options).finish()
            #expect(faulty.status == 1, "\(faulty)")
            #expect(faulty.output.contains(#"connectors.json:5:63: error: notes: unknown key "results""#), "\(faulty)")
        }
        try configure(#"{"operation": "got"}"#)
        let unknown = try await program.run("validate")
        let fault = #"connectors.json:5:34: error: notes: the plugin notes has no operation "got""#
        #expect(unknown.output.contains(fault), "\(unknown)")
        try workspace.write(
            #"{"version": 1, "plugins": ["Plugins"], "connectors": [{"name": "notes", "plugin": "notes", "simulate": 7}]}"#,
            to: "connectors.json"
        )
        let wrong = try await workspace.program.run("validate")
        #expect(
            wrong.status == 2 && wrong.error.contains("must be a string, or an object with answers, not an integer")
        )
    }

    @Test func `--answers replaces what the file says, and names a leaf and a file`() async throws {
        let workspace = try interface(#"{"version": 1, "operations": [{"operation": "get", "result": 1}]}"#)
        try workspace.write(#"{"version": 1, "operations": [{"operation": "get", "result": 2}]}"#, to: "other.json")
        func call(_ answers: String...) async throws -> Program.Result {
            let options = answers.flatMap { ["--answers", $0] }
            return try await workspace.program.start(["call", "notes", "get", "n1", "--simulate"] + options).finish()
        }
        #expect(try await call().output == "1\n")
        #expect(try await call("notes=other.json").output == "2\n")
        let absent = try await call("notes=absent.json")
        #expect(
            absent.status == 1 && absent.error.contains("absent.json") && absent.error.contains("[not-found]"),
            "\(absent)"
        )
        let unknown = try await call("note=other.json")
        #expect(unknown.status == 2 && unknown.error.contains("did you mean \"notes\"?"), "\(unknown)")
        for wrong in ["other.json", "=other.json", "notes=", "notes=http://example.com"] {
            #expect(try await call(wrong).status == 64)
        }
        #expect(try await call("notes=other.json", "notes=answers.json").status == 64)
        #expect(try await workspace.program.run("status", "--answers", "notes=other.json").status == 64)
    }

    @Test func `validate, operations and plugins know a manifest without an image`() async throws {
        let workspace = try interface(#"{"version": 1, "operations": []}"#)
        let simulated = try await workspace.program.run("validate", "--simulate")
        #expect(simulated.status == 0, "\(simulated)")
        #expect(try await workspace.program.run("validate").status == 2)
        var program = workspace.program
        program.environment["NO_SUCH_TOKEN"] = "token"
        let real = try await program.run("validate")
        #expect(real.status == 1 && real.error + real.output != "" && "\(real)".contains("its image is not beside it"))
        #expect("\(real)".contains("1 gate, of which 1 would fail"))
        let operations = try await program.run("operations", "notes")
        #expect(
            operations.status == 0 && operations.output.contains("add(id: string, note: json) async"),
            "\(operations)"
        )
        let plugins = try await program.run("plugins", "--json")
        #expect(plugins.status == 0 && plugins.output.contains("\"not-found\""), "\(plugins)")
        try workspace.write(
            #"{"version": 1, "operations": [{"operation": "got"}, {"operation": "gut"}]}"#,
            to: "answers.json"
        )
        let faulty = try await workspace.program.run("validate", "--simulate", "--json")
        #expect(faulty.status == 1)
        #expect(try JSONValue(parsing: faulty.output)["errors"]?.array?.count == 2, "\(faulty)")
        #expect(try JSONValue(parsing: faulty.output)["failing"] == 1)
        let status = try await workspace.program.run("status", "--simulate")
        #expect(status.status == 1 && status.output.contains("1 more fault in the file"), "\(status)")
    }

    @Test func `a secret that the file does not name is not asked for either`() async throws {
        let workspace = try interface(#"{"version": 1, "operations": []}"#)
        try workspace.configure(
            [["name": "notes", "plugin": "notes", "simulate": "answers.json"]],
            plugins: ["Plugins"]
        )
        let result = try await workspace.program.run("status", "--simulate")
        #expect(result.status == 0 && result.output.contains("a placeholder takes its place"), "\(result)")
        #expect(try await workspace.program.run("validate").status == 2)
    }

    // MARK: send

    /// A configuration whose only connector sends events to Segment.
    private func events(_ delivery: String = "queued") throws -> Workspace {
        let workspace = try Workspace()
        let connector: JSONValue = [
            "name": "segment", "plugin": .string("\(Program.buildDirectory)/libsegment.so"),
            "config": ["writeKey": .string(Self.token)], "delivery": .string(delivery),
        ]
        let file: JSONValue = ["version": 1, "state": "state", "connectors": [connector]]
        try workspace.write(file.serialized(pretty: true), to: "connectors.json")
        return workspace
    }

    @Test(arguments: ["queued", "direct"])
    func `an event is delivered to a simulator, and nothing is stored`(delivery: String) async throws {
        let workspace = try events(delivery)
        let words = ["send", "segment", "track", "event=Seen", "userId=u1", "messageId=m1", "--simulate"]
        let text = try await workspace.program.start(words).finish()
        #expect(text.status == 0 && text.output == "m1 delivered to simulators\n", "\(text)")
        let json = try await workspace.program.start(words + ["--json"]).finish()
        let document: JSONValue = [
            "version": 1, "path": "segment", "operation": "track", "sent": 1, "id": "m1", "delivered": 1,
        ]
        #expect(try JSONValue(parsing: json.output) == document)
        #expect(try await workspace.program.run("outbox").output == "no events sent yet\n")
    }

    @Test func `every line of standard input is delivered to a simulator`() async throws {
        let workspace = try events()
        let lines = (1...300).map { #"{"event": "Seen", "userId": "u1", "messageId": "m\#($0)"}"# + "\n" }
        try workspace.write(lines.joined(), to: "events.jsonl")
        var program = workspace.program
        program.input = "\(workspace.path)/events.jsonl"
        let result = try await program.start(["send", "segment", "track", "-", "--simulate"]).finish()
        #expect(result.status == 0 && result.output == "300 events delivered to simulators\n", "\(result)")
    }

    @Test func `an event that a gate cannot take in time fails with the gate's error`() async throws {
        let workspace = try Workspace()
        func leaf(_ name: String, _ settings: JSONObject) -> JSONValue {
            var object: JSONObject = [
                "name": .string(name), "plugin": .string("\(Program.buildDirectory)/libsegment.so"),
                "config": ["writeKey": .string(Self.token)],
            ]
            for member in settings.members { object[member.name] = member.value }
            return .object(object)
        }
        try workspace.write(#"{"version": 1, "answers": [{"path": "/*", "status": 401}]}"#, to: "answers.json")
        let children = [leaf("a", [:]), leaf("b", ["simulate": "answers.json", "required": false])]
        let file: JSONValue = ["version": 1, "connectors": [["name": "all", "connectors": .array(children)]]]
        try workspace.write(file.serialized(pretty: true), to: "connectors.json")
        let words = ["send", "all", "track", "event=Seen", "userId=u1", "--json"]
        let result = try await workspace.program.start(words + ["--simulate", "--timeout", "1s"]).finish()
        #expect(result.status == 1, "\(result)")
        let error = try JSONValue(parsing: result.output)["errors"]?[0]
        #expect(error?["code"] == "unauthorized" && error?["connector"] == "all/b", "\(result)")
        let wrong = try await workspace.program.start(words + ["--timeout", "1s"]).finish()
        #expect(wrong.status == 64)
    }

    @Test func `an event that is wrong, or has no simulator, is refused`() async throws {
        let wrong = try await events().program.run("send", "segment", "track", "--simulate", "--json")
        #expect(wrong.status == 1)
        #expect(try JSONValue(parsing: wrong.output)["errors"]?[0]?["code"] == "invalid")
        let received = try await withVendor { url in
            let workspace = try workspace(url)
            let result = try await workspace.program.run("send", "vendor", "none", "-", "--simulate", "--json")
            #expect(result.status == 1)
            #expect(try JSONValue(parsing: result.output)["errors"]?[0]?["code"] == "not-simulated")
        }
        #expect(received.isEmpty)
    }

    @Test func `a file of answers that is missing or damaged is a fault of the configuration, at its place`()
        async throws
    {
        let workspace = try Workspace()
        try workspace.write(#"{"answers": "none"}"#, to: "damaged.json")
        try workspace.write(
            """
            {"version": 1, "connectors": [
              {"name": "a", "plugin": "\(FixturePlugins.good("sync"))", "simulate": "absent.json"},
              {"name": "b", "plugin": "\(FixturePlugins.good("sync"))", "simulate": "damaged.json"}
            ]}
            """,
            to: "connectors.json"
        )
        let result = try await workspace.program.start(["validate"]).finish()
        let text = result.output + result.error
        #expect(result.status == 1)
        #expect(text.contains("connectors.json:2:"), "\(text)")
        #expect(text.contains("a: there is no file") && text.contains("absent.json [not-found]"), "\(text)")
        #expect(text.contains("damaged.json"), "\(text)")
        #expect(!text.contains("would fail"))
    }
}
