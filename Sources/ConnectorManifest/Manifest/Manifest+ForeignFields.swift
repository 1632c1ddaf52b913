// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Fits the fields of the configuration to the functions that open and close a foreign library.
extension JSONReader {
    /// Narrows the fields that an operation takes to the values that it can be called with, and reports those that never fit.
    ///
    /// So what a connector's `config` gets wrong is found in the file, and not by a function that the host cannot call. A field that the
    /// operation needs becomes required, unless it has a default; a text may still be empty.
    ///
    /// - Parameter bound: The inputs that have the results of another operation.
    mutating func narrow(
        _ fields: inout [ConfigurationField],
        to operation: Operation,
        besides bound: [String] = [],
        at path: JSONPath
    ) {
        for input in operation.signature.parameters where input.direction == .in && !bound.contains(input.name) {
            guard let index = fields.firstIndex(where: { $0.name == input.name }) else { continue }
            let here = path.appending("configuration").appending(input.name)
            let field = fields[index]
            guard !field.isSecret else {
                reportSecret(field, operation, at: here)
                continue
            }
            guard var narrowed = field.narrowed(to: input.type) else {
                report(
                    .invalidValue,
                    "\(operation.name) takes \"\(field.name)\" as \(input.type), and the field is of type \(field.type.rawValue)",
                    fix: input.type.fieldType.map { "declare the field as \"type\": \"\($0.rawValue)\"" }
                        ?? "remove the field: a handle comes from an operation",
                    at: here.appending("type")
                )
                continue
            }
            if !input.isOptional, field.defaultValue == nil, !field.isRequired {
                (narrowed.isRequired, narrowed.mayBeEmpty) = (true, true)
            }
            checkValues(of: narrowed, declared: field, operation, input.type, at: here)
            fields[index] = narrowed
        }
    }

    /// Reports a secret, in whose place the library would get the placeholder that only requests are made with.
    private mutating func reportSecret(_ field: ConfigurationField, _ operation: Operation, at path: JSONPath) {
        report(
            .invalidValue,
            "\(operation.name) takes the secret \"\(field.name)\", but the host inserts secrets only into requests of http/1",
            fix:
                "let the library read it from a file, and take the file's path: a field of \"type\": \"path\", without \"secret\"",
            at: path.appending("secret")
        )
    }

    /// Reports what a field declares and the operation cannot take.
    private mutating func checkValues(
        of field: ConfigurationField,
        declared: ConfigurationField,
        _ operation: Operation,
        _ type: ValueType,
        at path: JSONPath
    ) {
        let reason = "\(operation.name) takes it as \(type)"
        if let value = field.defaultValue, declared.problem(with: value) == nil,
            let problem = field.problem(with: value)
        {
            report(
                .invalidValue,
                "\(name(of: path)): the default \(problem), since \(reason)",
                at: path.appending("default")
            )
        }
        for (index, value) in field.allowedValues.enumerated() where declared.problem(withListed: value) == nil {
            guard let problem = field.problem(withListed: value), hasRoom() else { continue }
            report(
                .invalidValue,
                "\(name(of: path)): an allowed value \(problem), since \(reason)",
                at: path.appending("values").appending(index)
            )
        }
        if let minimum = declared.minimum, let maximum = declared.maximum, minimum > maximum { return }
        guard let minimum = field.minimum, let maximum = field.maximum, minimum > maximum else { return }
        for (key, bound, other) in [
            ("minimum", declared.minimum, field.minimum), ("maximum", declared.maximum, field.maximum),
        ] where bound != nil && bound == other {
            report(
                .invalidValue,
                "\(name(of: path)): no number in these bounds fits, since \(reason)",
                at: path.appending(key)
            )
        }
    }
}

extension ConfigurationField {
    /// The field with the values that a parameter can have; nil if it has none of them.
    fileprivate func narrowed(to parameter: ValueType) -> ConfigurationField? {
        var field = self
        field.parameter = parameter
        switch parameter {
        case .i8, .i16, .i32, .i64, .u8, .u16, .u32, .u64:
            // Where JSON's integers end, a text of digits goes on.
            if parameter == .u64, type == .string || type == .json { return field }
            guard [.integer, .number, .json].contains(type) else { return nil }
            field.type = .integer
        case .f32, .f64:
            guard [.integer, .number, .json].contains(type) else { return nil }
            if type == .json { field.type = .number }
        case .string, .cstring:
            guard [.string, .url, .duration, .path, .json].contains(type) else { return nil }
            if type == .json { field.type = .string }
        case .bytes, .bytes32:
            // Bytes may be written in Base64, in an object.
            guard [.string, .url, .duration, .path, .json].contains(type) else { return nil }
        case .json: break
        case .handle: return nil
        }
        let bounds = parameter.bounds
        if let lowest = bounds.lowest { field.minimum = max(lowest, minimum ?? lowest) }
        if let highest = bounds.highest { field.maximum = min(highest, maximum ?? highest) }
        return field
    }
}

extension ValueType {
    /// The type of a field that fits any parameter of this type; nil for a handle.
    fileprivate var fieldType: ConfigurationField.FieldType? {
        switch self {
        case .i8, .i16, .i32, .i64, .u8, .u16, .u32, .u64: .integer
        case .f32, .f64: .number
        case .string, .cstring, .bytes, .bytes32: .string
        case .json: .json
        case .handle: nil
        }
    }

    /// The bounds of a number that are narrower than those of JSON's integers and numbers.
    fileprivate var bounds: (lowest: Double?, highest: Double?) {
        switch self {
        case .i8: (Double(Int8.min), Double(Int8.max))
        case .i16: (Double(Int16.min), Double(Int16.max))
        case .i32: (Double(Int32.min), Double(Int32.max))
        case .u8: (0, Double(UInt8.max))
        case .u16: (0, Double(UInt16.max))
        case .u32: (0, Double(UInt32.max))
        case .u64: (0, nil)
        case .f32: (-Double(Float.greatestFiniteMagnitude), Double(Float.greatestFiniteMagnitude))
        case .i64, .f64, .string, .bytes, .bytes32, .json, .cstring, .handle: (nil, nil)
        }
    }
}
