// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// A manifest that has everything.
let completeManifest = """
    {
      "manifest": 1,
      "id": "segment",
      "version": "1.2.3-beta.1",
      "abi": [1, 2],
      "entry": "segment_plugin",
      "documentation": "Analytics.",
      "language": "c",
      "thread": "serial",
      "capabilities": {
        "analytics/1": { "track": { "symbol": "segment_track", "signature": "(event:json)async" } },
        "own/3": { "add": { "symbol": "add", "signature": "(a: i32, b: i32) -> i32", "documentation": "Adds." } }
      },
      "configuration": {
        "endpoint": { "type": "url", "default": "https://api.segment.io/v1" },
        "writeKey": { "type": "string", "required": true, "secret": true, "documentation": "The key." },
        "batch": { "type": "integer", "minimum": 1, "maximum": 100, "values": [1, 10, 100], "default": 10 },
        "free": {}
      },
      "services": { "required": ["http/1"], "optional": ["log/1", "clock/1"] },
      "egress": ["{endpoint}", "cdn.segment.com"],
      "swiftType": "Segment",
      "$comment": "passes"
    }
    """

@Suite struct ManifestTests {
    private func problems(_ changes: (inout JSONObject) -> Void) throws -> [String] {
        var object = try #require(try JSONValue(parsing: completeManifest).object)
        changes(&object)
        return Manifest.read(JSONValue.object(object).utf8(), file: "m").problems.map { problem in
            "\(problem.message) [\(problem.code)]" + (problem.fix.map { "; \($0)" } ?? "")
        }
    }

