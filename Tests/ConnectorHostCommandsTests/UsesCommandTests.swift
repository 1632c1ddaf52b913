// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

/// What the commands say about gates that use gates.
@Suite struct UsesCommandTests {
    private static let user = #"{"name": "user", "plugin": "\#(Fixtures.contract("uses"))""#

    private func workspace(_ connectors: String) throws -> Workspace {
        let workspace = try Workspace()
        try workspace.write("{\"version\": 1, \"connectors\": [\n\(connectors)\n]}", to: "connectors.json")
        return workspace
    }

    private func leaf(_ name: String, _ config: String = "{}") -> String {
        #"{"name": "\#(name)", "plugin": "\#(Fixtures.contract("calls"))", "config": \#(config), "heal": "off"}"#
    }

    @Test func `a use that cannot be bound fails its gate, and validate says where`() async throws {
        let workspace = try workspace("\(Self.user)},\n\(leaf("a")),\n\(leaf("b"))")
        let result = try await workspace.program.start(["validate"]).finish()
        let text = result.output + result.error
        #expect(result.status == 1)
        #expect(text.contains("connectors.json:2:28"), "\(text)")
        #expect(text.contains(#"the plugin uses uses calls/1 as "inner", but 2 connectors offer it: a, b"#), "\(text)")
        #expect(text.contains("is well formed: 3 gates, of which 1 would fail"), "\(text)")
        let status = try await workspace.program.start(["status", "--json"]).finish()
        let gates = try #require(JSONValue(parsing: status.output)["gates"]?.array)
        #expect(gates.map { $0["state"] } == ["failed", "open", "open"])
        #expect(gates.first?["error"]?["code"] == "invalid-value")
    }

    @Test func `a gate with two reasons to fail counts once`() async throws {
        let leaves = ["a", "b"].map { leaf($0).replacing("{}", with: #"{}, "simulate": "local""#) }
        let user = Self.user + #", "simulate": "missing.json"}"#
        let workspace = try workspace("\(user),\n\(leaves.joined(separator: ",\n"))")
        let result = try await workspace.program.start(["validate", "--simulate"]).finish()
        let text = result.output + result.error
        #expect(text.contains("there is no file missing.json") && text.contains("but 2 connectors offer it"), "\(text)")
        #expect(text.contains("is well formed: 3 gates, of which 1 would fail"), "\(text)")
    }

    @Test func `a binding to a gate without the capability is reported at its own position`() async throws {
        let workspace = try workspace(
            "\(Self.user),\n\"with\": {\"inner\": \"user2\"}},\n\(Self.user.replacing("user\"", with: "user2\""))}"
        )
        let result = try await workspace.program.start(["validate"]).finish()
        let text = result.output + result.error
        #expect(text.contains("connectors.json:3:19"), "\(text)")
        #expect(text.contains(#""inner" needs calls/1, but "user2" offers uses/1"#), "\(text)")
    }

    @Test func `status shows what a gate uses, and why it is degraded`() async throws {
        let workspace = try workspace(
            "\(Self.user), \"with\": {\"inner\": \"group/a\"}},\n"
                + "{\"name\": \"group\", \"connectors\": [\(leaf("a", #"{"opens": "fails"}"#))]}"
        )
        let result = try await workspace.program.start(["status"]).finish()
        #expect(result.status == 1)
        #expect(result.output.contains("degraded, was configured"), "\(result.output)")
        #expect(result.output.contains(#"uses group/a as "inner", which has failed"#), "\(result.output)")
        #expect(result.output.contains("uses group/a as inner\n"), "\(result.output)")
        let inspection = try await workspace.program.start(["inspect", Fixtures.contract("uses")]).finish()
        #expect(inspection.output.contains("calls/1 as inner"), "\(inspection.output)")
    }
}
