// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorManifest

/// How words of a command line become arguments.
@Suite struct ArgumentReaderTests {
    private func arguments(_ signature: String, _ words: String...) throws -> JSONObject {
        try ArgumentReader(taking: signature).arguments(words)
    }

    @Test func `a JSON object stands for a JSON parameter, or for all arguments by name`() throws {
        #expect(try arguments("(event: json) async", "{\"event\": \"x\"}") == ["event": ["event": "x"]])
        #expect(try arguments("(event: json) async", "event={\"a\": 1}") == ["event": ["a": 1]])
        #expect(try arguments("(name: string)", "{\"name\": \"x\"}") == ["name": "x"])
        #expect(try arguments("(n: i32)", "{\"n\": 1}") == ["n": 1])
        // The call refuses names that are no parameters.
        #expect(try arguments("(n: i32)", "{\"m\": 1}") == ["m": 1])
    }

    @Test func `an object that does not name the parameters is the text of a parameter that takes one`() throws {
        for text in ["{\"x\": 1}", "{}", "{\"name\": \"x\", \"x\": 1}"] {
            #expect(try arguments("(name: string)", text) == ["name": .string(text)])
        }
        #expect(try arguments("(data: bytes)", "{\"base64\": \"AA==\"}") == ["data": ["base64": "AA=="]])
    }

    @Test func `a handle is written as earlier calls print it, alone as well as by name`() throws {
        #expect(try arguments("(reply: handle)", "{\"handle\": 4}") == ["reply": ["handle": 4]])
        #expect(try arguments("(reply: handle)", "reply={\"handle\": 4}") == ["reply": ["handle": 4]])
        #expect(try arguments("(reply: handle)", "{\"reply\": {\"handle\": 4}}") == ["reply": ["handle": 4]])
        #expect(try arguments("(handle: handle)", "{\"handle\": 4}") == ["handle": ["handle": 4]])
        #expect(try arguments("(handle: handle)", "{\"handle\": {\"handle\": 4}}") == ["handle": ["handle": 4]])
        #expect(try arguments("(handle: i32)", "{\"handle\": 4}") == ["handle": 4])
    }

    @Test func `bytes are text, or base64 in an object of its own`() throws {
        #expect(try arguments("(n: i32, data: bytes)", "1", "abc") == ["n": 1, "data": "abc"])
        #expect(try arguments("(n: i32, data: bytes)", "1", "{\"base64\": \"AA==\"}")["data"] == ["base64": "AA=="])
    }

    @Test func `a text may look like an object`() throws {
        for text in ["{\"a\": 1}", "{\"base64\": \"AA==\"}", "{"] {
            #expect(try arguments("(n: i32, text: string)", "1", text)["text"] == .string(text))
        }
        #expect(try arguments("(n: i32, data: bytes)", "1", "{\"a\": 1}")["data"] == "{\"a\": 1}")
    }

    @Test func `the largest numbers are exact`() throws {
        #expect(try arguments("(n: u64)", "18446744073709551615") == ["n": "18446744073709551615"])
        #expect(try arguments("(n: u64)", "n=9223372036854775807") == ["n": .integer(.max)])
        #expect(try arguments("(n: i64)", "-9223372036854775808") == ["n": .integer(.min)])
    }

    @Test func `out parameters take no argument`() throws {
        #expect(try arguments("(a: out bytes, b: i32)", "7") == ["b": 7])
    }

    @Test(arguments: [
        ("()", "no arguments"), ("(a: i32)", "one argument"), ("(a: i32, b: i32)", "at most 2 arguments"),
    ])
    func `an argument too many is told with how many there may be`(signature: String, most: String) throws {
        let error = try #require(throws: ConnectorError.self) { try arguments(signature, "1", "2", "3") }
        #expect(error.message.hasPrefix("do takes \(most); "), "\(error.message)")
    }

    @Test(arguments: ["{", "[1,", "nul", "1e999", "\"", "01"])
    func `text that is not JSON is refused with the signature`(word: String) throws {
        let error = try #require(throws: ConnectorError.self) { try arguments("(a: f64)", word) }
        #expect(error.code == .invalid)
        #expect(error.fix == "call it as do(a: f64)")
    }
}

extension ArgumentReader {
    /// A reader for the operation `do` of a capability without models.
    init(taking signature: String) throws {
        self.init(
            Operation(name: "do", symbol: "s", signature: try Signature(parsing: signature), documentation: ""),
            of: try #require(CapabilityID("test/1"))
        )
    }
}
