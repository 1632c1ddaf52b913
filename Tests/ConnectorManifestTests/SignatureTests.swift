// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@Suite struct SignatureTests {
    @Test(arguments: [
        ("()", "()"), (" ( ) ", "()"), ("()async", "() async"), ("() async->json", "() async -> json"),
        ("(a:i32)", "(a: i32)"), ("( a : i32 , b : f64 )->u8", "(a: i32, b: f64) -> u8"),
        ("(id: string?)\tasync\n->\r\nbytes", "(id: string?) async -> bytes"), ("(a: i32 ?)", "(a: i32?)"),
        ("(buffer: out bytes) -> u64", "(buffer: out bytes) -> u64"), ("(out: i32)", "(out: i32)"),
        ("(async: i32) async", "(async: i32) async"), ("() -> (a: i32, b: handle)", "() -> (a: i32, b: handle)"),
        ("() -> (a: i32)", "() -> i32"), ("(_1: cstring) -> i64", "(_1: cstring) -> i64"),
        ("(result: out i32)", "(result: out i32)"), ("(result: i32) -> i32", "(result: i32) -> i32"),
        ("(result: out i32) -> (a: i32, b: i32)", "(result: out i32) -> (a: i32, b: i32)"),
    ])
    func `signatures that mean the same are normalized to the same text`(text: String, expected: String) throws {
        let signature = try Signature(parsing: text)
        #expect(signature.description == expected)
        #expect(try Signature(parsing: expected) == signature)
    }

    @Test(arguments: [
        ("", 1, "expected '('"), ("x", 1, "expected '('"), ("(", 2, "expected a parameter's name"),
        ("(a", 3, "expected ':'"), ("(a:", 4, "expected a type"), ("(a: i32", 8, "expected ')'"),
        ("(a: i32,)", 9, "expected a parameter's name"), ("(1a: i32)", 2, "expected a parameter's name"),
        ("(a: int)", 5, "unknown type \"int\""), ("(a: I32)", 5, "unknown type \"I32\""),
        ("() asynch", 4, "expected the end"), ("() async async", 10, "expected the end"),
        ("() -> ", 7, "expected a type"),
        ("() -> ()", 8, "expected a result's name"), ("() -> (i32)", 11, "expected ':'"),
        ("() - > i32", 4, "expected the end"),
        ("(a: i32) i32", 10, "expected the end"), ("(ä: i32)", 2, "expected a parameter's name"),
        ("(a: i32, a: i64)", 17, "the name \"a\" occurs twice"),
        ("(a: i32) -> (a: i32, b: i32)", 29, "the name \"a\" occurs twice"),
        (
            "(result: out i32) -> i32", 25,
            "an out parameter has the name \"result\", by which answers have the result that has no name"
        ),
        ("(a: out i32?)", 13, "an out parameter is never optional"),
        ("(a: out i32) async", 19, "an async operation has no out parameters: it returns its result by completion"),
        ("() async -> i32", 16, "an async operation returns nothing, or one string, bytes or json"),
        ("() async -> cstring", 20, "an async operation returns nothing, or one string, bytes or json"),
        ("() async -> bytes32", 20, "an async operation returns nothing, or one string, bytes or json"),
        ("() async -> (a: json, b: json)", 31, "an async operation returns nothing, or one string, bytes or json"),
    ])
    func `anything else is refused with its column`(text: String, column: Int, expected: String) {
        #expect {
            try Signature(parsing: text)
        } throws: { error in
            let error = error as? ConnectorError
            return error?.code == .syntax && error?.message == "signature \"\(text)\", column \(column): \(expected)"
                && error?.fix != nil
        }
    }

    @Test func `every type can be named`() throws {
        for type in ValueType.allCases {
            let signature = try Signature(parsing: "(x: \(type), y: \(type)?) -> \(type)")
            #expect(signature.parameters.map(\.type) == [type, type])
            #expect(signature.parameters.map(\.isOptional) == [false, true])
            #expect(signature.results.map(\.type) == [type])
        }
    }

    @Test func `the number of values is bounded`() throws {
        func text(_ count: Int) -> String {
            "(" + (0..<count).map { "p\($0): i32" }.joined(separator: ", ") + ")"
        }
        #expect(try Signature(parsing: text(Signature.valueLimit)).parameters.count == Signature.valueLimit)
        #expect(throws: ConnectorError.self) { try Signature(parsing: text(Signature.valueLimit + 1)) }
        #expect(throws: ConnectorError.self) { try Signature(parsing: text(100_000)) }
        #expect(throws: ConnectorError.self) { try Signature(parsing: text(Signature.valueLimit) + " -> i32") }
    }

    @Test func `a misspelled type leads to a suggestion`() {
        #expect {
            try Signature(parsing: "(a: sting)")
        } throws: { error in
            (error as? ConnectorError)?.fix == "did you mean \"string\"?"
        }
    }
}
