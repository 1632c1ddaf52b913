// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorOutbox

/// Delivers events from the outbox to vendors.
extension Node {
    /// The connectors that receive an event sent to this one, each with its own queue: the recipients of every child
    /// for a composite with the policy `all`, otherwise the connector itself.
    ///
    /// - Throws: `unsupported` if no child of an `all` has the operation or takes all events of the capability in batches, or if no
    ///   plugin behind a queue has it or takes batches. Without a queue, the call throws it.
    func recipients(of kind: EventKind) throws(ConnectorError) -> [Node] {
        guard policy.isAll else {
            // The outbox would try forever to deliver what no plugin takes, and hold up every later event. A composite whose leaves
            // are all disabled waits for them.
            guard delivery != nil, offersOperation(of: kind) == false, offers(batchName(of: kind)) == false,
                !leaves.isEmpty
            else { return [self] }
            throw ConnectorError(
                .unsupported,
                "the connector does not offer \(operationName(of: kind))",
                connector: path
            )
        }
        // Each child by its own name: another one may have the versions.
        let takers = children.filter { $0.offersOperation(of: kind) != false || $0.takesOnlyBatches(of: kind) }
        if !takers.contains(where: { $0.offersOperation(of: kind) != nil }) {
            _ = try able(operationName(of: kind))
        }
        var recipients: [Node] = []
        for child in takers { recipients += try child.recipients(of: kind) }
        return recipients.unique
    }

    /// Whether this connector, or one below it, has the operation that an event comes from; nil if unknown because a plugin was not found.
    private func offersOperation(of kind: EventKind) -> Bool? {
        declaredKinds.contains(kind) ? true : offers(operationName(of: kind))
    }

    /// Whether a plugin behind the queue of this connector, or of one below, takes every event of the capability, and only in batches:
    /// it has none of the operations that events come from.
    private func takesOnlyBatches(of kind: EventKind) -> Bool {
        if policy.isAll { return children.contains { $0.takesOnlyBatches(of: kind) } }
        return delivery != nil && leaves.contains { $0.hasOnlyBatches(of: kind) }
    }

    /// Whether this leaf takes every event of the capability, and only in batches.
    private func hasOnlyBatches(of kind: EventKind) -> Bool {
        guard let batch = manifest?.operation(named: batchName(of: kind)) else { return false }
        return !batch.capability.operations.contains(where: \.isDelivered)
    }

    /// This connector and those below it that have queues of their own.
    var allRecipients: [Node] {
        var recipients: [Node] = []
        addRecipients(to: &recipients)
        return recipients.unique
    }

    fileprivate func addRecipients(to recipients: inout [Node]) {
        if !policy.isAll { recipients.append(self) }
        for child in children { child.addRecipients(to: &recipients) }
    }

    /// Whether this leaf, or one below, has an operation whose events the outbox delivers. A plugin that was not found
    /// is assumed to have one.
    var takesEvents: Bool {
        guard gate != nil else { return children.contains(where: \.takesEvents) }
        return manifest?.capabilities.contains { $0.operations.contains(where: \.isDelivered) } ?? true
    }

    /// An operation as callers see it, and its capability, at this leaf or at the first leaf below that has it.
    func definition(of operation: String) -> (capability: Capability, operation: Operation)? {
        guard gate != nil else { return children.lazy.compactMap { $0.definition(of: operation) }.first }
        return manifest?.callable.operation(named: operation)
    }

    /// The largest batch that every leaf below accepts.
    var batchLimits: BatchLimits {
        let leaves = leaves
        return BatchLimits(
            count: leaves.compactMap { $0.manifest?.batchCount }.min() ?? BatchLimits().count,
            bytes: leaves.compactMap { $0.manifest?.batchBytes }.min() ?? BatchLimits().bytes
        )
    }

    /// Delivers events of one capability to the vendor: as one batch if every plugin that takes them supports batches, otherwise one
    /// by one. Events that are delivered in another way than the first ones are left for the next delivery.
    ///
    /// - Returns: An answer for each event, or one error for all.
    func deliver(_ batch: OutboxBatch) async -> Result<[DeliveryAnswer], ConnectorError> {
        guard let kind = batch.entries.first?.kind else { return .success([]) }
        if let canary { return await deliverDivided(batch, by: canary) }
        let areBatched = takesBatches(of: kind)
        let count = batch.entries.count
        if gate == nil {
            let kinds = Set(batch.entries.map(\.kind)).filter { takesBatches(of: $0) == areBatched }
            let first = batch.entries.prefix { kinds.contains($0.kind) }.count
            guard first == count else {
                let rest = DeliveryAnswer.unsent("not sent: earlier events were delivered in another way")
                let answers: [DeliveryAnswer]
                do throws(ConnectorError) {
                    answers = try await deliver(batch.part(0..<first)).get()
                } catch {
                    // A batch rejected because of one event is split in half.
                    guard !error.concernsContent else { return .failure(error) }
                    answers = Array(repeating: DeliveryAnswer.retry(error), count: first)
                }
                return .success(answers + Array(repeating: rest, count: count - first))
            }
        }
        let operation = batchName(of: kind)
        guard areBatched, let parameter = definition(of: operation)?.operation.batchParameter else {
            return await deliverOneByOne(batch)
        }
        let arguments = CallArguments(texts: [(parameter, batch.json)])
        var call = Call(operation: operation, arguments: arguments, options: Self.deliveryOptions)
        call.batchCount = count
        do throws(ConnectorError) {
            return .success(try await self.call(call, isChild: true).deliveries(count: count))
        } catch {
            return .failure(error)
        }
    }

