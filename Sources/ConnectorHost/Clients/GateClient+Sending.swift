// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest
public import ConnectorOutbox

extension GateClient {
    /// Sends an event through an operation whose events the outbox delivers: see <doc:Outbox>.
    ///
    /// ```swift
    /// let receipt = try await host.gate("orders").send("placed", ["number": 42])
    /// try await receipt.delivered(within: .seconds(10))
    /// ```
    ///
    /// An event of `analytics/1` or `crash/1` is checked against its model, and gets an id and a time if it has none.
    ///
    /// - Parameters:
    ///   - operation: The operation; `capability/operation` if two capabilities share the name. Its capability must mark it as
    ///     delivered.
    ///   - arguments: The arguments by parameter. Where the only parameter is JSON, also the members of that argument.
    ///   - options: The timeout of the call if the connector's delivery is direct.
    /// - Throws: `unsupported` for an operation whose events are not delivered; `invalid` for an event that breaks its
    ///   model, or arguments the operation does not accept; `storage` if it could not be stored.
    @discardableResult
    public func send(
        _ operation: String,
        _ arguments: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        try await send(checked(operation, arguments), options: options)
    }

    /// An event that keeps the rules of its operation, and has its id and time.
    package struct CheckedEvent: Sendable {
        let id: String
        let operation: String
        let payload: JSONValue
        /// The name of the operation's only parameter; empty if it has several.
        let parameter: String
    }

    /// Checks an event as ``send(_:_:options:)`` does before it sends it.
    ///
    /// - Throws: `unsupported` or `invalid`, as ``send(_:_:options:)`` does.
    package func checked(_ operation: String, _ arguments: JSONObject) throws(ConnectorError) -> CheckedEvent {
        let node = try target.node
        guard let definition = node.definition(of: operation), definition.operation.isDelivered else {
            if let error = target.failure(hiding: operation) { throw error }
            // Throws if nothing has the operation, with the name that was probably meant.
            _ = try self.definition(of: operation)
            throw ConnectorError(
                .unsupported,
                "the events of \"\(operation)\" are not delivered by the outbox",
                fix: "call the operation, or mark it in the plugin's manifest with \"delivered\": true",
                connector: path
            )
        }
        let parameter = definition.operation.signature.onlyJSON
        let hasModel = ["analytics/1", "crash/1"].contains(definition.capability.id.description)
        let named = arguments.members.count == 1 ? parameter.flatMap { arguments[$0] } : nil
        // An event of `analytics/1` may itself have a member with the parameter's name, which is a text.
        let value = named.flatMap { hasModel && $0.object == nil ? nil : $0 } ?? .object(arguments)
        let (id, payload) = try target.checked { () throws(ConnectorError) -> (String, JSONValue) in
            switch definition.capability.id.description {
            case "analytics/1":
                let kind = AnalyticsEvent.Kind(rawValue: definition.operation.name)
                var event = try AnalyticsEvent(json: value, as: kind)
                event.timestamp = event.timestamp ?? target.now
                try event.check()
                return (event.messageId, event.json)
            case "crash/1":
                var report = try CrashReport(json: value, as: CrashReport.Kind(definition.operation))
                report.timestamp = report.timestamp ?? target.now
                return (report.id, report.json)
            default:
                let given = parameter.map { JSONObject([($0, value)]) } ?? arguments
                try definition.operation.check(given)
                let payload = parameter == nil ? JSONValue.object(arguments) : value
                try payload.checkReadable(named: "the event")
                return (RandomIdentifier.uuid(), payload)
            }
        }
        return CheckedEvent(id: id, operation: operation, payload: payload, parameter: parameter ?? "")
    }

    /// Checks an event, which is the operation's only JSON argument, or has all its arguments by name.
    ///
    /// - Throws: `unsupported` or `invalid`, as ``send(_:_:options:)`` does.
    package func checked(_ operation: String, event: JSONObject) throws(ConnectorError) -> CheckedEvent {
        let parameter = try target.node.definition(of: operation)?.operation.signature.onlyJSON
        return try checked(operation, parameter.map { JSONObject([($0, .object(event))]) } ?? event)
    }

    /// Sends an event that was checked.
    @discardableResult
    package func send(
        _ event: CheckedEvent,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        try await target.send(id: event.id, event.operation, event.payload.utf8(), as: event.parameter, options)
    }

    /// Stores events of one operation, which were checked, in one step and in their order.
    ///
    /// - Returns: A receipt for each; nil if a connector has no outbox, or one with a bound, so that they have to be sent one by
    ///   one.
    /// - Throws: What ``send(_:_:options:)`` throws. A file has none of them then; NATS may have some, and recognizes their ids.
    package func store(
        _ events: [CheckedEvent],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [Receipt]? {
        guard let operation = events.first?.operation else { return [] }
        return try await target.store(events.map { ($0.id, $0.payload.utf8()) }, of: operation, options)
    }
}

extension CrashReport.Kind {
    /// The kind that an operation of `crash/1` requires.
    fileprivate init(_ operation: Operation) {
        switch operation.name {
        case "exception": self = .exception
        case "message": self = .message
        default: self = .any
        }
    }
}

extension Operation {
    /// Throws `invalid` for arguments the operation does not accept: once stored, the caller would never learn of the
    /// fault. Handles are refused, because they mean nothing to a later instance.
    fileprivate func check(_ arguments: JSONObject) throws(ConnectorError) {
        _ = try CallArguments(arguments).values(for: signature, operation: name, handles: nil)
    }
}
