// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorCapabilities
internal import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorOutbox
internal import ConnectorPlatform
internal import ConnectorServices

/// The connector a client calls: a path in the current tree. Clients hold no other reference to the host.
struct ClientTarget: Sendable {
    let reference: NodeReference
    /// The client's capability; nil for a client of any capability.
    private let capability: String?
    private let outbox: Outbox
    /// The clock of deadlines and waits.
    let clock: any HostClock
    private let redactor: Redactor
    /// Whether the application has a tracer, so that every call gets a span.
    let isTraced = CallSpan.isWanted

    /// Finds a connector.
    ///
    /// A connector whose plugin was not found is taken to offer the capability: a reload may bring the plugin.
    ///
    /// - Parameter capability: The capability that the connector, or one below it, must offer; nil for any.
    /// - Throws: `unknown-connector` if no connector has the path, `unsupported` if it lacks the capability.
    init(
        _ path: String,
        capability: String? = nil,
        in tree: CurrentTree,
        _ outbox: Outbox,
        _ clock: any HostClock,
        _ redactor: Redactor
    ) throws(ConnectorError) {
        reference = try NodeReference(path, in: tree)
        self.capability = capability
        self.outbox = outbox
        self.clock = clock
        self.redactor = redactor
        guard let capability, !capabilities.contains(where: { $0.id.description == capability }),
            try node.leafWithoutPlugin == nil
        else { return }
        let offered = Set(capabilities.map(\.id.description)).sorted().joined(separator: ", ")
        throw ConnectorError(
            .unsupported,
            "the connector offers \(offered.isEmpty ? "nothing" : offered), not \(capability)",
            connector: path
        )
    }

    /// The connector's path.
    var path: String { reference.path }

    /// The connector in the current snapshot of the tree.
    ///
    /// - Throws: `unknown-connector` if the connector no longer exists.
    var node: Node { get throws(ConnectorError) { try reference.node } }

    /// The time of day in whole milliseconds, for events and reports that have none.
    var now: Timestamp { clock.wallTime().wholeMilliseconds }

    /// When a call that begins now must have ended, in nanoseconds on the host's clock.
    func end(of options: CallOptions) -> UInt64 { clock.deadline(after: options.timeoutNanoseconds) }

    /// The capabilities of the connector and everything below it; none once it no longer exists.
    var capabilities: [Capability] { (try? node.capabilities) ?? [] }

    /// The error if only the host calls an operation of this leaf; nil for other operations, and for a composite.
    func problem(with operation: String) -> ConnectorError? {
        guard let manifest = try? node.manifest, let found = manifest.operation(named: operation) else { return nil }
        return manifest.lifecycle?.problem(with: found.operation).map(described)
    }

    /// Why no plugin can be used, so that it is unknown whether it has an operation; nil if that is known.
    func failure(hiding operation: String) -> ConnectorError? {
        guard let node = try? node else { return nil }
        guard !node.leaves.isEmpty else {
            return ConnectorError(
                .unsupported,
                "nothing has the operation \"\(operation.excerpt)\", as every connector below is disabled",
                fix: "enable one of them: \"enabled\": true",
                connector: path
            )
        }
        guard node.offers(operation) == nil, case .failure(let error)? = node.leafWithoutPlugin?.plan?.plugin else {
            return nil
        }
        return described(error)
    }

    /// The error without secrets, and with the connector's path if it has none yet.
    func described(_ error: ConnectorError) -> ConnectorError {
        var error = redactor.redact(error)
        error.connector = error.connector ?? path
        return error
    }

    /// Calls an operation.
    func call(
        _ operation: String,
        _ arguments: CallArguments,
        _ options: CallOptions
    ) async throws(ConnectorError) -> ConnectorAnswer {
        let node = try node
        let name = name(of: operation, at: node)
        let call = Node.Call(operation: name, arguments: arguments, options: options, in: reference.tree)
        return try await node.call(call)
    }

    /// The name by which an operation of the client's capability is called, where other capabilities may have one of the same name.
    private func name(of operation: String, at node: Node) -> String {
        guard let capability else { return operation }
        let isShared = node.capabilities.contains { other in
            other.operations.contains { $0.name == operation } && other.id.description != capability
        }
        return isShared ? "\(capability)/\(operation)" : operation
    }

    /// Calls an operation whose parameters are all text and whose result is JSON.
    ///
    /// - Parameters:
    ///   - texts: The arguments, encoded for the plugin.
    ///   - read: Decodes the result; its errors are reported as `misbehaved`.
    func call<Model>(
        _ operation: String,
        texts: [(name: String, text: [UInt8]?)],
        _ options: CallOptions,
        _ read: (JSONValue) throws(ConnectorError) -> Model
    ) async throws(ConnectorError) -> Model {
        try await call(operation, CallArguments(texts: texts), options, read)
    }

    /// Calls an operation whose result is JSON.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, encoded for the plugin.
    ///   - read: Decodes the result; its errors are the plugin's fault.
    func call<Model>(
        _ operation: String,
        _ arguments: CallArguments,
        _ options: CallOptions,
        _ read: (JSONValue) throws(ConnectorError) -> Model
    ) async throws(ConnectorError) -> Model {
        let answer = try await call(operation, arguments, options)
        return try model(of: operation) { () throws(ConnectorError) in
            try answer.read { () throws(ConnectorError) in try read(answer.resultJSON()) }
        }
    }