    @Test func `callers of a foreign library see neither what only the host calls nor what it fills in`() throws {
        let text = """
            {"manifest": 1, "id": "library", "version": "1.0.0", "abi": [1, 1], "library": "libc.so.6",
             "configuration": {"name": {}}, "lifecycle": {"open": "begin", "close": "end"},
             "capabilities": {"library/1": {
               "begin": {"symbol": "a", "signature": "(name: cstring, db: out handle)", "status": "zero"},
               "put": {"symbol": "b", "signature": "(db: handle, text: cstring) -> i32"},
               "copy": {"symbol": "c", "signature": "(text: cstring, db: out handle)", "status": "zero"},
               "end": {"symbol": "d", "signature": "(db: handle)", "status": "zero"}
             }}}
            """
        let manifest = try Manifest(parsing: Array(text.utf8))
        #expect(manifest.boundNames == ["db"])
        let operations = manifest.callable.flatMap(\.operations)
        #expect(
            operations.map { "\($0.name)\($0.signature)" } == [
                "put(text: cstring) -> i32", "copy(text: cstring, db: out handle)",
            ]
        )
        #expect(manifest.unknownOperation("begi").fix == "known: put, copy")
        #expect(try Manifest(parsing: Array(completeManifest.utf8)).boundNames.isEmpty)
    }

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

    /// The manifest of a foreign library that opens with a path.
    private func foreign(open: String, close: String) -> [UInt8] {
        Array(
            """
            {"manifest": 1, "id": "library", "version": "1.0.0", "abi": [1, 1], "library": "libz.so.1",
             "configuration": {"path": {}}, "lifecycle": {"open": "open", "close": "close"},
             "capabilities": {"library/1": {
               "open": {"symbol": "a", "signature": "\(open)"},
               "put": {"symbol": "b", "signature": "(file: handle, text: cstring) -> i32"},
               "close": {"symbol": "c", "signature": "\(close)"}
             }}}
            """.utf8
        )
    }

    @Test func `the single result of opening has a name for the host, and none for callers`() throws {
        let open = "(path: cstring, mode: cstring?) -> (file: handle)"
        let manifest = try Manifest(parsing: foreign(open: open, close: "(file: handle, path: cstring)"))
        #expect(manifest.boundNames == ["file"])
        #expect(
            manifest.callable.flatMap(\.operations).map { "\($0.name)\($0.signature)" } == ["put(text: cstring) -> i32"]
        )
        #expect(manifest.operation(named: "open")?.operation.signature.description.hasSuffix(" -> handle") == true)
    }

    @Test(arguments: [
        (
            "(path: cstring) -> handle", "(file: handle)",
            #"close needs "file", which is neither a result of open nor a field of the configuration"#,
            "name the result of open: -> (file: handle)"
        ),
        (
            "(path: cstring, db: out handle)", "(file: handle)",
            #"close needs "file", which is neither a result of open nor a field of the configuration"#,
            #"give the name "file" to what open returns"#
        ),
        (
            "(path: cstring, mode: cstring) -> (file: handle)", "(file: handle)",
            #"open needs "mode", which is no field of the configuration"#, #"declare "mode" in "configuration""#
        ),
        (
            "(path: cstring) -> (file: i64)", "()",
            #"put takes "file" as handle, and open gives it as i64"#,
            "use one type, or give one of the two another name"
        ),
    ])
    func `a life cycle that cannot work is refused with the remedy`(
        open: String,
        close: String,
        message: String,
        fix: String
    ) {
        let problems = Manifest.read(foreign(open: open, close: close), file: "m").problems
        #expect(problems.map(\.message) == ["\(message) (invalid-value)"])
        #expect(problems.map(\.fix) == [fix])
        #expect(problems.map(\.code) == [.invalidManifest])
    }

    /// The manifest of a foreign library that opens with one field.
    private func opening(with type: String, _ field: String) -> (manifest: Manifest?, problems: [ConnectorError]) {
        let text = """
            {"manifest": 1, "id": "library", "version": "1.0.0", "abi": [1, 1], "library": "libz.so.1",
             "configuration": {"value": {\(field)}}, "lifecycle": {"open": "open"},
             "capabilities": {"library/1": {"open": {"symbol": "a", "signature": "(value: \(type))"}}}}
            """
        return Manifest.read(Array(text.utf8), file: "m")
    }

    @Test(arguments: ["cstring", "cstring?", "string", "bytes32", "json"])
    func `a foreign library gets no secret, in whose place it would get a placeholder`(type: String) {
        let problems = opening(with: type, #""secret": true"#).problems
        #expect(
            problems.map(\.message) == [
                #"open takes the secret "value", but the host inserts secrets only into requests of http/1 (invalid-value)"#
            ]
        )
        #expect(problems.first?.fix?.contains("take the file's path") == true)
        #expect(problems.first?.position?.line == 2)
    }

    @Test(arguments: [
        ("i32", "boolean", "integer"), ("u64", "url", "integer"), ("f64", "string", "number"),
        ("cstring", "integer", "string"),
        ("bytes", "number", "string"), ("string", "boolean", "string"), ("i8?", "path", "integer"),
    ])
    func `a field that a function can never be called with is refused`(parameter: String, field: String, right: String)
    {
        let problems = opening(with: parameter, #""type": "\#(field)""#).problems
        let type = parameter.replacing("?", with: "")
        #expect(
            problems.map(\.message) == [
                #"open takes "value" as \#(type), and the field is of type \#(field) (invalid-value)"#
            ]
        )
        #expect(problems.map(\.fix) == [#"declare the field as "type": "\#(right)""#])
    }

    @Test func `a handle comes from no field`() {
        let problems = opening(with: "handle", "").problems
        #expect(problems.map(\.fix) == ["remove the field: a handle comes from an operation"])
    }

    @Test(arguments: [
        (
            "i32", #""type": "integer", "default": 99999999999"#,
            "the default must be at most 2147483647, since open takes it as i32"
        ),
        (
            "u8", #""type": "integer", "values": [1, 256]"#,
            "an allowed value must be at most 255, since open takes it as u8"
        ),
        (
            "u64", #""type": "number", "default": 1.5"#,
            "the default must be an integer, not a number, since open takes it as u64"
        ),
        ("i8", #""type": "integer", "minimum": 128"#, "no number in these bounds fits, since open takes it as i8"),
        ("cstring", #""default": "a\u0000b""#, "the default must not contain NUL, since open takes it as cstring"),
        (
            "u64", #""default": "+5""#,
            "the default must be an integer from 0 to 18446744073709551615, since open takes it as u64"
        ),
        (
            "bytes", #""type": "json", "default": {"base64": "!"}"#,
            #"the default must be a string, or its bytes as {"base64": "…"}, since open takes it as bytes"#
        ),
    ])
    func `what a field declares fits the function`(type: String, field: String, message: String) {
        let problems = opening(with: type, field).problems
        #expect(problems.map(\.message) == ["configuration.value: \(message) (invalid-value)"])
    }

    @Test func `a field that opening needs is required, and has the bounds of the parameter`() throws {
        let (manifest, problems) = opening(with: "i32", #""type": "number", "minimum": 1"#)
        let field = try #require(manifest?.configuration.first)
        #expect(problems.isEmpty && field.isRequired && field.type == .integer)
        #expect(field.minimum == 1 && field.maximum == 2_147_483_647)
        #expect(field.problem(with: 99_999_999_999) == "must be at most 2147483647")
        #expect(opening(with: "i32?", #""type": "integer""#).manifest?.configuration.first?.isRequired == false)
        #expect(
            opening(with: "i32", #""type": "integer", "default": 1"#).manifest?.configuration.first?.isRequired == false
        )
        #expect(opening(with: "u64", "").manifest?.configuration.first?.type == .string, "a text of digits")
        #expect(opening(with: "cstring", "").manifest?.configuration.first?.mayBeEmpty == true)
        #expect(opening(with: "cstring", #""required": true"#).manifest?.configuration.first?.mayBeEmpty == false)
        let json = opening(with: "u64", #""type": "json""#).manifest?.configuration.first
        #expect(json?.problem(with: "18446744073709551615") == nil && json?.isRequired == true)
    }

    @Test(arguments: ["", " ", "a\\u0000b"])
    func `a library has a name`(name: String) {
        let text = #"{"manifest": 1, "id": "x", "version": "0.0.1", "abi": [1, 1], "library": "\#(name)"}"#
        let problems = Manifest.read(Array(text.utf8), file: "m").problems
        #expect(
            problems.map(\.message) == [
                "library must be the name or the path of a shared library, such as libz.so.1 (invalid-value)"
            ]
        )
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

    @Test(arguments: ["{nothing}", "{endpoint", "{batch}", "{"])
    func `an egress entry that refers to no field with a host is refused`(entry: String) throws {
        let found = try problems { $0["egress"] = [.string(entry)] }
        #expect(found.count == 1 && found[0].contains("no url or string field of that name is declared"))
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
