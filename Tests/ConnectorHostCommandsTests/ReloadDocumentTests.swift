// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import Testing

@testable import ConnectorHostCommands

/// What the outcome of a reload says.
@Suite struct ReloadDocumentTests {
    /// The last line for a plan that changes two connectors and keeps one.
    private func summary(_ rolledBack: [String], phase: String? = nil) throws -> String {
        let changes = ["a", "b"].map { path -> JSONValue in
            ["path": .string(path), "change": "changed", "leaf": true, "cost": "opens-beside"]
        }
        let plan: JSONValue = [
            "version": 1, "running": "", "target": "", "changes": .array(changes), "kept": ["c"],
        ]
        var object: JSONObject = [
            "version": 1, "active": .bool(phase == nil), "sha256": "0123456789abcdef", "plan": plan,
            "rolledBack": .array(rolledBack.map(JSONValue.string)),
        ]
        object["phase"] = phase.map(JSONValue.string)
        let reload = try #require(Reload(json: .object(object)))
        return try #require(ReloadDocument(reload: reload).lines(TextStyle(isColoured: false, isUnicode: false)).last)
    }

    @Test func `a reload that is printed says how it ended, and why`() throws {
        var reload = try #require(Reload(json: ["version": 1, "sha256": "0123456789abcdef"]))
        #expect("\(reload)" == "active")
        (reload.phase, reload.errors) = (.read, [ConnectorError(.notFound, "there is no file")])
        #expect("\(reload)" == "ended in the phase read: there is no file [not-found]")
    }

    @Test func `what was rolled back has not changed`() throws {
        #expect(try summary([]).hasSuffix(" active: 2 changed, 1 kept  sha256 0123456789ab"))
        #expect(try summary(["b"]).hasSuffix(" active: 1 changed, 2 kept  sha256 0123456789ab"))
        #expect(try summary(["a", "b"]).hasSuffix(" active: 0 changed, 3 kept  sha256 0123456789ab"))
    }

    @Test func `a swap without a user has failed, whatever else has changed`() throws {
        let end = ": the reload ended in the phase open  sha256 0123456789ab"
        #expect(try summary(["a", "b"], phase: "open").hasSuffix(" nothing changed" + end))
        #expect(try summary(["a"], phase: "open").hasSuffix(" only others changed" + end))
    }
}
