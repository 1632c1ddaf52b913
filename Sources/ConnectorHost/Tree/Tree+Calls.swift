// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// How a call passes through the tree: a composite is called like a leaf, and its policy decides which children answer.
extension Tree {
    /// Calls an operation of a connector.
    func call(
        _ index: Int,
        _ operation: String,
        _ arguments: CallArguments,
        _ options: CallOptions
    ) async throws(ConnectorError) -> CallResult {
        let node = nodes[index]
        if let gate = node.gate { return try await gate.call(operation, arguments, options) }
        return switch node.policy {
        case .all(let quorum)?: try await callAll(node, quorum: quorum, operation, arguments, options)
        case .first?: try await callFirst(node, operation, arguments, options)
        case .fastest?: try await callFastest(node, operation, arguments, options)
        case .sequence?: try await callSequence(node, operation, arguments, options)
        case .compare?: try await callCompare(node, operation, arguments, options)
        case nil: throw ConnectorError(.notOpen, "the composite has no enabled child", connector: node.path)
        }
    }

    /// Whether a connector, or something below it, is open.
    func isUsable(_ index: Int) -> Bool {
        nodes[index].gate.map { $0.state.isUsable } ?? nodes[index].children.contains(where: isUsable)
    }

    /// Whether a connector, or something below it, has an operation.
    func offers(_ operation: String, _ index: Int) -> Bool {
        guard let gate = nodes[index].gate else { return nodes[index].children.contains { offers(operation, $0) } }
        return gate.manifest?.operation(named: operation) != nil
    }

    /// What a connector, or something below it, can do.
    func capabilities(_ index: Int) -> [Capability] {
        guard let gate = nodes[index].gate else { return nodes[index].children.flatMap(capabilities) }
        return gate.manifest?.capabilities ?? []
    }

    /// The children that have an operation, or an error that says none has.
    private func able(_ node: Node, _ operation: String) throws(ConnectorError) -> [Int] {
        let able = node.children.filter { offers(operation, $0) }
        guard able.isEmpty else { return able }
        let known = Set(node.children.flatMap(capabilities).flatMap(\.operations).map(\.name)).sorted()
        throw ConnectorError(
            .unsupported,
            "nothing in \(node.path) offers \(operation)",
            fix: suggestion(for: operation, among: known),
            connector: node.path
        )
    }

    /// How one child of a composite answered.
    typealias ChildOutcome = Result<CallResult, ConnectorError>

    private func outcome(
        _ index: Int,
        _ operation: String,
        _ arguments: CallArguments,
        _ options: CallOptions
    ) async -> ChildOutcome {
        do throws(ConnectorError) {
            return .success(try await call(index, operation, arguments, options))
        } catch {
            return .failure(error)
        }
    }

    // MARK: Policies

    /// Every child takes the call; enough of them must succeed.
    private func callAll(
        _ node: Node,
        quorum: Int?,
        _ operation: String,
        _ arguments: CallArguments,
        _ options: CallOptions
    ) async throws(ConnectorError) -> CallResult {
        let children = try able(node, operation)
        let outcomes = await withTaskGroup(of: (Int, ChildOutcome).self) { group in
            for child in children { group.addTask { (child, await outcome(child, operation, arguments, options)) } }
            var outcomes: [Int: ChildOutcome] = [:]
            for await (child, outcome) in group { outcomes[child] = outcome }
            return outcomes
        }
        let inOrder = children.compactMap { child in outcomes[child].map { (nodes[child].path, $0) } }
        let successes = inOrder.compactMap { try? $0.1.get() }
        guard successes.count >= max(1, quorum ?? 1), let first = successes.first else {
            throw failure(
                of: inOrder,
                in: node,
                "\(successes.count) of \(inOrder.count) answered \(operation)",
                needed: quorum ?? 1
            )
        }
        var result = first
        result.children = inOrder
        return result
    }

    /// The first child that works takes the call; the next one only if trying elsewhere makes sense.
    private func callFirst(
        _ node: Node,
        _ operation: String,
        _ arguments: CallArguments,
        _ options: CallOptions
    ) async throws(ConnectorError) -> CallResult {
        let usable = try able(node, operation).filter(isUsable)
        guard !usable.isEmpty else {
            throw ConnectorError(.notOpen, "no child is open", connector: node.path, isRetryable: true)
        }
        var failures: [(String, ChildOutcome)] = []
        for child in usable {
            let outcome = await outcome(child, operation, arguments, options)
            guard case .failure(let error) = outcome else { return try outcome.get() }
            failures.append((nodes[child].path, outcome))
            guard error.isRetryable, !Task.isCancelled else { throw error }
        }
        throw failure(of: failures, in: node, "every open child failed", needed: 1)
    }

