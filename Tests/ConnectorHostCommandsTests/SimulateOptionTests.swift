// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorSimulator
import Testing

/// `status --simulate` and `call --simulate`: no vendor is contacted, whatever the file and its plugins say.
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

    @Test func `a plugin that reaches nobody is opened as it is`() async throws {
        let workspace = try Workspace()
        try workspace.configure([["name": "calculator", "plugin": .string(FixturePlugins.good("sync"))]])
        let result = try await workspace.program.run("status", "--simulate")
        #expect(result.status == 0)
        #expect(result.error == "")
    }
}
