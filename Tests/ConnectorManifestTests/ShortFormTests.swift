// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// Manifests that leave out what the definition of a standard capability already says.
@Suite struct ShortFormTests {
    private func text(_ capabilities: String, id: String = "acme") -> [UInt8] {
        Array(
            """
            {"manifest": 1, "id": "\(id)", "version": "1.0.0", "abi": [1, 1], "entry": "e",
             "capabilities": \(capabilities)}
            """.utf8
        )
    }

    private func operations(_ capabilities: String, id: String = "acme") throws -> [Operation] {
        try Manifest(parsing: text(capabilities, id: id)).capabilities.flatMap(\.operations)
    }

    /// The long form of a capability, as a person would have to write it.
    private func long(_ definition: CapabilityDefinition, _ names: [String], id: String = "acme") -> String {
        let operations = definition.operations.filter { names.contains($0.name) }
        let members = operations.map { operation in
            #""\#(operation.name)": {"symbol": "\#(id)_\#(operation.name)", "signature": "\#(operation.signature)"}"#
        }
        return #"{"\#(definition.id)": {\#(members.joined(separator: ", "))}}"#
    }

    @Test(arguments: CapabilityDefinition.all)
    func `an empty object stands for the whole capability`(_ definition: CapabilityDefinition) throws {
        let short = try Manifest(parsing: text(#"{"\#(definition.id)": {}}"#))
        #expect(short == (try Manifest(parsing: text(long(definition, definition.operations.map(\.name))))))
    }

    @Test(arguments: CapabilityDefinition.all)
    func `an array stands for the operations that it names`(_ definition: CapabilityDefinition) throws {
        let first = definition.operations[0].name
        let short = try Manifest(parsing: text(#"{"\#(definition.id)": ["\#(first)"]}"#))
        #expect(short == (try Manifest(parsing: text(long(definition, [first])))))
    }

    @Test(arguments: CapabilityDefinition.all)
    func `except stands for all operations but those that it names`(_ definition: CapabilityDefinition) throws {
        let first = definition.operations[0].name
        let others = definition.operations.dropFirst().map(\.name)
        let short = try Manifest(parsing: text(#"{"\#(definition.id)": {"except": ["\#(first)"]}}"#))
        #expect(short == (try Manifest(parsing: text(long(definition, Array(others))))))
    }

    @Test func `only what differs from the definition must be written`() throws {
        let written = try operations(
            #"{"geocoder/1": {"except": [], "reverse": {"symbol": "r", "documentation": "Nearby."}}}"#
        )
        #expect(written.map(\.name) == ["geocode", "reverse"])
        #expect(written.map(\.symbol) == ["acme_geocode", "r"])
        #expect(written.map(\.documentation)[1] == "Nearby.")
        #expect(written[0].documentation == "Finds places by free text or by the parts of an address.")
        // Without `except` an object stands for the operations that it names.
        let named = try operations(#"{"geocoder/1": {"reverse": {}}}"#)
        #expect(named.map(\.symbol) == ["acme_reverse"])
        #expect(named.map { "\($0.signature)" } == ["(request: json) async -> json"])
    }

    @Test func `a symbol is made from the id`() throws {
        #expect(try operations(#"{"geocoder/1": ["reverse"]}"#, id: "my-own.x").map(\.symbol) == ["my_own_x_reverse"])
    }

    @Test(arguments: [
        (
            #"{"analytics/1": ["track", "trakc"]}"#,
            #"m:2:44: analytics/1 has no operation "trakc" (unknown-key) [invalid-manifest]; did you mean "track"?"#
        ),
        (
            #"{"analytics/1": {"except": ["screne"]}}"#,
            #"m:2:46: analytics/1 has no operation "screne" (unknown-key) [invalid-manifest]; did you mean "screen"?"#
        ),
        (
            #"{"analytics/1": {"except": [], "trakc": {}}}"#,
            #"m:2:49: unknown key "trakc" (unknown-key) [invalid-manifest]; did you mean "track"?"#
        ),
        (
            #"{"analytics/1": {"exept": []}}"#,
            #"m:2:35: unknown key "exept" (unknown-key) [invalid-manifest]; did you mean "except"?"#
        ),
        (
            #"{"analitics/1": {}}"#,
            "m:2:19: analitics/1 is not a standard capability, so each of its operations needs a symbol and a signature "
                + #"(invalid-value) [invalid-manifest]; did you mean "analytics/1"?"#
        ),
        (
            #"{"own/1": ["a"]}"#,
            "m:2:19: own/1 is not a standard capability, so each of its operations needs a symbol and a signature "
                + "(invalid-value) [invalid-manifest]; known: analytics/1, crash/1, database/1, geocoder/1, settings/1, "
                + "sensor/1, files/1"
        ),
        (
            #"{"analytics/1": ["track", 1]}"#,
            "m:2:44: capabilities.analytics/1[1] must be the name of an operation, not an integer (wrong-type) "
                + "[invalid-manifest]"
        ),
        (
            #"{"analytics/1": ["track", "track"]}"#,
            #"m:2:44: "track" is listed twice (invalid-value) [invalid-manifest]"#
        ),
        (
            #"{"analytics/1": {"except": ["track"], "track": {}}}"#,
            #"m:2:56: "track" is both described and excluded (invalid-value) [invalid-manifest]"#
        ),
        (
            #"{"analytics/1": true}"#,
            "m:2:34: capabilities.analytics/1 must be an object of operations or an array of their names, not a boolean "
                + "(wrong-type) [invalid-manifest]"
        ),
        (
            #"{"analytics/1": {"except": "track"}}"#,
            "m:2:45: capabilities.analytics/1.except must be an array of names of operations, not a string (wrong-type) "
                + "[invalid-manifest]"
        ),
    ])
    func `each fault of a short form is reported with its position`(_ capabilities: String, _ expected: String) {
        let problems = Manifest.read(text(capabilities), file: "m").problems
        #expect(problems.first.map { "\($0)" } == expected)
    }

    @Test(arguments: [
        #"{"analytics/1": {}, "own/1": {"a": {"symbol": "s", "signature": "(n:i32)", "documentation": "D."}}}"#,
        #"{"analytics/1": ["flush", "track"]}"#, #"{"database/1": {"except": ["query"], "get": {"symbol": "g"}}}"#,
        #"{"geocoder/1": {"reverse": {"documentation": "Nearby."}}}"#,
    ])
    func `the long form means the same, and states every symbol and signature`(_ capabilities: String) throws {
        let short = text(capabilities)
        let manifest = try Manifest(parsing: short)
        let long = manifest.longForm(of: try JSONValue(parsing: short))
        #expect(try Manifest(parsing: long.utf8()) == manifest)
        for capability in long["capabilities"]?.object?.members ?? [] {
            for operation in capability.value.object?.members ?? [] {
                #expect(operation.value["symbol"]?.string != nil && operation.value["signature"]?.string != nil)
            }
        }
    }

    @Test func `a manifest that is already long stays as it is`() throws {
        let value = try JSONValue(parsing: completeManifest)
        let manifest = try Manifest(parsing: Array(completeManifest.utf8))
        #expect(manifest.longForm(of: value).serialized() == value.serialized())
    }
}
