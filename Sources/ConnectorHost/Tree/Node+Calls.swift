// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// How a call passes through the tree: a composite is called like a leaf, and its policy decides which children answer.
extension Node {
    /// What a caller wants of a connector.
    struct Call: Sendable {
        /// The operation's name.
        var operation: String
        /// What it is given.
        var arguments: CallArguments
        /// How long it may take.
        var options: CallOptions
    }

    /// Calls an operation.
    func call(_ call: Call) async throws(ConnectorError) -> Answer {
        if let gate { return Answer(try await gate.call(call.operation, call.arguments, call.options)) }
        return switch policy {
        case .all(let quorum)?: try await all(call, quorum: quorum)
        case .first?: try await first(call)
        case .fastest?: try await fastest(call)
        case .sequence?: try await sequence(call)
        case .compare?: try await compare(call)
        case nil: throw ConnectorError(.notOpen, "the composite has no enabled child", connector: path)
        }
    }

    private func outcome(_ call: Call) async -> Answer.Outcome {
        do throws(ConnectorError) {
            return .success(try await self.call(call))
        } catch {
            return .failure(error)
        }
    }

    /// The children that have an operation, or an error that says none has.
    private func able(_ operation: String) throws(ConnectorError) -> [Node] {
        let able = children.filter { $0.offers(operation) }
        guard able.isEmpty else { return able }
        let known = Set(capabilities.flatMap(\.operations).map(\.name)).sorted()
        throw ConnectorError(
            .unsupported,
            "nothing in \(path) offers \(operation)",
            fix: suggestion(for: operation, among: known),
            connector: path
        )
    }

    /// The children that have an operation and are open, or something below them is; or an error that says none is.
    private func usable(_ operation: String) throws(ConnectorError) -> [Node] {
        let usable = try able(operation).filter(\.isUsable)
        guard usable.isEmpty else { return usable }
        throw ConnectorError(.notOpen, "no child is open", connector: path, isRetryable: true)
    }

    // MARK: Policies

    /// Every child takes the call; enough of them must succeed.
    private func all(_ call: Call, quorum: Int?) async throws(ConnectorError) -> Answer {
        let children = try able(call.operation)
        let outcomes = await withTaskGroup(of: (Int, Answer.Outcome).self) { group in
            for child in children { group.addTask { (child.index, await child.outcome(call)) } }
            var outcomes: [Int: Answer.Outcome] = [:]
            for await (index, outcome) in group { outcomes[index] = outcome }
            return outcomes
        }
        let inOrder = children.compactMap { child in outcomes[child.index].map { (child.path, $0) } }
        let successes = inOrder.compactMap { try? $0.1.get() }
        guard successes.count >= max(1, quorum ?? 1), let first = successes.first else {
            throw failure(
                of: inOrder,
                "\(successes.count) of \(inOrder.count) answered \(call.operation)",
                needed: quorum ?? 1
            )
        }
        return Answer(first.result, children: inOrder)
    }

    /// The first child that works takes the call; the next one only if trying elsewhere makes sense.
    private func first(_ call: Call) async throws(ConnectorError) -> Answer {
        var failures: [(String, Answer.Outcome)] = []
        for child in try usable(call.operation) {
            let outcome = await child.outcome(call)
            guard case .failure(let error) = outcome else { return try outcome.get() }
            failures.append((child.path, outcome))
            guard error.isRetryable, !Task.isCancelled else { throw error }
        }
        throw failure(of: failures, "every open child failed", needed: 1)
    }

    /// Every open child takes the call, and the first success answers it; the others are cancelled.
    private func fastest(_ call: Call) async throws(ConnectorError) -> Answer {
        let children = try usable(call.operation)
        let (winner, failures) = await withTaskGroup(of: (String, Answer.Outcome).self) { group in
            for child in children { group.addTask { (child.path, await child.outcome(call)) } }
            var failures: [(String, Answer.Outcome)] = []
            for await (path, outcome) in group {
                if case .success(let result) = outcome {
                    group.cancelAll()
                    return (Answer?.some(result), failures)
                }
                failures.append((path, outcome))
            }
            return (nil, failures)
        }
        if let winner { return winner }
        throw failure(of: failures, "every open child failed", needed: 1)
    }

    /// Each child takes what the one before it answered.
    private func sequence(_ call: Call) async throws(ConnectorError) -> Answer {
        var call = call
        var last: Answer?
        for child in try able(call.operation) {
            if let last { call.arguments = try child.arguments(of: call.operation, after: last) }
            last = try await child.call(call)
        }
        guard let last else { throw ConnectorError(.notOpen, "no child is open", connector: path) }
        return last
    }

    /// The arguments that a child of a sequence gets: the answer as the only argument, or its members by name.
    ///
    /// Members that the child has no parameter for are left out.
    private func arguments(of operation: String, after last: Answer) throws(ConnectorError) -> CallArguments {
        let answer = try last.json()
        let inputs = (signature(of: operation)?.parameters ?? []).filter { $0.direction == .in }
        if inputs.count == 1, let input = inputs.first, answer.object?[input.name] == nil {
            return CallArguments(JSONObject([(input.name, answer)]))
        }
        guard let object = answer.object else {
            throw ConnectorError(
                .invalid,
                "\(last.result.gate) answered \(answer.kind), from which \(path) cannot take its arguments",
                connector: path
            )
        }
        let names = Set(inputs.map(\.name))
        return CallArguments(JSONObject(unique: object.members.filter { names.contains($0.name) }))
    }

    /// The first child answers; the others' answers are compared with its own, and the differences reported.
    private func compare(_ call: Call) async throws(ConnectorError) -> Answer {
        let children = try able(call.operation)
        // Progress is the first one's, as the answer is.
        var silent = call
        silent.options.onProgress = nil
        let others = children.dropFirst().map { child in
            Task { [silent] in (child.path, await child.outcome(silent)) }
        }
        let answer = await children[0].outcome(call)
        // The caller does not wait for the others: the comparison goes on behind its back.
        Task {
            for other in others {
                let (path, outcome) = await other.value
                comparison.note(call.operation, expected: answer, got: outcome, from: path)
            }
        }
        return try answer.get()
    }

    private func failure(of outcomes: [(String, Answer.Outcome)], _ what: String, needed: Int) -> ConnectorError {
        let errors = outcomes.compactMap { path, outcome -> ConnectorError? in
            guard case .failure(var error) = outcome else { return nil }
            error.connector = error.connector ?? path
            return error
        }
        let codes = Set(errors.map(\.code))
        return ConnectorError(
            codes.count == 1 ? codes.first ?? .failed : .failed,
            needed > 1 ? "\(what), \(needed) are needed" : what,
            connector: path,
            cause: errors.map(\.description).joined(separator: "; "),
            isRetryable: errors.contains(where: \.isRetryable),
            retryAfter: errors.compactMap(\.retryAfter).min()
        )
    }
}
