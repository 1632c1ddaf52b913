// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// The members of a manifest, and the faults that are found in them.
@Suite struct ManifestTests {
    @Test(arguments: [
        (#""entry": "e""#, true), (#""entry": "e", "configuration": {"file": {"type": "path"}}"#, true),
        (#""entry": "e", "services": {"optional": ["log/1", "storage/1"]}"#, true),
        (#""library": "libpq.so.5""#, false),
        (#""entry": "e", "services": {"required": ["http/1"]}"#, false),
        (#""entry": "e", "egress": ["a.example"]"#, false),
        (#""entry": "e", "configuration": {"server": {"type": "url"}}"#, false),
        (#""entry": "e", "configuration": {"key": {"type": "string", "secret": true}}"#, false),
        (#""entry": "e", "uses": {"store": "database/1"}"#, false),
    ])
    func `a plugin is local if nothing in its manifest leads to a server`(members: String, isLocal: Bool) throws {
        let text = #"{"manifest": 1, "id": "a", "version": "1.0.0", "abi": [1, 1], \#(members)}"#
        #expect(try Manifest(parsing: Array(text.utf8)).isLocal == isLocal)
    }

    @Test func `a manifest over the limit is refused without its size, of which only the beginning was read`() {
        let problems = Manifest.read([UInt8](repeating: 0x20, count: Manifest.sizeLimit + 1), file: "m").problems
        #expect(problems.map(\.message) == ["the manifest has more than 1024 KiB"])
        #expect(problems.first?.fix != nil)
    }

    @Test func `a service is required or optional`() throws {
        #expect(
            try problems { $0["services"] = ["required": ["http/1"], "optional": ["log/1", "http/1"]] } == [
                #"the service "http/1" is both required and optional (invalid-value) [invalid-manifest]; "#
                    + "remove it from one of the two"
            ]
        )
    }

    @Test func `a manifest with everything is read`() throws {
        let manifest = try Manifest(parsing: Array(completeManifest.utf8))
        #expect(manifest.id == "segment" && manifest.version.description == "1.2.3-beta.1" && manifest.abi == 1...2)
        #expect(
            manifest.entry == "segment_plugin" && manifest.documentation == "Analytics." && manifest.language == "c"
        )
        #expect(manifest.thread == .serial && manifest.library == nil && manifest.swiftType == "Segment")
        #expect(manifest.requiredServices == ["http/1"] && manifest.optionalServices == ["log/1", "clock/1"])
        #expect(manifest.egress == ["{endpoint}", "cdn.segment.com"])
        #expect(manifest.capabilities.map(\.id.description) == ["analytics/1", "own/3"])
        let track = try #require(manifest.capabilities.first?.operations.first)
        #expect(track.signature.description == "(event: json) async")
        #expect(track.documentation == "Records that a user did something.")
        #expect(manifest.capabilities.last?.operations.first?.documentation == "Adds.")
        #expect(manifest.configuration.map(\.name) == ["endpoint", "writeKey", "batch", "free"])
        let key = manifest.configuration[1]
        #expect(key.isRequired && key.isSecret && key.type == .string && key.documentation == "The key.")
        let batch = manifest.configuration[2]
        #expect(
            batch.minimum == 1 && batch.maximum == 100 && batch.defaultValue == 10
                && batch.allowedValues == [1, 10, 100]
        )
        #expect(manifest.configuration[3].type == .string && !manifest.configuration[3].isRequired)
    }

    @Test func `a minimal manifest needs only five members`() throws {
        let text = #"{"manifest": 1, "id": "x", "version": "0.0.1", "abi": [1, 1], "library": "libm.so.6"}"#
        let manifest = try Manifest(parsing: Array(text.utf8))
        #expect(manifest.entry == nil && manifest.library == "libm.so.6" && manifest.thread == .any)
        #expect(manifest.capabilities.isEmpty && manifest.configuration.isEmpty && manifest.egress.isEmpty)
    }

    @Test func `every fault is found in one pass, with its position`() {
        let text = """
            { "manifest": 2, "id": "Segment", "version": "1", "abi": [2, 1],
              "thread": "some", "entyr": "x" }
            """
        let (manifest, problems) = Manifest.read(Array(text.utf8), file: "m")
        #expect(manifest == nil)
        #expect(
            problems.map(\.description) == [
                #"m:2:21: unknown key "entyr" (unknown-key) [invalid-manifest]; did you mean "entry"?"#,
                "m:1:15: the manifest's format is 2, this host reads 1 (invalid-value) [invalid-manifest]",
                "m:1:24: id is \"Segment\"; it must be \(identifierRule) (invalid-value) [invalid-manifest]",
                #"m:1:46: version is "1"; it must be like 1.2.3 (invalid-value) [invalid-manifest]"#,
                "m:1:1: entry is missing; it must be a string (missing-value) [invalid-manifest]",
                "m:1:58: abi must be [lowest, highest], such as [1, 1] (invalid-value) [invalid-manifest]",
                #"m:2:13: thread is "some"; it must be "any" or "serial" (invalid-value) [invalid-manifest]"#,
            ]
        )
    }

    @Test(
        arguments: [
            [1], [1, 2, 3], [0, 1], [2, 1], ["1", "1"], [1.5, 2], [-1, 1], [1, 4_294_967_296], [],
        ] as [JSONValue]
    )
    func `the range of the ABI is two numbers in order`(abi: JSONValue) throws {
        #expect(
            try problems { $0["abi"] = abi } == [
                "abi must be [lowest, highest], such as [1, 1] (invalid-value) [invalid-manifest]"
            ]
        )
    }

    @Test(arguments: [
        (
            #"{"type": "strnig"}"#,
            #"configuration.field has the unknown type "strnig" (invalid-value) [invalid-manifest]; did you mean "string"?"#
        ),
        (
            #"{"type": "integer", "default": "x"}"#,
            "configuration.field: the default must be an integer, not a string (invalid-value) [invalid-manifest]"
        ),
        (
            #"{"type": "integer", "default": 9223372036854775808}"#,
            "configuration.field: the default must be from -9223372036854775808 to 9223372036854775807 "
                + "(invalid-value) [invalid-manifest]"
        ),
        (
            #"{"default": "c", "values": ["a"]}"#,
            #"configuration.field: the default must be one of "a" (invalid-value) [invalid-manifest]"#
        ),
        (
            #"{"required": true, "default": "x"}"#,
            "configuration.field: a required field has no default (invalid-value) [invalid-manifest]"
        ),
        (
            #"{"type": "url", "secret": true}"#,
            "configuration.field: a secret must be a string (invalid-value) [invalid-manifest]"
        ),
        (
            #"{"values": [1]}"#,
            "configuration.field: an allowed value must be a string, not an integer (invalid-value) [invalid-manifest]"
        ),
        (
            #"{"type": "number", "minimum": 2, "maximum": 1}"#,
            "configuration.field: the minimum is higher than the maximum (invalid-value) [invalid-manifest]"
        ),
        (
            #"{"type": "duration", "minimum": 1}"#,
            "configuration.field: only integers and numbers have a minimum (invalid-value) [invalid-manifest]; remove it, or correct the type"
        ),
        (
            #"{"maximum": 1}"#,
            "configuration.field: only integers and numbers have a maximum (invalid-value) [invalid-manifest]; remove it, or correct the type"
        ),
        (
            #"{"type": "integer", "minimum": 1.5, "maximum": 1.6}"#,
            "configuration.field: there is no integer from the minimum to the maximum (invalid-value) [invalid-manifest]"
        ),
        (
            #"{"values": []}"#,
            #"configuration.field: "values" is empty, so that no value is allowed (invalid-value) [invalid-manifest]; list the values, or remove "values""#
        ),
        (
            #"{"type": "number", "minimum": 2, "values": [1, 3]}"#,
            "configuration.field: an allowed value must be at least 2 (invalid-value) [invalid-manifest]"
        ),
        (#"{"defualt": 1}"#, #"unknown key "defualt" (unknown-key) [invalid-manifest]; did you mean "default"?"#),
        ("1", "configuration.field must be an object, not an integer (wrong-type) [invalid-manifest]"),
    ])
    func `fields are checked`(field: String, expected: String) throws {
        let value = try JSONValue(parsing: field)
        #expect(try problems { $0["configuration"] = ["endpoint": ["type": "url"], "field": value] } == [expected])
    }

    @Test(arguments: ["", "a b", "a}", "ä", "a/b", String(repeating: "a", count: 65)])
    func `a field's name that cannot stand between braces is refused`(name: String) throws {
        let found = try problems { $0["configuration"] = ["endpoint": ["type": "url"], .init(name): [:]] }
        #expect(found.count == 1 && found[0].contains("must be 1 to 64 letters, digits"))
    }

    @Test(arguments: ["{nothing}", "{endpoint", "{batch}", "{"])
    func `an egress entry that refers to no field with a host is refused`(entry: String) throws {
        let found = try problems { $0["egress"] = [.string(entry)] }
        #expect(found.count == 1 && found[0].contains("no url or string field of that name is declared"))
    }

    @Test func `reading throws the first problem`() {
        #expect {
            try Manifest(parsing: Array("{".utf8), file: "m")
        } throws: { error in
            "\(error)" == "m:1:2: expected a name in double quotes, found the end [invalid-manifest]"
        }
        #expect {
            try Manifest(parsing: [UInt8](repeating: 0x20, count: Manifest.sizeLimit + 1), file: "m")
        } throws: { error in
            "\(error)".contains("more than 1024 KiB [invalid-manifest]")
        }
    }
}
