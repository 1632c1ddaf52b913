// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// What a manifest says of operations, and of the functions that serve them.
@Suite struct ManifestOperationTests {
    @Test func `a function serves several operations only if its type is right for each`() throws {
        func found(_ capabilities: JSONValue) throws -> [String] { try problems { $0["capabilities"] = capabilities } }
        func message(_ name: String, _ other: String) -> String {
            let symbol = "segment_\(name.split(separator: " ")[1])"
            return "\(name) and \(other) share the symbol \"\(symbol)\", but not the signature (invalid-value) "
                + "[invalid-manifest]; give \(name) a symbol of its own"
        }
        // The default symbols of standard capabilities are equal where their operations have one name.
        #expect(
            try found(["database/1": ["get"], "settings/1": ["get"], "files/1": ["get"]]) == [
                message("settings/1 get", "database/1 get"), message("files/1 get", "database/1 get"),
            ]
        )
        // One C type, but a function that was made for events cannot deliver reports.
        #expect(
            try found(["analytics/1": ["deliver"], "crash/1": ["deliver"]]) == [
                message("crash/1 deliver", "analytics/1 deliver")
            ]
        )
        #expect(try found(["analytics/1": ["deliver"], "crash/1": ["deliver": ["symbol": "segment_deliver"]]]) == [])
        #expect(try found(["analytics/1": ["deliver": ["symbol": "segment_deliver"]], "crash/1": ["deliver"]]) == [])
        #expect(try found(["analytics/1": ["flush"], "crash/1": ["flush"]]) == [])
        let entry = try found(["settings/1": ["get": ["symbol": "segment_plugin"]]])
        #expect(entry.count == 1 && entry[0].hasPrefix("settings/1 get and the entry share the symbol"))
        // The same name in two versions of a capability.
        let two = try found([
            "own/1": ["get": ["symbol": "segment_get", "signature": "()"]],
            "own/2": ["get": ["symbol": "segment_get", "signature": "() async"]],
        ])
        #expect(two == [message("own/2 get", "own/1 get")])
    }

    @Test(arguments: [
        ("(a: i32)", "(b: i32)", true), ("(a: string) async", "(b: json?) async -> json", true),
        ("(a: handle?) -> json", "(a: handle) -> bytes", true), ("(a: i32)", "(a: i32?)", false),
        ("(a: i32) -> i32", "(a: i32) -> i64", false), ("(a: i32) -> i32", "(a: i32)", false),
        ("(a: string)", "(a: bytes)", false), ("(a: string)", "(a: out string)", false), ("()", "() async", false),
    ])
    func `operations may share a function only if their C types are the same`(
        _ first: String,
        _ second: String,
        _ isOne: Bool
    ) throws {
        func operation(_ signature: String) -> JSONValue { ["symbol": "f", "signature": .string(signature)] }
        let found = try problems { $0["capabilities"] = ["own/1": ["a": operation(first), "b": operation(second)]] }
        #expect(found.isEmpty == isOne, "\(found)")
    }

    @Test func `operations are checked against their capability`() throws {
        func operation(_ name: String, _ text: String, capability: String = "analytics/1") throws -> [String] {
            let value = try JSONValue(parsing: text)
            return try problems {
                $0["capabilities"] = .object(JSONObject([(capability, .object(JSONObject([(name, value)])))]))
            }
        }
        #expect(try operation("track", #"{"symbol": "t", "signature": "(event: json) async"}"#).isEmpty)
        #expect(
            try operation("track", #"{"symbol": "t", "signature": "(event: string) async"}"#) == [
                "track is declared as (event: string) async, but analytics/1 requires (event: json) async [signature-mismatch]; "
                    + "change the signature and the function to the capability's"
            ]
        )
        #expect(
            try operation("trakc", #"{"symbol": "t", "signature": "()"}"#) == [
                #"unknown key "trakc" (unknown-key) [invalid-manifest]; did you mean "track"?"#
            ]
        )
        let foreign = #"{"symbol": "t", "signature": "(a: handle) -> i32", "status": "zero", "releases": ["a"]}"#
        #expect(
            try operation("x", foreign, capability: "own/1")
                == ["status", "releases"].map {
                    "\"\($0)\" is for a foreign library only, which has a \"library\" and no \"entry\" (unknown-key) [invalid-manifest]; "
                        + "remove it"
                }
        )
        #expect(
            try operation("x", #"{"symbol": "t", "signature": "(a: i32"}"#, capability: "own/1")[0].contains(
                "expected ')'"
            )
        )
        #expect(
            try operation("x", #"{"signature": "()"}"#, capability: "own/1") == [
                "capabilities.own/1.x.symbol is missing; it must be a string (missing-value) [invalid-manifest]"
            ]
        )
        #expect(
            try operation("x", #"{"symbol": "", "signature": "()"}"#, capability: "own/1")[0].contains(
                "exported function"
            )
        )
        #expect(
            try operation("x", #"{"symbol": "a b", "signature": "()"}"#, capability: "own/1")[0].contains(
                "exported function"
            )
        )
        #expect(try operation("x", "{}", capability: "own")[0].contains("must be like geocoder/1"))
        #expect(try problems { $0["capabilities"] = ["own/1": 1] }[0].contains("must be an object of operations"))
    }
}