    /// Every open child takes the call, and the first success answers it; the others are cancelled.
    private func callFastest(
        _ node: Node,
        _ operation: String,
        _ arguments: CallArguments,
        _ options: CallOptions
    ) async throws(ConnectorError) -> CallResult {
        let usable = try able(node, operation).filter(isUsable)
        guard !usable.isEmpty else {
            throw ConnectorError(.notOpen, "no child is open", connector: node.path, isRetryable: true)
        }
        let (winner, failures) = await withTaskGroup(of: (String, ChildOutcome).self) { group in
            for child in usable {
                group.addTask { (nodes[child].path, await outcome(child, operation, arguments, options)) }
            }
            var failures: [(String, ChildOutcome)] = []
            for await (path, outcome) in group {
                if case .success(let result) = outcome {
                    group.cancelAll()
                    return (CallResult?.some(result), failures)
                }
                failures.append((path, outcome))
            }
            return (nil, failures)
        }
        if let winner { return winner }
        throw failure(of: failures, in: node, "every open child failed", needed: 1)
    }

    /// Each child takes what the one before it answered.
    private func callSequence(
        _ node: Node,
        _ operation: String,
        _ arguments: CallArguments,
        _ options: CallOptions
    ) async throws(ConnectorError) -> CallResult {
        var arguments = arguments
        var last: CallResult?
        for child in try able(node, operation) {
            if let last { arguments = try next(child, operation, after: last) }
            last = try await call(child, operation, arguments, options)
        }
        guard let last else { throw ConnectorError(.notOpen, "no child is open", connector: node.path) }
        return last
    }

    /// The arguments that a child of a sequence gets: the answer as the only argument, or its members by name.
    ///
    /// Members that the child has no parameter for are left out.
    private func next(
        _ child: Int,
        _ operation: String,
        after last: CallResult
    ) throws(ConnectorError) -> CallArguments {
        let answer = try last.json()
        let inputs = (signature(of: operation, child)?.parameters ?? []).filter { $0.direction == .in }
        if inputs.count == 1, let input = inputs.first, answer.object?[input.name] == nil {
            return CallArguments(JSONObject([(input.name, answer)]))
        }
        guard let object = answer.object else {
            throw ConnectorError(
                .invalid,
                "\(last.gate) answered \(answer.kind), from which \(nodes[child].path) cannot take its arguments",
                connector: nodes[child].path
            )
        }
        let names = Set(inputs.map(\.name))
        return CallArguments(JSONObject(unique: object.members.filter { names.contains($0.name) }))
    }

    /// What an operation takes at a leaf, or at the first leaf below that has it.
    private func signature(of operation: String, _ index: Int) -> Signature? {
        if let gate = nodes[index].gate { return gate.manifest?.operation(named: operation)?.operation.signature }
        return nodes[index].children.lazy.compactMap { signature(of: operation, $0) }.first
    }

    /// The first child answers; the others' answers are compared with its own, and the differences reported.
    private func callCompare(
        _ node: Node,
        _ operation: String,
        _ arguments: CallArguments,
        _ options: CallOptions
    ) async throws(ConnectorError) -> CallResult {
        let children = try able(node, operation)
        // Progress is the first one's, as the answer is.
        let silent = CallOptions(timeout: options.timeout)
        let others = children.dropFirst().map { child in
            Task { (nodes[child].path, await outcome(child, operation, arguments, silent)) }
        }
        let answer = await outcome(children[0], operation, arguments, options)
        // The caller does not wait for the others: the comparison goes on behind its back.
        Task {
            for other in others {
                let (path, outcome) = await other.value
                node.comparison.note(operation, expected: answer, got: outcome, from: path)
            }
        }
        return try answer.get()
    }

    private func failure(
        of outcomes: [(String, ChildOutcome)],
        in node: Node,
        _ what: String,
        needed: Int
    ) -> ConnectorError {
        let errors = outcomes.compactMap { path, outcome -> ConnectorError? in
            guard case .failure(var error) = outcome else { return nil }
            error.connector = error.connector ?? path
            return error
        }
        let codes = Set(errors.map(\.code))
        return ConnectorError(
            codes.count == 1 ? codes.first ?? .failed : .failed,
            needed > 1 ? "\(what), \(needed) are needed" : what,
            connector: node.path,
            cause: errors.map(\.description).joined(separator: "; "),
            isRetryable: errors.contains(where: \.isRetryable),
            retryAfter: errors.compactMap(\.retryAfter).min()
        )
    }
}
