// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorOutbox

/// Delivers events of the outbox to the vendors.
extension Node {
    /// The connectors that get an event of this one, each on its own: every child of a composite of the policy `all`, and
    /// a leaf or any other composite itself.
    ///
    /// - Throws: `unsupported` if none of them has the operation.
    func recipients(of operation: String) throws(ConnectorError) -> [Node] {
        guard case .all? = policy else { return [self] }
        var recipients: [Node] = []
        for child in try able(operation) { recipients += try child.recipients(of: operation) }
        return recipients
    }

    /// This connector and all below it that can receive events of their own.
    var allRecipients: [Node] {
        guard case .all? = policy else { return [self] + children.flatMap(\.allRecipients) }
        return children.flatMap(\.allRecipients)
    }

    /// Whether this leaf, or one below, has an operation whose events the outbox delivers. A plugin that was not found might.
    var takesEvents: Bool {
        guard let gate else { return children.contains(where: \.takesEvents) }
        return gate.manifest?.capabilities.contains { $0.operations.contains(where: \.isDelivered) } ?? true
    }

    /// The operation and its capability, at this leaf or at the first leaf below that has it.
    func definition(of operation: String) -> (capability: Capability, operation: Operation)? {
        guard let gate else { return children.lazy.compactMap { $0.definition(of: operation) }.first }
        return gate.manifest?.operation(named: operation)
    }

    /// The largest batch that every leaf below accepts.
    var batchLimits: BatchLimits {
        let manifests = leaves.compactMap(\.gate?.manifest)
        return BatchLimits(
            count: manifests.compactMap(\.batchCount).min() ?? BatchLimits().count,
            bytes: manifests.compactMap(\.batchBytes).min() ?? BatchLimits().bytes
        )
    }

    /// Delivers events of one capability to the vendor: as one batch if the capability has one, and one by one otherwise.
    ///
    /// One by one, this ends before the next event when its task is cancelled.
    ///
    /// - Returns: An answer for each event, or the error of all.
    func deliver(_ events: [OutboxEvent]) async -> Result<[DeliveryAnswer], ConnectorError> {
        guard let kind = events.first?.kind else { return .success([]) }
        let batch = definition(of: "\(kind.capabilityName)/deliver")
        if let batch, let parameter = batch.operation.batchParameter {
            return await deliver(events, to: "\(kind.capabilityName)/deliver", as: parameter)
        }
        var answers: [DeliveryAnswer] = []
        var rest = DeliveryAnswer.retry("an event before it failed")
        for event in events {
            guard !Task.isCancelled else {
                rest = .retry("the host closes", code: .cancelled)
                break
            }
            let call = Call(
                operation: "\(event.kind.capabilityName)/\(event.kind.operation)",
                arguments: arguments(of: event),
                options: CallOptions()
            )
            do throws(ConnectorError) {
                _ = try await self.call(call, isChild: true)
                answers.append(.accepted)
            } catch {
                // Earlier events have their answers; this one and later ones are tried again.
                guard !answers.isEmpty || error.isEventFault else { return .failure(error) }
                answers.append(DeliveryAnswer(error))
                guard error.isEventFault else { break }
            }
        }
        return .success(answers + Array(repeating: rest, count: events.count - answers.count))
    }

    private func deliver(
        _ events: [OutboxEvent],
        to operation: String,
        as parameter: String
    ) async -> Result<[DeliveryAnswer], ConnectorError> {
        var batch: [UInt8] = []
        batch.reserveCapacity(events.reduce(2) { $0 + $1.payload.count + 1 })
        batch.append(UInt8(ascii: "["))
        for (index, event) in events.enumerated() {
            if index > 0 { batch.append(UInt8(ascii: ",")) }
            batch += event.payload
        }
        batch.append(UInt8(ascii: "]"))
        let arguments = CallArguments(texts: [(parameter, batch)])
        do throws(ConnectorError) {
            let answer = try await call(
                Call(operation: operation, arguments: arguments, options: CallOptions()),
                isChild: true
            )
            return .success(try answer.deliveries(count: events.count))
        } catch {
            return .failure(error)
        }
    }

    /// An event as the arguments of its own operation: the operation's only parameter, or all of them by name.
    private func arguments(of event: OutboxEvent) -> CallArguments {
        let signature = signature(of: "\(event.kind.capabilityName)/\(event.kind.operation)")
        if let parameter = signature?.onlyJSON { return CallArguments(texts: [(parameter, event.payload)]) }
        let object = (try? JSONValue(parsing: event.payload, file: event.id))?.object
        return CallArguments(object ?? JSONObject())
    }
}

extension EventKind {
    /// The capability without its version.
    fileprivate var capabilityName: Substring { capability.prefix { $0 != "/" } }
}

extension Signature {
    /// The name of the only input, if that is JSON.
    var onlyJSON: String? {
        let inputs = parameters.filter { $0.direction == .in }
        guard inputs.count == 1, let input = inputs.first, input.type == .json else { return nil }
        return input.name
    }
}

extension Operation {
    /// The parameter of a batch, if the operation takes one and answers for each element: `(x: json) async -> json`.
    fileprivate var batchParameter: String? {
        signature.results.count == 1 && signature.results[0].type == .json ? signature.onlyJSON : nil
    }
}

extension ConnectorError {
    /// Whether the error concerns the event rather than the connection.
    fileprivate var isEventFault: Bool { code == .invalid || code == .tooLarge }
}
