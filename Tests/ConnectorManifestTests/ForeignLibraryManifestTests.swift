// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// Manifests of libraries that were not written for the host: their life cycle, and the fields that opening takes.
@Suite struct ForeignLibraryManifestTests {
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
}