    /// Sends an event: stores it in the outbox of each connector that has one, and calls the others directly.
    ///
    /// - Parameters:
    ///   - id: The event's own id.
    ///   - operation: The operation that receives it; `capability/operation` if two capabilities share the name.
    ///   - payload: JSON: the operation's only argument, or all its arguments by name.
    ///   - parameter: The name of the only argument; empty if there are several.
    /// - Returns: Once the event is on stable storage and every connector without an outbox has received it.
    /// - Throws: `storage` if it could not be stored; `unsupported` if no plugin takes it; the call's own error if no connector has an
    ///   outbox.
    func send(
        id: String,
        _ operation: String,
        _ payload: [UInt8],
        as parameter: String,
        _ options: CallOptions
    ) async throws(ConnectorError) -> Receipt {
        let end = end(of: options)
        let node = try node
        let kind = kind(of: operation, at: node)
        let recipients = try node.recipients(of: kind)
        let queued = recipients.filter { $0.delivery != nil }
        let direct = recipients.filter { $0.delivery == nil }
        let arguments =
            direct.isEmpty ? CallArguments(texts: []) : try Self.arguments(payload, of: operation, as: parameter)
        guard !queued.isEmpty else {
            let answer = try await call(operation, arguments, options)
            return Receipt(id: id, connectors: [], outcomes: answer.outcomes, outbox: nil)
        }
        let event = OutboxEvent(id: id, kind: kind, createdAt: now, payload: payload)
        let paths = queued.map(\.path)
        let stored: [String]
        do throws(ConnectorError) {
            // Callers that keep their timeout do not wait for a store that another process has locked.
            stored =
                options.keepsTimeout
                ? try await outbox.append([event], to: paths, noLaterThan: end)
                : try await outbox.append([event], to: paths, by: end)
        } catch {
            throw described(error)
        }
        let dropped = paths.filter { !stored.contains($0) }
        guard !direct.isEmpty else {
            return Receipt(id: id, connectors: stored, dropped: dropped, outcomes: [], outbox: outbox)
        }
        // Storing took some of the time that the whole call has.
        var rest = options
        let now = clock.now()
        rest.timeoutNanoseconds = end - min(now, end)
        let name = name(of: operation, at: node)
        let call = Node.Call(operation: name, arguments: arguments, options: rest, in: reference.tree)
        let outcomes = await withTaskGroup(of: [CallOutcome].self) { group in
            for child in direct {
                group.addTask { await child.outcomes(of: call) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        return Receipt(id: id, connectors: stored, dropped: dropped, outcomes: outcomes, outbox: outbox)
    }

    /// Stores events of one operation in one step, in their order.
    ///
    /// - Returns: A receipt for each, once they are on stable storage; nil if a connector has no outbox, or one that may be full
    ///   with some of them.
    func store(
        _ events: [(id: String, payload: [UInt8])],
        of operation: String,
        _ options: CallOptions
    ) async throws(ConnectorError) -> [Receipt]? {
        let end = end(of: options)
        let node = try node
        let kind = kind(of: operation, at: node)
        let recipients = try node.recipients(of: kind)
        guard !recipients.isEmpty, recipients.allSatisfy({ $0.delivery != nil && $0.delivery?.queueBound == nil })
        else {
            return nil
        }
        let now = now
        let events = events.map { OutboxEvent(id: $0.id, kind: kind, createdAt: now, payload: $0.payload) }
        let paths = recipients.map(\.path)
        let stored: [String]
        do throws(ConnectorError) {
            // Callers that keep their timeout do not wait for a store that another process has locked.
            stored =
                options.keepsTimeout
                ? try await outbox.append(events, to: paths, noLaterThan: end)
                : try await outbox.append(events, to: paths, by: end)
        } catch {
            throw described(error)
        }
        let dropped = paths.filter { !stored.contains($0) }
        return events.map { Receipt(id: $0.id, connectors: stored, dropped: dropped, outcomes: [], outbox: outbox) }
    }

    /// A payload as an operation's only argument, or as all its arguments by name.
    private static func arguments(
        _ payload: [UInt8],
        of operation: String,
        as parameter: String
    ) throws(ConnectorError) -> CallArguments {
        guard parameter.isEmpty else { return CallArguments(texts: [(parameter, payload)]) }
        return CallArguments(try JSONValue(parsing: payload, file: operation).object ?? JSONObject())
    }

    /// The kind of the events that an operation receives.
    private func kind(of operation: String, at node: Node) -> EventKind {
        if let capability { return EventKind(capability, operation) }
        guard let found = node.definition(of: operation) else { return EventKind("", operation) }
        return EventKind(found.capability.id.description, found.operation.name)
    }

    /// Delivers a batch.
    ///
    /// - Parameter text: The JSON array of what has passed the check.
    /// - Returns: The outcome of each event or report, in the order of the batch.
    func deliver<Model>(
        _ batch: CheckedBatch<Model>,
        as parameter: String,
        _ options: CallOptions,
        text: ([Model]) -> [UInt8]
    ) async throws(ConnectorError) -> [DeliveryAnswer] {
        guard !batch.isRefused else { return batch.answers([]) }
        let count = batch.models.count
        let arguments = CallArguments(texts: [(parameter, text(batch.models))])
        let node = try node
        let name = name(of: "deliver", at: node)
        var call = Node.Call(operation: name, arguments: arguments, options: options, in: reference.tree)
        call.batchCount = count
        let answer = try await node.call(call)
        return batch.answers(
            try model(of: "deliver") { () throws(ConnectorError) in try answer.deliveries(count: count) }
        )
    }

    /// Reads an answer; an error is the plugin's fault.
    func model<Model>(
        of operation: String,
        _ read: () throws(ConnectorError) -> Model
    ) throws(ConnectorError) -> Model {
        do throws(ConnectorError) {
            return try read()
        } catch {
            throw ConnectorError(
                .misbehaved,
                "the answer to \"\(operation)\" breaks the capability's rules: \(error.message)",
                connector: path,
                position: error.position,
                cause: error.description
            )
        }
    }
}
