// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// The member `prompt` of an operation.
@Suite struct PromptOperationTests {
    private func manifest(_ members: String) throws -> Manifest {
        let text = """
            {
              "manifest": 1, "id": "a", "version": "1.0.0", "abi": [1, 1], "entry": "e", "documentation": "A.",
              "capabilities": {
                "own/1": { "add": { "symbol": "add", "signature": "(a: i64) -> i64"\(members) } },
                "geocoder/1": { "geocode": { "prompt": true } }
              }
            }
            """
        return try Manifest(parsing: Array(text.utf8))
    }

    @Test(arguments: [("", false), (#", "prompt": false"#, false), (#", "prompt": true"#, true)])
    func `an operation is prompt if the manifest says so`(_ members: String, _ isPrompt: Bool) throws {
        let manifest = try manifest(members)
        #expect(manifest.operation(named: "add")?.operation.isPrompt == isPrompt)
        #expect(manifest.operation(named: "geocode")?.operation.isPrompt == true)
    }

    @Test(arguments: ["1", "\"true\"", "null", "[]", "{}"])
    func `anything but a Boolean is refused`(_ value: String) {
        #expect(throws: (any Error).self) { try manifest(#", "prompt": \#(value)"#) }
    }

    @Test func `the long form of a manifest keeps the member prompt`() throws {
        let manifest = try manifest(#", "prompt": true"#)
        let text: JSONValue = [
            "capabilities": ["own/1": ["add": ["prompt": true]], "geocoder/1": ["geocode": ["prompt": true]]]
        ]
        let long = manifest.longForm(of: text)["capabilities"]
        #expect(long?["own/1"]?["add"]?["prompt"] == true)
        #expect(long?["geocoder/1"]?["geocode"]?["prompt"] == true)
        #expect(long?["geocoder/1"]?["geocode"]?["symbol"] == "a_geocode")
    }
}
