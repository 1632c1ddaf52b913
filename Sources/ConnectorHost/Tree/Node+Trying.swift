// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorOutbox

/// Policies that try a child beside the one in use: `compare`, `shadow` and `canary`.
extension Node {
    // MARK: compare, shadow

    /// Returns the first child's answer. The others' answers are compared with it, and the report counts the
    /// differences.
    ///
    /// - Parameter isCopied: Whether another child receives a copy of the call.
    func compare(
        _ call: Call,
        _ isCopied: (Node) -> Bool
    ) async throws(ConnectorError) -> ConnectorAnswer {
        let children = try able(call.operation)
        let first = children[0]
        // Only the first child reports progress, since its answer is the result.
        var silent = call
        silent.options.onProgress = nil
        // A copy has no caller whose thread it might hold.
        silent.options.keepsTimeout = true
        let others = children.dropFirst().filter { isCopied($0) && comparison.begin() }.map { child in
            Task { [silent] in (child.path, await child.outcome(silent)) }
        }
        let answer = await first.outcome(call)
        // The comparison continues after the caller has its answer.
        if !others.isEmpty {
            Task {
                for other in others {
                    let (path, outcome) = await other.value
                    comparison.note(call.operation, expected: answer, got: outcome, from: path)
                }
            }
        }
        guard case .failure(var error) = answer else { return try answer.get() }
        error.outcomes = ConnectorAnswer.outcomes(of: [(first.path, answer)])
        throw error
    }

    /// Returns the first child's answer, and compares it with those of the other open children if the operation has no effect.
    func shadow(_ call: Call) async throws(ConnectorError) -> ConnectorAnswer {
        let isSafe = definition(of: call.operation)?.operation.isSafe ?? false
        return try await compare(call) { isSafe && $0.isUsable }
    }

    // MARK: canary

    /// The child that receives a call of an operation, and whether it is the second one.
    ///
    /// A second child that is not usable, or does not have the operation, receives nothing.
    ///
    /// - Parameter tries: Whether the canary would give the call to the second child.
    private func chosen(_ operation: String, tries: Bool) -> (child: Node, isSecond: Bool) {
        guard tries, children.count > 1, children[1].isUsable, children[1].offers(operation) ?? false else {
            return (children[0], false)
        }
        return (children[1], true)
    }

    /// Calls the child that the canary chooses.
    func divided(_ call: Call) async throws(ConnectorError) -> ConnectorAnswer {
        _ = try able(call.operation)
        guard let canary else { return try await children[0].call(call, isChild: true) }
        let tries = canary.tries { key in
            signature(of: call.operation).flatMap { call.arguments.subject($0) }.flatMap(key.value(in:))
        }
        let (child, isSecond) = chosen(call.operation, tries: tries)
        let start = tally.clock.now()
        let outcome = await child.outcome(call)
        canary.note(isSecond, outcome.failure, took: tally.clock.now() - start)
        guard case .failure(var error) = outcome else { return try outcome.get() }
        error.outcomes = ConnectorAnswer.outcomes(of: [(child.path, outcome)])
        throw error
    }

    /// Delivers events to the children that the canary chooses, each event to one of them.
    ///
    /// The choice depends on the event alone, so that it is the same when the event is delivered again.
    func deliverDivided(_ batch: OutboxBatch, by canary: Canary) async -> Result<[DeliveryAnswer], ConnectorError> {
        var parts: [[Int]] = [[], []]
        for (index, entry) in batch.entries.enumerated() {
            let tries = canary.tries(event: entry.id) { key in
                (try? JSONValue(parsing: batch.payload(of: entry), file: entry.id)).flatMap(key.value(in:))
            }
            parts[chosen(operationName(of: entry.kind), tries: tries).isSecond ? 1 : 0].append(index)
        }
        func answers(_ part: Int) async -> Result<[DeliveryAnswer], ConnectorError> {
            guard !parts[part].isEmpty else { return .success([]) }
            let start = tally.clock.now()
            let result = await children[part].deliver(batch.part(parts[part]))
            // A child that got nothing, because the host is closing, was not called.
            if (try? result.get())?.allSatisfy(\.isUnsent) != true {
                canary.note(part == 1, result.failure ?? Self.failure(of: result), took: tally.clock.now() - start)
            }
            return result
        }
        // If one child receives the whole batch, its result stands for the batch, as a leaf's would.
        guard !parts[1].isEmpty else { return await answers(0) }
        guard !parts[0].isEmpty else { return await answers(1) }
        async let ofFirst = answers(0)
        let results = [await ofFirst, await answers(1)]
        if case .failure(let failure) = results[0], results[1].failure != nil { return .failure(failure) }
        var merged = [DeliveryAnswer?](repeating: nil, count: batch.entries.count)
        for (result, part) in zip(results, parts) {
            let answers = (try? result.get()) ?? []
            for (position, index) in part.enumerated() {
                merged[index] =
                    result.failure.map { DeliveryAnswer.retry($0) }
                    ?? (answers.indices.contains(position) ? answers[position] : nil)
            }
        }
        return .success(merged.map { $0 ?? .retry("no answer", code: .misbehaved) })
    }

    /// The failure that a batch counts as: that of the first event sent if the child accepted no event; otherwise nil.
    private static func failure(of result: Result<[DeliveryAnswer], ConnectorError>) -> ConnectorError? {
        guard case .success(let answers) = result, !answers.contains(where: { $0.outcome == .accepted }),
            let answer = answers.first(where: { !$0.isUnsent })
        else { return nil }
        return ConnectorError(answer.code ?? .failed, answer.reason ?? answer.outcome.rawValue)
    }
}

extension Result {
    /// The failure; nil for a success.
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension CallArguments {
    /// The value that an event of the operation would have: the only JSON parameter, or all parameters by name.
    fileprivate func subject(_ signature: Signature) -> JSONValue? {
        let inputs = signature.parameters.filter { $0.direction == .in }
        var members: [(name: String, value: JSONValue)] = []
        switch storage {
        case .json(let object): members = object.members.map { ($0.name, $0.value) }
        case .positional(let values): members = zip(inputs, values).map { ($0.name, $1.json) }
        case .encoded(let values):
            for input in inputs {
                guard case .bytes(let bytes)? = values.first(where: { $0.name == input.name })?.value else { continue }
                switch input.type {
                case .json: if let value = try? JSONValue(parsing: bytes) { members.append((input.name, value)) }
                case .string: members.append((input.name, .string(String(decoding: bytes, as: UTF8.self))))
                default: break
                }
            }
        }
        if let only = signature.onlyJSON { return members.first { $0.name == only }?.value }
        return .object(JSONObject(members))
    }
}
