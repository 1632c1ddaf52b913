// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorManifest

/// Checks answers of operations against the signatures in a manifest.
extension JSONReader {
    /// Reports the answers that no operation can give.
    ///
    /// - Parameter place: The object whose `operations` they are.
    mutating func check(_ answers: [OperationAnswer], _ manifest: Manifest, at place: JSONPath) {
        for (index, answer) in answers.enumerated() {
            let here = place.appending("operations").appending(index)
            if let operation = manifest.operation(named: answer.operation)?.operation {
                check(answer, operation, at: here)
            } else {
                report(manifest.unknownOperation(answer.operation), at: here.appending("operation"))
            }
        }
    }

    private mutating func check(_ answer: OperationAnswer, _ operation: Operation, at place: JSONPath) {
        let inputs = operation.signature.parameters.filter { $0.direction == .in }
        let names = inputs.map(\.name)
        for condition in answer.arguments?.object?.members ?? [] {
            let here = place.appending("when").appending(condition.name)
            if let input = inputs.first(where: { $0.name == condition.name }) {
                check(condition.value, as: input, of: operation, at: here)
            } else {
                reportUnknown(condition.name, of: operation, names, at: here, .name)
            }
        }
        for reference in answer.templates.flatMap(\.references) {
            let steps = reference.name.split(ascii: ".").map(String.init)
            guard steps.count > 1, steps[0] == "args", !names.contains(steps[1]) else { continue }
            reportUnknown(steps[1], of: operation, names, at: reference.place, .value)
        }
        if answer.delay > .zero, !operation.signature.isAsync {
            report(
                .invalidValue,
                "\(operation.name) returns at once, and cannot be delayed",
                fix: "remove \"delay\", or declare the operation async in the manifest",
                at: place.appending("delay")
            )
        }
        if case .result(let result) = answer.outcome { check(result, of: operation, at: place) }
    }

    /// Reports a condition that no call meets: a call's argument has the form that its type has in JSON.
    private mutating func check(
        _ value: JSONValue,
        as input: Signature.Parameter,
        of operation: Operation,
        at place: JSONPath
    ) {
        guard input.type != .handle, input.type != .json else { return }
        let problem: String
        do throws(ConnectorError) {
            let passed = try CallValue(value, as: input.type, handles: nil).json(as: input.type, handles: nil)
            guard !value.isContained(in: passed) else { return }
            problem = "calls pass it as \(passed.serialized().excerpt)"
        } catch {
            problem = error.message
        }
        report(
            .invalidValue,
            "no call of \(operation.name)\(operation.signature) has this \(input.name): \(problem)",
            fix: input.isOptional && value == .null ? "arguments without a value are absent: remove it" : nil,
            at: place
        )
    }

    /// Reports the parts of a result that refer to nothing and do not fit the operation's outputs.
    private mutating func check(_ result: JSONTemplate, of operation: Operation, at place: JSONPath) {
        let signature = operation.signature
        let outputs: [(name: String, type: ValueType)] =
            signature.parameters.filter { $0.direction == .out }.map { (name: $0.name, type: $0.type) }
            + signature.results.map { (name: $0.name ?? "", type: $0.type) }
        let here = place.appending("result")
        guard !outputs.isEmpty else {
            if case .value(.null) = result { return }
            report(
                .invalidValue,
                "\(operation.name)\(signature) returns nothing",
                fix: "remove \"result\", or declare a result in the manifest",
                at: here,
                .name
            )
            return
        }
        if let problem = result.outline.flatMap({ signature.problem(withAnswer: $0) }) {
            report(.invalidValue, "the result does not fit \(operation.name)\(signature): \(problem)", at: here)
            return
        }
        for output in outputs where output.type != .handle {
            let key = signature.answerKey(of: output.name)
            guard let value = result.constant(at: key) else { continue }
            do throws(ConnectorError) {
                _ = try CallValue(value, as: output.type, handles: nil)
            } catch {
                let part = key.map { "\($0): " } ?? ""
                report(
                    .invalidValue,
                    "the result does not fit \(operation.name)\(signature): \(part)\(error.message)",
                    at: key.map { here.appending($0) } ?? here
                )
            }
        }
    }

    private mutating func reportUnknown(
        _ name: String,
        of operation: Operation,
        _ inputs: [String],
        at place: JSONPath,
        _ part: JSONLocator.Part
    ) {
        report(
            .invalidValue,
            "\(operation.name) has no parameter \"\(name.excerpt)\"",
            fix: suggestion(for: name, among: inputs) ?? "call it as \(operation.name)\(operation.signature)",
            at: place,
            part
        )
    }
}

extension JSONTemplate {
    /// A value of the same kind; nil if the kind depends on the call.
    fileprivate var outline: JSONValue? {
        switch self {
        case .value(let value): value
        case .text: nil
        case .array: JSONValue.array([])
        case .object: JSONValue.object(JSONObject())
        }
    }

    /// What an answer has at a key, null if it has nothing there; nil if that depends on the call.
    ///
    /// - Parameter key: The key; nil for the whole answer.
    fileprivate func constant(at key: String?) -> JSONValue? {
        guard let key else { return constant }
        switch self {
        case .text: return nil
        case .value, .array: return .null
        case .object(let members):
            guard let member = members.first(where: { $0.name == key }) else { return .null }
            return member.value.constant
        }
    }
}
