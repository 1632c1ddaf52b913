// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHostCommands

/// How words of a command line become arguments.
@Suite struct ArgumentReaderTests {
    private func arguments(_ signature: String, _ words: String...) throws -> JSONObject {
        try ArgumentReader(operation: "do", signature: Signature(parsing: signature)).arguments(words)
    }

    @Test func `a first parameter that is JSON takes an object whole`() throws {
        #expect(try arguments("(event: json) async", "{\"event\": \"x\"}") == ["event": ["event": "x"]])
        #expect(try arguments("(event: json) async", "event={\"a\": 1}") == ["event": ["a": 1]])
        #expect(try arguments("(name: string)", "{\"name\": \"x\"}") == ["name": "x"])
    }

    @Test func `bytes are text, or base64 in an object of its own`() throws {
        #expect(try arguments("(n: i32, data: bytes)", "1", "abc") == ["n": 1, "data": "abc"])
        #expect(try arguments("(n: i32, data: bytes)", "1", "{\"base64\": \"AA==\"}")["data"] == ["base64": "AA=="])
    }

    @Test func `out parameters are not asked for`() throws {
        #expect(try arguments("(a: out bytes, b: i32)", "7") == ["b": 7])
    }

    @Test(arguments: ["{", "[1,", "nul", "1e999", "\"", "01"])
    func `text that is not JSON is told with the signature`(word: String) throws {
        let error = try #require(throws: ConnectorError.self) { try arguments("(a: f64)", word) }
        #expect(error.code == .invalid)
        #expect(error.fix == "call it as do(a: f64)")
    }
}
