// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorManifest

/// A form of a scene: its fields, and the act made from their values.
///
/// `SceneContext.form` binds an application's form to a closure; the host's own forms call operations. A platform shows the
/// ``fields``, collects a text for each, and performs the act that ``act(_:)`` returns.
public struct SceneForm: Sendable, Hashable {
    /// The label of the button that submits it.
    public let button: String
    /// The fields; none if the act takes no values.
    public let fields: [FormField]
    private let source: Source

    /// What the values are passed to.
    private enum Source: Sendable, Hashable {
        case operation(OperationCall)
        case application(ConsoleAct)
    }

    /// Creates the form of an operation.
    ///
    /// - Parameters:
    ///   - name: The name by which calls of this connector name the operation.
    ///   - commands: Builds the equivalent command line.
    package init(
        _ operation: Operation,
        named name: String,
        of capability: CapabilityID,
        at connector: String,
        commands: CommandLines
    ) {
        let call = OperationCall(operation, named: name, of: capability, at: connector, commands: commands)
        button = operation.isDelivered ? "Send \(name)" : "Call \(name)"
        fields = call.fields
        source = .operation(call)
    }

    /// Creates a form that passes its values to an act of the application.
    init(_ act: ConsoleAct, fields: [FormField]) {
        button = act.verb.rawValue
        self.fields = fields
        source = .application(act)
    }

    /// Whether the values go to a closure of the application.
    package var isOfApplication: Bool { actID != nil }

    /// The id of the application's act; nil for the form of an operation, whose scene shows its calls.
    var actID: String? { if case .application(let act) = source { act.id } else { nil } }

    /// The act with the entered values.
    ///
    /// - Parameter texts: The fields' texts, by name; an empty text counts as no value.
    /// - Throws: A message for each invalid field.
    public func act(_ texts: [String: String]) throws(FormFault) -> ConsoleAct {
        switch source {
        case .operation(let call): return try call.act(texts)
        case .application(let act):
            var errors: [String: String] = [:]
            var entered: [String: String] = [:]
            for field in fields {
                let text = texts[field.name] ?? ""
                entered[field.name] = text
                errors[field.name] = field.problem(with: text)
            }
            guard errors.isEmpty else { throw FormFault(errors) }
            return act.with(FormValues(entered))
        }
    }
}

/// The name of ``SceneForm`` in versions where every form called an operation.
@available(*, deprecated, renamed: "SceneForm")
public typealias OperationForm = SceneForm

extension SceneForm {
    private var call: OperationCall? { if case .operation(let call) = source { call } else { nil } }

    /// The connector that it calls; empty for a form of the application.
    public var connector: String { call?.connector ?? "" }
    /// The operation that it calls; empty for a form of the application.
    public var operation: String { call?.operation ?? "" }
    /// Whether the call is an event that the outbox stores and delivers, not a direct call.
    public var isDelivered: Bool { call?.isDelivered ?? false }
}
