// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// The exported function of one operation, which calls the author's method of the same name.
struct OperationThunk {
    private let operation: Operation
    private let type: String

    init(_ operation: Operation, type: String) {
        self.operation = operation
        self.type = type
    }

    private var signature: Signature { operation.signature }

    /// The Swift declaration, with the C prototype that `connector/operation.h` prescribes.
    var source: String {
        """
        /// \(operation.name)\(signature)
        @c(`\(operation.symbol)`)
        public func connectorOperation_\(operation.symbol)(
        \(declarations.map { "    _ " + $0 }.joined(separator: ",\n"))
        ) -> Int32 {
        \(signature.isAsync ? asynchronousBody : synchronousBody)
        }
        """
    }

    /// The entry of the function in the generated ``LinkedPlugin``.
    var linked: String {
        let types = declarations.map { $0.drop { $0 != ":" }.dropFirst(2) }.joined(separator: ", ")
        return """
            "\(operation.symbol)": Line.address(
                connectorOperation_\(operation.symbol) as @convention(c) (\(types)) -> Int32
            ),
            """
    }

    // MARK: The prototype

    private var declarations: [String] {
        var list = ["instance: UnsafeMutableRawPointer?"]
        if signature.isAsync { list.append("call: UnsafeRawPointer?") }
        for (index, parameter) in signature.parameters.enumerated() {
            list += parameter.direction == .in ? input(parameter, "p\(index)") : output(parameter.type, "p\(index)")
        }
        if !signature.isAsync {
            for (index, result) in signature.results.enumerated() {
                list.append(
                    "r\(index): UnsafeMutable\(result.type.isScalar ? "Pointer<\(swift(result.type))>" : "RawPointer")?"
                )
            }
        }
        return list + ["error: UnsafeMutableRawPointer?"]
    }

    private func input(_ parameter: Signature.Parameter, _ name: String) -> [String] {
        switch parameter.type {
        case .string, .json, .cstring: ["\(name): UnsafePointer<CChar>?", "\(name)Length: UInt64"]
        case .bytes: ["\(name): UnsafePointer<UInt8>?", "\(name)Length: UInt64"]
        case .handle: ["\(name): UnsafeMutableRawPointer?"]
        default:
            ["\(name): " + (parameter.isOptional ? "UnsafePointer<\(swift(parameter.type))>?" : swift(parameter.type))]
        }
    }

    private func output(_ type: ValueType, _ name: String) -> [String] {
        guard !type.isScalar else { return ["\(name): UnsafeMutablePointer<\(swift(type))>?"] }
        return [
            "\(name): UnsafeMutableRawPointer?", "\(name)Capacity: UInt64",
            "\(name)Length: UnsafeMutablePointer<UInt64>?",
        ]
    }

    private func swift(_ type: ValueType) -> String {
        switch type {
        case .i8: "Int8"
        case .i16: "Int16"
        case .i32: "Int32"
        case .i64: "Int64"
        case .u8: "UInt8"
        case .u16: "UInt16"
        case .u32: "UInt32"
        case .u64: "UInt64"
        case .f32: "Float"
        case .f64: "Double"
        case .handle: "UnsafeMutableRawPointer?"
        case .string, .cstring: "String"
        case .bytes, .bytes32: "[UInt8]"
        case .json: "JSONValue"
        }
    }

    // MARK: The body

    private var asynchronousBody: String {
        let call = "try await plugin.\(method)(\(labelledArguments))"
        let answer = signature.results.isEmpty ? "\(call)\n            return nil" : "return Line.encode(\(call))"
        return """
                unsafe Line.perform(\(type).self, instance, call, error) {
            \(conversions.map { "        \($0)\n" }.joined())        return { plugin in
                        \(answer.split(separator: "\n").joined(separator: "\n"))
                    }
                }
            """
    }

    private var synchronousBody: String {
        let names = outputs.map(\.name)
        let call = "try plugin.\(method)(\(labelledArguments))"
        let lines =
            conversions + [
                names.isEmpty ? call : "let \(names.count == 1 ? "value" : "values") = \(call)"
            ]
            + outputs.enumerated().map { index, output in
                let value = names.count == 1 ? "value" : "values.\(index)"
                return output.write(value)
            }
        return """
                unsafe Line.answer(\(type).self, instance, error) { plugin in
            \(lines.map { "        \($0)" }.joined(separator: "\n"))
                }
            """
    }

    private var method: String { "`\(operation.name)`" }

    private var labelledArguments: String {
        signature.parameters.enumerated().filter { $0.element.direction == .in }
            .map { index, parameter in
                let value = isConverted(parameter) ? "a\(index)" : "p\(index)"
                let argument = isText(parameter) ? "Line.argument(\(value), \"\(parameter.name)\")" : value
                return "\(label(parameter.name)): \(argument)"
            }
            .joined(separator: ", ")
    }

    /// Whether the type of the method's argument decides if the JSON is parsed: a batch to deliver may be passed on as text.
    private func isText(_ parameter: Signature.Parameter) -> Bool {
        operation.name == "deliver" && signature.isAsync && parameter.type == .json && !parameter.isOptional
    }

    /// The label of an argument; escapes the only words that cannot be labels.
    private func label(_ name: String) -> String {
        ["inout", "let", "var"].contains(name) ? "`\(name)`" : name
    }

    private func isConverted(_ parameter: Signature.Parameter) -> Bool {
        !parameter.type.isScalar || (parameter.isOptional && parameter.type != .handle)
    }

    /// A line for every argument that must be converted, because it is borrowed memory or an optional scalar.
    private var conversions: [String] {
        signature.parameters.enumerated().filter { $0.element.direction == .in && isConverted($0.element) }
            .map { index, parameter in
                let name = "p\(index)"
                guard !parameter.type.isScalar else { return "let a\(index) = unsafe Line.optional(\(name))" }
                let optional = parameter.isOptional
                let function =
                    switch parameter.type {
                    case .json where isText(parameter): "text"
                    case .json: optional ? "optionalJSON" : "json"
                    case .bytes: optional ? "optionalBytes" : "bytes"
                    default: optional ? "optionalString" : "string"
                    }
                return "let a\(index) = try unsafe Line.\(function)(\(name), \(name)Length, \"\(parameter.name)\")"
            }
    }

    /// The outputs of the method: out parameters first, then results, in the order of the signature.
    private var outputs: [(name: String, write: (String) -> String)] {
        let parameters = signature.parameters.enumerated().filter { $0.element.direction == .out }
            .map { index, parameter in
                (
                    name: "p\(index)",
                    write: { (value: String) in
                        parameter.type.isScalar
                            ? "try unsafe Line.write(\(value), to: p\(index))"
                            : "try unsafe Line.write(Line.encode(\(value)), to: p\(index), capacity: p\(index)Capacity, length: p\(index)Length)"
                    }
                )
            }
        let results = signature.results.enumerated().map { index, result in
            (
                name: "r\(index)",
                write: { (value: String) in
                    result.type.isScalar
                        ? "try unsafe Line.write(\(value), to: r\(index))"
                        : "try unsafe Line.write(Line.encode(\(value)), to: r\(index))"
                }
            )
        }
        return parameters + results
    }
}
