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

    @Test func `a reference to a path from the vendor's root is answered by the same file`() async throws {
        let workspace = try workspace("https://api.example.com/photon", simulate: "answers.json")
        let moved = #"{"path": "/photon", "status": 302, "headers": {"Location": "/_received"}}"#
        try workspace.write(
            #"{"version": 1, "answers": [\#(moved), {"path": "/_received", "json": {"ok": true}}]}"#,
            to: "answers.json"
        )
        let result = try await workspace.program.run("status", "--simulate", "--json")
        #expect(result.status == 0, "\(result)")
        #expect(try JSONValue(parsing: result.output)["gates"]?[0]?["evidence"]?[0]?["kind"] == "authenticated")
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
    func `a simulator that is not on this machine is refused`(simulate: String) async throws {
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
        let reason = "the secret \"token\" is missing or cannot be used"
        let warning = "\(reason); a placeholder takes its place, because the gate is simulated"
        #expect(gate?["warnings"]?.array?.contains(.string(warning)) == true, "\(result)")
        #expect(try await workspace.program.run("status").status == 2)
        try workspace.configure([connector("vendor", simulate: "local")])
        #expect(try await workspace.program.run("status", "--simulate").status == 2)
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
    }

    @Test func `an event that is invalid, or has no simulator, is refused`() async throws {
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
        #expect(text.contains("2 gates, of which 2 would fail with --simulate\n"), "\(text)")
    }
}
