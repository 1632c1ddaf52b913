// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities
internal import ConnectorManifest

/// The calls that a project's tests make, and the vendor's answers to them.
struct ProjectSamples {
    private let capability: CapabilityID
    private let operations: [ProjectOperation]
    /// The path of the vendor's URL, with which every request's path begins.
    private let root: String

    init(_ operations: [ProjectOperation], of capability: CapabilityID, below root: String) {
        self.operations = operations
        self.capability = capability
        self.root = root
    }

    /// The vendor's result where no model provides a sample.
    private static let text = "world"

    /// The vendor's failures: the text of the call that triggers each, the answer, and part of the resulting error.
    private static let failures: [(text: String, answer: JSONObject, error: String)] = [
        ("missing", ["status": 404, "json": ["error": "There is no such item."]], "HTTP 404"),
        (
            "busy",
            ["status": 429, "headers": ["Retry-After": "7"], "json": ["error": "Too many requests."]], "HTTP 429"
        ),
        ("portal", ["headers": ["Content-Type": "text/html"], "text": "<html>Please log in.</html>"], "answer"),
    ]

    /// The content of the file of answers.
    var answers: String {
        var answers: [JSONValue] = [["path": .string("\(root)/account"), "json": ["account": "demo"]]]
        if let refused {
            answers += Self.failures.map { failure in
                answer(to: refused, when: condition(of: refused, failure.text) ?? [:], failure.answer)
            }
        }
        for operation in operations {
            if operation.isBatch {
                // One answer for each element.
                let accepted = JSONValue.array([DeliveryAnswer.accepted.json])
                answers.append(answer(to: operation, when: ["body": [[:]]], ["json": accepted]))
            }
            answers.append(answer(to: operation, response(to: operation)))
        }
        answers.append(["path": .string("\(root)/*"), "status": 404, "json": ["error": "There is no such path."]])
        return JSONValue.object(["version": 1, "answers": .array(answers)]).serialized(pretty: true)
    }

    /// The lines of `tests/calls`.
    var calls: String {
        var lines = operations.map { operation in
            let words = words(of: operation)
            return line(
                operation,
                words,
                operation.isBatch ? shown([DeliveryAnswer.accepted.json]) : result(of: operation)
            )
        }
        if let refused {
            lines += Self.failures.map { line(refused, words(of: refused, $0.text), "error: \($0.error)") }
        }
        return lines.joined(separator: "\n")
    }

    /// The operation that the vendor refuses: the first whose request can be recognized by a text in it.
    private var refused: ProjectOperation? {
        operations.first { condition(of: $0, "") != nil && !definition(of: $0).isDelivered }
    }

    private func definition(of operation: ProjectOperation) -> (isDelivered: Bool, members: [ModelMember]) {
        let defined = CapabilityDefinition.standard(capability)?.operations.first { $0.name == operation.name }
        return (
            defined?.isDelivered ?? false, ModelMember.members(of: operation.name, in: capability.description)
        )
    }

    // MARK: Arguments

    /// The words of a sample call, with `text` in its first parameter.
    private func words(of operation: ProjectOperation, _ text: String = "hello") -> [String] {
        operation.parameters.filter { !$0.isOptional }.enumerated().map { index, parameter in
            switch parameter.type {
            case .string: return index == 0 ? text : "hello"
            case .bytes: return "hello"
            case .json:
                let isMarked = index == 0 && text != "hello"
                // A word must not contain blanks.
                return content(of: operation, isMarked ? text : nil).serialized().replacing(" ", with: "\\u0020")
            default: return "5"
            }
        }
    }

    /// The condition that only a request with the text meets; nil if the text would not appear in the request.
    private func condition(of operation: ProjectOperation, _ text: String) -> JSONObject? {
        guard let first = operation.parameters.first, !first.isOptional else { return nil }
        if first.type == .string { return ["query": .object([first.name: .string(text)])] }
        guard first.type == .json, let name = markedMember(of: operation) else { return nil }
        let member = JSONValue.object([name: .string(text)])
        return ["body": operation.isBatch ? [member] : member]
    }

    /// The content of a sample call.
    private func content(of operation: ProjectOperation, _ text: String?) -> JSONValue {
        var element = ModelMember.sample(of: members(of: operation)).object ?? JSONObject()
        if element.isEmpty { element["title"] = "hello" }
        if let text, let name = markedMember(of: operation) { element[name] = .string(text) }
        return operation.isBatch ? [.object(element)] : .object(element)
    }

    /// The members of the content or, in a batch, of its elements.
    private func members(of operation: ProjectOperation) -> [ModelMember] {
        let single = operation.isBatch ? operations.first { definition(of: $0).isDelivered } : operation
        return single.map { definition(of: $0).members } ?? []
    }

    private func markedMember(of operation: ProjectOperation) -> String? {
        members(of: operation).first { $0.kind == .text }?.name
    }

    // MARK: Results

    private func response(to operation: ProjectOperation) -> JSONObject {
        switch operation.result {
        case nil: ["status": 204]
        case .json: ["json": sample(of: operation)]
        default: ["text": .string(Self.text)]
        }
    }

    private func sample(of operation: ProjectOperation) -> JSONValue {
        CapabilitySample.result(of: operation.name, in: capability.description) ?? .string(Self.text)
    }

    private func result(of operation: ProjectOperation) -> String? {
        operation.result.map { type in
            shown(type == .json ? sample(of: operation) : ["base64": .string(Base64.encode(Array(Self.text.utf8)))])
        }
    }

    /// A result as the program prints it, with runs of blanks collapsed into one.
    private func shown(_ value: JSONValue) -> String {
        value.string ?? value.serialized(pretty: true).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private func line(_ operation: ProjectOperation, _ words: [String], _ outcome: String?) -> String {
        ([operation.name] + words).joined(separator: " ") + (outcome.map { " -> \($0)" } ?? "")
    }

    private func answer(
        to operation: ProjectOperation,
        when condition: JSONObject = [:],
        _ response: JSONObject
    ) -> JSONValue {
        var answer: JSONObject = ["method": .string(operation.method), "path": .string("\(root)/\(operation.name)")]
        answer.set("when", condition)
        for member in response.members { answer[member.name] = member.value }
        return .object(answer)
    }
}

extension ProjectOperation {
    /// Whether the content is an array, and the result holds an answer for each element.
    fileprivate var isBatch: Bool { name == "deliver" && content?.type == .json }
}
