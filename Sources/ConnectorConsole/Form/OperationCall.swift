// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import ConnectorManifest

/// The call that a form's values make; its fields come from the operation's signature and its capability's model.
///
/// The texts are parsed like the arguments of `connector-host call`.
struct OperationCall: Sendable, Hashable {
    /// The connector to call.
    let connector: String
    /// The operation.
    let operation: String
    /// The fields; none if the operation takes no arguments.
    let fields: [FormField]
    /// Whether the call is an event that the outbox stores and delivers, not a direct call.
    let isDelivered: Bool
    private let loss: String?
    private let reader: ArgumentReader
    private let commands: CommandLines
    private let inputs: [String: Input]

    /// The argument that a field supplies.
    private struct Input: Sendable, Hashable {
        var name: String
        var isMember: Bool
        var type: ValueType?
    }

    /// Creates the form of an operation.
    ///
    /// - Parameters:
    ///   - name: The name by which calls of this connector name the operation.
    ///   - commands: Builds the equivalent command line.
    init(
        _ operation: Operation,
        named name: String,
        of capability: CapabilityID,
        at connector: String,
        commands: CommandLines
    ) {
        self.connector = connector
        self.operation = name
        self.commands = commands
        isDelivered = operation.isDelivered
        reader = ArgumentReader(operation, of: capability)
        loss = CapabilityDefinition.standard(capability)?.operations.first { $0.name == operation.name }?.loss
        var (fields, inputs): ([FormField], [String: Input]) = ([], [:])
        for parameter in reader.inputs {
            guard parameter == reader.container, !reader.members.isEmpty else {
                fields.append(FormField(parameter))
                inputs[parameter.name] = Input(name: parameter.name, isMember: false, type: parameter.type)
                continue
            }
            for member in reader.members {
                let field = FormField(member, of: parameter.name)
                fields.append(field)
                inputs[field.name] = Input(name: member.name, isMember: true)
            }
        }
        (self.fields, self.inputs) = (fields, inputs)
    }

    /// The call with the entered values.
    ///
    /// - Parameter texts: The fields' texts, by name; an empty text counts as no value.
    /// - Throws: A message for each invalid field.
    func act(_ texts: [String: String]) throws(FormFault) -> ConsoleAct {
        var entries: [ArgumentReader.Entry] = []
        var errors: [String: String] = [:]
        for field in fields {
            guard let input = inputs[field.name] else { continue }
            let text = texts[field.name] ?? ""
            guard !text.isEmpty else {
                errors[field.name] = field.isRequired ? "\(field.label) is missing" : nil
                continue
            }
            let entry = ArgumentReader.Entry(input.name, isMember: input.isMember, text)
            if let problem = problem(of: field, entry, input.type) {
                errors[field.name] = problem
            } else {
                entries.append(entry)
            }
        }
        guard errors.isEmpty else { throw FormFault(errors) }
        do throws(ConnectorError) {
            return act(try arguments(entries))
        } catch {
            throw FormFault([fields.first?.name ?? "": error.message])
        }
    }

    private func arguments(_ entries: [ArgumentReader.Entry]) throws(ConnectorError) -> JSONObject {
        var arguments = try reader.arguments(entries)
        // If no member has a value, the model is an empty object.
        if let container = reader.container, !container.isOptional, arguments[container.name] == nil {
            arguments[container.name] = .object(JSONObject())
        }
        return arguments
    }

    private func act(_ arguments: JSONObject) -> ConsoleAct {
        let title = isDelivered ? "send \(operation) to \(connector)" : "call \(operation) of \(connector)"
        let words = reader.words(for: arguments)
        return ConsoleAct(
            .call,
            .operation(operation, of: connector, arguments, isDelivered: isDelivered),
            title: title,
            question: loss.map { "Call \(operation) of \(connector)? \($0)" },
            commandLine: words.map { commands.call(connector, operation, $0, isDelivered: isDelivered) }
        )
    }

    /// The error in the text of a nonempty field; nil if it is valid.
    private func problem(of field: FormField, _ entry: ArgumentReader.Entry, _ type: ValueType?) -> String? {
        if let problem = field.problem(with: entry.text) { return problem }
        do throws(ConnectorError) {
            // The call itself checks that a handle belongs to the gate.
            guard let type, type != .handle else { return nil }
            _ = try CallValue(try reader.value(of: entry), as: type, handles: nil)
            return nil
        } catch {
            return field.sentence(on: error)
        }
    }
}

extension FormField {
    /// The field of a parameter.
    fileprivate init(_ parameter: Signature.Parameter) {
        let kind: Kind
        let (help, example): (String, String)
        switch parameter.type {
        case .string, .cstring: (kind, help, example) = (.text, "", "")
        case .bytes, .bytes32: (kind, help, example) = (.text, "a text, or bytes in Base64", #"{"base64": "AA=="}"#)
        case .json: (kind, help, example) = (.json, "", "")
        case .handle: (kind, help, example) = (.json, "a handle from an earlier call", #"{"handle": 1}"#)
        case .i8, .i16, .i32, .i64, .u8, .u16, .u32, .u64, .f32, .f64:
            (kind, help, example) = (.number, "\(parameter.type)", "")
        }
        self.init(
            parameter.name,
            label: parameter.name,
            kind,
            isRequired: !parameter.isOptional,
            help: help,
            example: example
        )
    }

    /// The field of a model's member.
    fileprivate init(_ member: ModelMember, of parameter: String) {
        let kind: Kind =
            switch member.kind {
            case .text: .text
            case .number: .number
            case .boolean: .boolean
            case .choice(let words): .choice(words)
            case .scalar, .object, .map, .array, .either: .json
            }
        self.init(
            "\(parameter).\(member.name)",
            label: member.name,
            kind,
            isRequired: member.isRequired,
            help: member.help,
            example: member.example
        )
    }
}
