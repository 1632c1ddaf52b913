// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads the parts of a sidecar that describe a foreign library.
extension JSONReader {
    /// Reads how a foreign function reports success, and checks it against the signature.
    ///
    /// - Parameter resultName: The name that the signature's text gives the result.
    mutating func convention(
        of signature: Signature,
        _ resultName: String?,
        in object: JSONObject,
        at path: JSONPath
    ) -> ForeignConvention {
        let name = string("status", in: object, at: path) ?? ForeignConvention.Status.none.rawValue
        let known = ForeignConvention.Status.allCases.map(\.rawValue)
        let status = ForeignConvention.Status(rawValue: name)
        if status == nil {
            report(
                .invalidValue,
                "unknown status \"\(name.excerpt)\"",
                fix: suggestion(for: name, among: known),
                at: path.appending("status")
            )
        }
        let codes = codes(in: object, at: path)
        let convention = ForeignConvention(
            status: status ?? .none,
            statusType: statusType(of: signature, status ?? .none, codes, in: object, at: path),
            codes: codes,
            releases: releases(of: signature, in: object, at: path),
            resultName: resultName
        )
        for problem in foreignProblems(with: signature, convention) {
            report(.invalidValue, problem, at: path.appending("signature"))
        }
        return convention
    }

    /// Reads the type of the return value of a function whose signature has no result.
    private mutating func statusType(
        of signature: Signature,
        _ status: ForeignConvention.Status,
        _ codes: [Int64: ConnectorError.Code],
        in object: JSONObject,
        at path: JSONPath
    ) -> ValueType {
        let usual = ValueType.i32
        guard let name = string("statusType", in: object, at: path) else { return usual }
        let here = path.appending("statusType")
        guard signature.results.isEmpty else {
            report(
                .invalidValue,
                "the result of the signature is the status, and has its type",
                fix: "remove \"statusType\"",
                at: here
            )
            return usual
        }
        guard status != .none || !codes.isEmpty else {
            report(
                .invalidValue,
                "without \"status\" and \"codes\" nothing reads what the function returns",
                fix: "add \"status\", or remove \"statusType\"",
                at: here
            )
            return usual
        }
        let isSigned = status == .negative || status == .errno
        let rule = isSigned ? "the status \"\(status)\" needs a signed integer" : "a status is an integer"
        let known = isSigned ? ValueType.signedIntegers : ValueType.signedIntegers + ValueType.unsignedIntegers
        guard let type = ValueType(rawValue: name), known.contains(type) else {
            report(
                .invalidValue,
                "statusType is \"\(name.excerpt)\", and \(rule)",
                fix: "known: \(known.map(\.rawValue).joined(separator: ", "))",
                at: here
            )
            return usual
        }
        return type
    }

    private mutating func releases(of signature: Signature, in object: JSONObject, at path: JSONPath) -> [String] {
        let names = strings("releases", in: object, at: path)
        let handles = signature.parameters.filter { $0.type == .handle && $0.direction == .in }.map(\.name)
        for (index, name) in names.enumerated() where !handles.contains(name) && hasRoom() {
            report(
                .invalidValue,
                "releases names \"\(name.excerpt)\", which is not a handle that the operation takes",
                fix: suggestion(for: name, among: handles),
                at: path.appending("releases").appending(index)
            )
        }
        return names
    }

    private mutating func codes(in object: JSONObject, at path: JSONPath) -> [Int64: ConnectorError.Code] {
        var codes: [Int64: ConnectorError.Code] = [:]
        for member in self.object("codes", in: object, at: path)?.withoutAnnotations.members ?? [] {
            let here = path.appending("codes").appending(member.name)
            guard let number = Int64(member.name), let name = member.value.string else {
                report(
                    .invalidValue,
                    "codes maps numbers to the names of error codes, such as \"5\": \"unavailable\"",
                    at: here
                )
                continue
            }
            let code = ConnectorError.Code(rawValue: name)
            guard code.abiStatus != nil else {
                guard hasRoom() else { continue }
                report(
                    .invalidValue,
                    "unknown error code \"\(name.excerpt)\"",
                    fix: suggestion(for: name, among: ConnectorError.Code.returnable.map(\.rawValue)),
                    at: here
                )
                continue
            }
            codes[number] = code
        }
        return codes
    }

    private func foreignProblems(with signature: Signature, _ convention: ForeignConvention) -> [String] {
        var problems: [String] = []
        if signature.isAsync { problems.append("a foreign function is never async: it runs on a worker thread") }
        if signature.results.count > 1 { problems.append("a foreign function returns at most one value") }
        let result = signature.results.first?.type
        switch convention.status {
        case .zero:
            if result != nil {
                problems.append(
                    "with the status \"zero\" the return value is the status: use out parameters, and \"statusType\" for its type"
                )
            }
        case .null:
            if result != .handle, result != .cstring {
                problems.append("the status \"null\" needs \"-> handle\" or \"-> cstring\"")
            }
        case .negative, .errno:
            if let result, !ValueType.signedIntegers.contains(result) {
                problems.append("the status \"\(convention.status)\" needs a signed integer as result")
            }
        case .none: break
        }
        let isLength = result.map { $0.isScalar && ![.f32, .f64, .handle].contains($0) } ?? false
        for parameter in signature.parameters where parameter.direction == .out && !parameter.type.isScalar {
            guard parameter.type != .cstring, convention.status == .zero || !isLength else { continue }
            problems.append(
                "how many bytes are in \"\(parameter.name)\" must be the result, such as \"-> i64\"; or use out cstring"
            )
        }
        if let result, !result.isScalar, result != .cstring {
            problems.append(
                "a foreign function cannot return \(result): use cstring, a number, a handle or an out buffer"
            )
        }
        return problems
    }

