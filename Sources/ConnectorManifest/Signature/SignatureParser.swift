// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension Signature {
    /// The most parameters and results of an operation, together.
    package static let valueLimit = 32

    /// Reads a signature.
    ///
    /// - Throws: A ``ConnectorError`` of code `syntax` whose position is the column in the text.
    public init(parsing text: String) throws(ConnectorError) {
        self = try Self.reading(text).signature
    }

    /// Reads a signature, and the name of its single result, if the text gives one: it tells callers nothing, and so is no part of
    /// the signature.
    ///
    /// - Throws: As ``init(parsing:)`` does.
    static func reading(_ text: String) throws(ConnectorError) -> (signature: Signature, resultName: String?) {
        var parser = SignatureParser(text)
        let signature = try parser.signature()
        return (signature, parser.resultName)
    }
}

/// Reads the grammar of ``Signature`` by recursive descent.
private struct SignatureParser {
    private let text: [UInt8]
    private var index = 0
    /// The name of a single result.
    private(set) var resultName: String?

    init(_ text: String) {
        self.text = Array(text.utf8)
    }

    mutating func signature() throws(ConnectorError) -> Signature {
        try expect("(")
        var parameters: [Signature.Parameter] = []
        if !consume(")") {
            repeat { parameters.append(try parameter()) } while consume(",")
            try expect(")")
        }
        let isAsync = consumeWord("async")
        let results = consume("->") ? try self.results() : []
        skipSpace()
        guard index == text.count else { throw error("expected the end") }
        let signature = Signature(parameters: parameters, results: results, isAsync: isAsync)
        try check(signature)
        return signature
    }

    private mutating func parameter() throws(ConnectorError) -> Signature.Parameter {
        let name = try word("a parameter's name")
        try expect(":")
        let direction: Signature.Direction = consumeWord("out") ? .out : .in
        let type = try type()
        let isOptional = consume("?")
        if direction == .out, isOptional { throw error("an out parameter is never optional") }
        return Signature.Parameter(name: name, type: type, direction: direction, isOptional: isOptional)
    }

    private mutating func results() throws(ConnectorError) -> [Signature.Result] {
        guard consume("(") else { return [Signature.Result(name: nil, type: try type())] }
        var results: [Signature.Result] = []
        repeat {
            let name = try word("a result's name")
            try expect(":")
            results.append(Signature.Result(name: name, type: try type()))
        } while consume(",")
        try expect(")")
        if results.count == 1 { resultName = results[0].name.take() }
        return results
    }

    private mutating func type() throws(ConnectorError) -> ValueType {
        skipSpace()
        let start = index
        let name = try word("a type")
        guard let type = ValueType(rawValue: name) else {
            index = start
            let known = ValueType.allCases.map(\.rawValue)
            throw error(
                "unknown type \"\(name.excerpt)\"",
                fix: suggestion(for: name, among: known) ?? "known: \(known.joined(separator: ", "))"
            )
        }
        return type
    }

    /// Checks the rules that the grammar cannot express.
    private func check(_ signature: Signature) throws(ConnectorError) {
        guard signature.parameters.count + signature.results.count <= Signature.valueLimit else {
            throw error("more than \(Signature.valueLimit) parameters and results")
        }
        let names = signature.parameters.map(\.name) + signature.results.compactMap(\.name)
        for (index, name) in names.enumerated() where names[..<index].contains(name) {
            throw error("the name \"\(name.excerpt)\" occurs twice")
        }
        let isUnnamed = signature.results.contains { $0.name == nil }
        if isUnnamed, signature.parameters.contains(where: { $0.direction == .out && $0.name == "result" }) {
            throw error("an out parameter has the name \"result\", by which answers have the result that has no name")
        }
        guard signature.isAsync else { return }
        if signature.parameters.contains(where: { $0.direction == .out }) {
            throw error("an async operation has no out parameters: it returns its result by completion")
        }
        let completes: [ValueType] = [.string, .bytes, .json]
        if signature.results.count > 1 || !signature.results.allSatisfy({ completes.contains($0.type) }) {
            throw error("an async operation returns nothing, or one string, bytes or json")
        }
    }

    // MARK: Text

    private mutating func word(_ what: String) throws(ConnectorError) -> String {
        skipSpace()
        let start = index
        guard index < text.count, !text[index].isDigit, text[index].isWordCharacter else {
            throw error("expected \(what)")
        }
        while index < text.count, text[index].isWordCharacter { index += 1 }
        return String(decoding: text[start..<index], as: UTF8.self)
    }

    private mutating func consumeWord(_ wanted: String) -> Bool {
        let start = index
        guard consume(wanted) else { return false }
        guard index < text.count, text[index].isWordCharacter else { return true }
        index = start
        return false
    }

    private mutating func consume(_ wanted: String) -> Bool {
        skipSpace()
        guard text[index...].starts(with: wanted.utf8) else { return false }
        index += wanted.utf8.count
        return true
    }

    private mutating func expect(_ wanted: String) throws(ConnectorError) {
        guard consume(wanted) else { throw error("expected '\(wanted)'") }
    }

    private mutating func skipSpace() {
        while index < text.count, text[index].isWhitespace { index += 1 }
    }

    private func error(_ message: String, fix: String? = nil) -> ConnectorError {
        let text = String(decoding: text, as: UTF8.self)
        return ConnectorError(
            .syntax,
            "signature \"\(text.excerpt)\", column \(index + 1): \(message)",
            fix: fix ?? "for example: (collection: string, record: json) async -> json"
        )
    }
}
