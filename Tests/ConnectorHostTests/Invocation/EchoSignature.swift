// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// A signature of random parameters, and the C function that gives each of them back.
struct EchoSignature {
    /// What goes in.
    let types: [EchoType]

    /// Up to eight parameters.
    init(using random: inout SeededGenerator) {
        types = (0..<Int.random(in: 0...8, using: &random)).map { _ in EchoType(using: &random) }
    }

    /// Parameters that a test chose.
    init(types: [EchoType]) {
        self.types = types
    }

    /// Numbers come back through out parameters, texts as results; what was none comes back as zero or nothing.
    func expected(_ values: [CallValue]) -> [CallValue] {
        let pairs = zip(types, values)
        let numbers = pairs.filter { $0.0.isNumber }.map { $0.1 == .none ? $0.0.zero : $0.1 }
        let texts = pairs.filter { !$0.0.isNumber }.map { $0.1 == .none ? .bytes([]) : $0.1 }
        return numbers + texts
    }

    /// `(p0: i8, p1: string?, …, o0: out i8) -> (r1: bytes)`
    var text: String {
        let inputs = types.enumerated().map { "p\($0.offset): \($0.element.name)" }
        let outputs = types.enumerated().filter { $0.element.isNumber }.map { "o\($0.offset): out \($0.element.type)" }
        let results = types.enumerated().filter { !$0.element.isNumber }.map { "r\($0.offset): bytes" }
        let parameters = "(\((inputs + outputs).joined(separator: ", ")))"
        return results.isEmpty ? parameters : "\(parameters) -> (\(results.joined(separator: ", ")))"
    }

    /// The function, with the prototype that `connector/operation.h` says.
    private func function(named name: String) -> String {
        let types = types.enumerated()
        var parameters = ["void *instance"]
        var body = "(void)instance; (void)error;\n"
        for (index, type) in types { parameters += type.parameters(index) }
        for (index, type) in types where type.isNumber {
            parameters.append("\(type.cName) *o\(index)")
            body += type.isOptional ? "*o\(index) = p\(index) ? *p\(index) : 0;\n" : "*o\(index) = p\(index);\n"
        }
        for (index, type) in types where !type.isNumber {
            parameters.append("connector_bytes_owned *r\(index)")
            let length = type.type == .cstring ? "(p\(index) ? strlen(p\(index)) : 0)" : "l\(index)"
            body += "give(r\(index), p\(index), \(length));\n"
        }
        parameters.append("connector_error *error")
        return "CONNECTOR_EXPORT int32_t \(name)(\(parameters.joined(separator: ", "))) {\n\(body)return 0;\n}\n"
    }

    /// A plugin with one operation for each signature.
    static func source(of signatures: [EchoSignature]) -> String {
        let operations = signatures.enumerated()
            .map { #""echo\#($0.offset)": {"symbol": "echo\#($0.offset)", "signature": "\#($0.element.text)"}"# }
        return """
            #include "fixture.h"
            CONNECTOR_MANIFEST({"manifest": 1, "id": "echo", "version": "1.0.0", "abi": [1, 1], "entry": "fixture_entry",
                                "capabilities": {"echo/1": {\(operations.joined(separator: ", "))}}});
            static void give(connector_bytes_owned *result, const void *bytes, uint64_t length) {
                uint8_t *copy = malloc(length + 1);
                if (copy == NULL) return;
                if (length > 0) memcpy(copy, bytes, length);
                result->data = copy;
                result->length = length;
                result->context = copy;
                result->release = free;
            }
            \(signatures.enumerated().map { $0.element.function(named: "echo\($0.offset)") }.joined(separator: "\n"))
            FIXTURE_PLUGIN(fixture_open)
            """
    }
}

/// The type of one echoed parameter.
enum EchoType {
    case number(ValueType, isOptional: Bool)
    case text(ValueType, isOptional: Bool)

    private static let numbers: [ValueType] = [.i8, .i16, .i32, .i64, .u8, .u16, .u32, .u64, .f32, .f64]
    private static let texts: [ValueType] = [.string, .bytes, .bytes32, .json, .cstring]

    /// Any type but a handle, which no random number is.
    init(using random: inout SeededGenerator) {
        let isOptional = Bool.random(using: &random)
        if Bool.random(using: &random) {
            self = .number(Self.numbers.randomElement(using: &random) ?? .i8, isOptional: isOptional)
        } else {
            self = .text(Self.texts.randomElement(using: &random) ?? .bytes, isOptional: isOptional)
        }
    }

    var type: ValueType {
        switch self {
        case .number(let type, _), .text(let type, _): type
        }
    }

    var isOptional: Bool {
        switch self {
        case .number(_, let isOptional), .text(_, let isOptional): isOptional
        }
    }

    var isNumber: Bool {
        if case .number = self { true } else { false }
    }

    /// As in a signature.
    var name: String { "\(type)\(isOptional ? "?" : "")" }

    /// As in C.
    var cName: String {
        switch type {
        case .f32: "float"
        case .f64: "double"
        case .string, .json, .cstring: "char"
        case .bytes, .bytes32: "uint8_t"
        case .handle: "void *"
        default: "\(type.rawValue.hasPrefix("u") ? "u" : "")int\(type.rawValue.dropFirst())_t"
        }
    }

    /// The C parameters of one input.
    func parameters(_ index: Int) -> [String] {
        switch (self, type) {
        case (.number, _): ["\(isOptional ? "const \(cName) *" : "\(cName) ")p\(index)"]
        case (.text, .cstring): ["const char *p\(index)"]
        case (.text, .bytes32): ["const uint8_t *p\(index)", "uint32_t l\(index)"]
        case (.text, _): ["const \(cName) *p\(index)", "uint64_t l\(index)"]
        }
    }

    /// What an absent value comes back as.
    var zero: CallValue {
        switch type {
        case .i8, .i16, .i32, .i64: .signed(0)
        case .f32, .f64: .floating(0)
        default: .unsigned(0)
        }
    }

    /// A random value of the type.
    func value(using random: inout SeededGenerator) -> CallValue {
        if isOptional, UInt8.random(in: 0..<4, using: &random) == 0 { return .none }
        return switch type {
        case .i8: .signed(Int64(Int8.random(in: .min ... .max, using: &random)))
        case .i16: .signed(Int64(Int16.random(in: .min ... .max, using: &random)))
        case .i32: .signed(Int64(Int32.random(in: .min ... .max, using: &random)))
        case .i64: .signed(.random(in: .min ... .max, using: &random))
        case .u8: .unsigned(UInt64(UInt8.random(in: 0 ... .max, using: &random)))
        case .u16: .unsigned(UInt64(UInt16.random(in: 0 ... .max, using: &random)))
        case .u32: .unsigned(UInt64(UInt32.random(in: 0 ... .max, using: &random)))
        case .u64: .unsigned(.random(in: 0 ... .max, using: &random))
        case .f32: .floating(Double(Float.random(in: -1e30...1e30, using: &random)))
        case .f64: .floating(.random(in: -1e300...1e300, using: &random))
        default: .bytes(bytes(using: &random))
        }
    }

    private func bytes(using random: inout SeededGenerator) -> [UInt8] {
        let lowest: UInt8 = type == .cstring ? 1 : 0
        let count = [0, 1, 7, 8, 9, 100, 5000].randomElement(using: &random) ?? 0
        return (0..<count).map { _ in .random(in: lowest ... .max, using: &random) }
    }
}