    /// Reads the operations that open and close a gate.
    ///
    /// - Parameter fields: The fields of the configuration, from which they take values; narrowed to the values that they can take.
    mutating func lifecycle(
        in object: JSONObject,
        at path: JSONPath,
        isForeign: Bool,
        capabilities: [Capability],
        fields: inout [ConfigurationField]
    ) -> ForeignLifecycle? {
        guard let value = object["lifecycle"] else { return nil }
        let here = path.appending("lifecycle")
        guard isForeign else {
            report(.invalidValue, "lifecycle is for foreign libraries; a plugin has its entry function", at: here)
            return nil
        }
        guard let members = members(of: value, at: here, allowed: ["open", "close"]) else { return nil }
        let known = capabilities.flatMap(\.operations).map(\.name)
        let lifecycle = ForeignLifecycle(
            open: string("open", in: members, at: here),
            close: string("close", in: members, at: here)
        )
        for (key, name) in [("open", lifecycle.open), ("close", lifecycle.close)] {
            guard let name, !known.contains(name) else { continue }
            report(
                .invalidValue,
                "there is no operation \"\(name.excerpt)\"",
                fix: suggestion(for: name, among: known),
                at: here.appending(key)
            )
        }
        let open = lifecycle.open.flatMap { capabilities.operation(named: $0) }?.operation
        // An operation that does not exist is reported above.
        guard open != nil || lifecycle.open == nil else { return lifecycle }
        let given = fields.map(\.name)
        if let open {
            checkInputs(of: open, given: given, "which is no field of the configuration", at: here.appending("open"))
            narrow(&fields, to: open, at: path)
        }
        if let close = lifecycle.close.flatMap({ capabilities.operation(named: $0) })?.operation {
            checkInputs(
                of: close,
                given: given + (open?.outputs ?? []).map { $0.name },
                "which is neither a result of \(open?.name ?? "an operation that opens") nor a field of the configuration",
                opening: open,
                at: here.appending("close")
            )
            narrow(&fields, to: close, besides: open?.outputs.map { $0.name } ?? [], at: path)
        }
        if let open { checkBound(by: open, capabilities, at: path.appending("capabilities")) }
        return lifecycle
    }

    /// Reports the inputs of an operation of the life cycle that the host cannot fill in.
    ///
    /// - Parameters:
    ///   - given: The names of what the host has.
    ///   - problem: What is said of another input.
    ///   - open: The operation that should give it; nil if that is the configuration.
    private mutating func checkInputs(
        of operation: Operation,
        given: [String],
        _ problem: String,
        opening open: Operation? = nil,
        at path: JSONPath
    ) {
        for input in operation.signature.parameters where input.direction == .in && !input.isOptional {
            guard !given.contains(input.name), hasRoom() else { continue }
            let fix =
                if let open, let result = open.signature.results.first, open.foreign?.resultName == nil {
                    "name the result of \(open.name): -> (\(input.name): \(result.type))"
                } else if let open {
                    "give the name \"\(input.name)\" to what \(open.name) returns"
                } else {
                    "declare \"\(input.name)\" in \"configuration\""
                }
            report(.invalidValue, "\(operation.name) needs \"\(input.name)\", \(problem)", fix: fix, at: path)
        }
    }

    /// Reports the inputs that the host fills in with a result of the operation that opens, and that have another type.
    private mutating func checkBound(by open: Operation, _ capabilities: [Capability], at path: JSONPath) {
        let outputs = open.outputs
        for capability in capabilities {
            for operation in capability.operations where operation.name != open.name {
                for input in operation.signature.parameters where input.direction == .in {
                    guard let output = outputs.last(where: { $0.name == input.name }),
                        !output.type.isPassable(as: input.type), hasRoom()
                    else { continue }
                    report(
                        .invalidValue,
                        "\(operation.name) takes \"\(input.name)\" as \(input.type), and \(open.name) gives it as \(output.type)",
                        fix: "use one type, or give one of the two another name",
                        at: path.appending("\(capability.id)").appending(operation.name).appending("signature")
                    )
                }
            }
        }
    }
}

extension ValueType {
    /// Whether the host can pass a value of this type where a function takes another one.
    fileprivate func isPassable(as other: ValueType) -> Bool {
        let kinds: [Set<ValueType>] = [
            Set(ValueType.signedIntegers), Set(ValueType.unsignedIntegers), [.f32, .f64], [.handle],
            [.string, .bytes, .bytes32, .json, .cstring],
        ]
        return kinds.contains { $0.contains(self) && $0.contains(other) }
    }
}
