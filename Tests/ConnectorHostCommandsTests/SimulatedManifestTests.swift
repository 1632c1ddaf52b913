// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// Plugins that are a manifest without an image: answers take the place of their operations and events.
@Suite(.timeLimit(.minutes(5))) struct SimulatedManifestTests {
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

    @Test func `a manifest without an image opens if it is simulated, and otherwise the error says how`() async throws {
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

    @Test func `a reload begins the timelines of answers that it adds, and ends those of answers that it removes`()
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

    @Test(arguments: [false, true])
    func `a reload takes up other operations, in the connector or in its file`(isFile: Bool) async throws {
        func answers(_ title: String) -> String {
            #"{"version": 1, "operations": [{"operation": "get", "result": "\#(title)"}]}"#
        }
        let workspace = try interface(answers("first"))
        func write(_ title: String) throws {
            guard !isFile else { return try workspace.write(answers(title), to: "answers.json") }
            try workspace.configure(
                [
                    [
                        "name": "notes", "plugin": "notes", "simulate": JSONValue(parsing: answers(title)),
                        "config": ["token": ["secret": "env:NO_SUCH_TOKEN"]],
                    ]
                ],
                plugins: ["Plugins"]
            )
        }
        try write("first")
        let program = workspace.program
        let host = try program.start(["run", "--simulate"])
        while try await program.run("status", "--simulate", "--attach").status != 0 {}
        func title() async throws -> String {
            try await program.run("call", "notes", "get", "n1", "--simulate", "--attach").output
        }
        #expect(try await title() == "first\n")
        try write("second")
        let plan = try await program.run("plan")
        #expect(plan.status == 3 && plan.output.contains("simulate: a simulator"), "\(plan)")
        // What was only planned does not run.
        try write("first")
        #expect(try await program.run("plan").status == 0)
        try write("second")
        let reload = try await program.run("reload")
        #expect(reload.status == 0 && reload.output.contains("active: 1 changed, 0 kept"), "\(reload)")
        #expect(try await title() == "second\n")
        #expect(try await program.run("plan").status == 0)
        host.signal(15)
        #expect(try await host.finish().status == 0)
    }

    @Test func `answers that do not fit the manifest are faults at their place`() async throws {
        let workspace = try interface(#"{"version": 1, "operations": [{"operation": "got", "result": 1}]}"#)
        let status = try await workspace.program.run("status", "--simulate", "--json")
        let error = try JSONValue(parsing: status.output)["gates"]?[0]?["error"]
        #expect(error?["message"] == "the plugin notes has no operation \"got\"" && error?["column"] == 45, "\(status)")
        let speed = try await workspace.program.run("watch", "--speed", "2")
        #expect(speed.status == 64)
    }

    @Test func `answers may stand in the configuration itself, and their faults have its lines and columns`()
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
        let plugins = try await program.alone.run("plugins", "--json")
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
        let advice = "1 more fault in the file: run connector-host validate --simulate, with the same --answers"
        #expect(status.status == 1 && status.output.contains(advice), "\(status)")
    }

    @Test(arguments: ["cstring", "bytes32", "handle"])
    func `validate says of a manifest that cannot be simulated what the host says`(_ type: String) async throws {
        let workspace = try interface(#"{"version": 1, "operations": [{"operation": "get", "result": 1}]}"#)
        try workspace.write(
            #"""
            {"manifest": 1, "id": "notes", "version": "1.0.0", "abi": [1, 1], "entry": "notes_plugin",
             "configuration": {"token": {"type": "string", "required": true, "secret": true}},
             "services": {"required": ["http/1"]}, "capabilities": {"notes/1": {
               "get": {"symbol": "notes_get", "signature": "(id: \#(type)) async -> json"}}}}
            """#,
            to: "Plugins/notes.connector.json"
        )
        let status = try await workspace.program.run("status", "--simulate", "--json")
        let error = try JSONValue(parsing: status.output)["gates"]?[0]?["error"]
        #expect(status.status == 1 && error?["code"] == "unsupported", "\(status)")
        #expect(error?["message"]?.string?.contains("cannot be simulated") == true, "\(status)")
        let validation = try await workspace.program.run("validate", "--simulate", "--json")
        let document = try JSONValue(parsing: validation.output)
        #expect(validation.status == 1 && document["valid"] == false && document["failing"] == 1, "\(validation)")
        #expect(document["errors"]?.array?.count == 1)
        #expect(document["errors"]?[0]?["message"] == error?["message"], "\(validation)")
        #expect(document["errors"]?[0]?["fix"] == error?["fix"], "\(validation)")
    }

    @Test func `a secret that the configuration leaves out is not asked for either`() async throws {
        let workspace = try interface(#"{"version": 1, "operations": []}"#)
        try workspace.configure(
            [["name": "notes", "plugin": "notes", "simulate": "answers.json"]],
            plugins: ["Plugins"]
        )
        let result = try await workspace.program.run("status", "--simulate")
        #expect(result.status == 0 && result.output.contains("a placeholder takes its place"), "\(result)")
        #expect(try await workspace.program.run("validate").status == 2)
    }
}