    /// Delivers events in calls of their own, up to the first that fails for a reason other than the event. Cancelling the task stops
    /// before the next event. All the calls share the time of one, and none starts in its second half, so that a host that dies sends few
    /// events twice.
    private func deliverOneByOne(_ batch: OutboxBatch) async -> Result<[DeliveryAnswer], ConnectorError> {
        var answers: [DeliveryAnswer] = []
        var rest = DeliveryAnswer.unsent("not sent: an earlier event failed")
        let whole = Self.deliveryOptions.timeoutNanoseconds
        let start = tally.clock.now()
        for entry in batch.entries {
            let elapsed = tally.clock.now() - start
            guard answers.isEmpty || elapsed < whole / 2 else {
                rest = .unsent("not sent: earlier events took half of the delivery's time")
                break
            }
            guard !Task.isCancelled else {
                rest = .unsent("not sent: the host is closing")
                break
            }
            let operation = operationName(of: entry.kind)
            var call = Call(
                operation: operation,
                arguments: arguments(of: entry, batch.payload(of: entry), for: operation),
                options: Self.deliveryOptions
            )
            if !answers.isEmpty { call.options.timeoutNanoseconds = whole - elapsed }
            do throws(ConnectorError) {
                _ = try await self.call(call, isChild: true)
                answers.append(.accepted)
            } catch {
                guard batch.entries.count > 1 || error.concernsContent else { return .failure(error) }
                answers.append(DeliveryAnswer(error))
                guard error.concernsContent else { break }
            }
        }
        return .success(answers + Array(repeating: rest, count: batch.entries.count - answers.count))
    }

    /// The options of a delivery, which ends at its timeout whatever the plugin does: the next events wait for its end.
    private static var deliveryOptions: CallOptions {
        var options = CallOptions()
        (options.timeoutNanoseconds, options.keepsTimeout) = (DeliveryPolicy.callTimeout, true)
        return options
    }

    /// Whether events of a kind may be delivered as a batch, which bypasses plugins that take them only one by one, and reaches
    /// those that take only other kinds.
    private func takesBatches(of kind: EventKind) -> Bool {
        guard gate == nil else { return true }
        // An event whose own operation no plugin has can only be delivered in a batch.
        guard offersOperation(of: kind) != false else { return true }
        let (operation, batch) = (operationName(of: kind), batchName(of: kind))
        return leaves.allSatisfy { leaf in
            (leaf.offers(batch) != false) == (leaf.offers(operation) != false)
                || leaf.hasOnlyBatches(of: kind)
        }
    }

    /// An event as the arguments of its operation: the only parameter, or all parameters by name.
    private func arguments(
        of entry: OutboxBatch.Entry,
        _ payload: [UInt8],
        for operation: String
    ) -> CallArguments {
        let signature = signature(of: operation)
        if let parameter = signature?.onlyJSON { return CallArguments(texts: [(parameter, payload)]) }
        let object = (try? JSONValue(parsing: payload, file: entry.id))?.object
        return CallArguments(object ?? JSONObject())
    }

    /// The operation by which this connector takes an event, such as `analytics/track`.
    func operationName(of kind: EventKind) -> String { "\(capabilityName(of: kind))/\(kind.operation)" }

    /// The operation by which it takes events of the capability in batches, such as `analytics/deliver`.
    private func batchName(of kind: EventKind) -> String { "\(capabilityName(of: kind))/deliver" }

    /// The capability of an event; with its version only if a plugin here offers several, since the bare name means the first.
    ///
    /// Otherwise without: the plugin may have been replaced since the event was stored, by one that offers another version.
    private func capabilityName(of kind: EventKind) -> Substring {
        versionedCapabilities.contains(kind.capability) ? kind.capability[...] : kind.capability.prefix(before: "/")
    }
}

extension Tree {
    /// The connectors with queues of their own in the outbox.
    var queues: [Node] {
        var recipients: [Node] = []
        for root in roots { root.addRecipients(to: &recipients) }
        return recipients.unique.filter { $0.delivery != nil }
    }
}

extension Operation {
    /// The parameter of a batch, if the operation accepts one and returns an answer per element: `(x: json) async ->
    /// json`.
    fileprivate var batchParameter: String? {
        signature.results.count == 1 && signature.results[0].type == .json ? signature.onlyJSON : nil
    }
}
