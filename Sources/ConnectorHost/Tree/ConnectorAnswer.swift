// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import ConnectorServices

/// A connector's answer: the result that counts, and each child's answer if several were asked.
struct ConnectorAnswer: Sendable {
    /// The result for a typed client.
    let result: CallResult
    /// Every child's answer by path, if the composite asked them all; empty otherwise.
    private(set) var children: [Child] = []
    /// The outcome of each leaf. A single leaf's answer leaves it empty, so that it allocates nothing.
    private var asked: [CallOutcome] = []

    /// Which children had to take the call; nil if there are none.
    private(set) var requirement: (policy: CompositePolicy, isRequired: [Bool])?

    /// One child's answer or error.
    typealias Outcome = Result<ConnectorAnswer, ConnectorError>
    /// A child's path and outcome.
    typealias Child = (path: String, outcome: Outcome)

    /// Removes secrets from what the host says about the answer.
    let redactor: Redactor

    /// The answer of a leaf.
    init(_ result: CallResult, redactor: Redactor) {
        self.result = result
        self.redactor = redactor
    }

    /// The answer of a composite that asked every child.
    ///
    /// - Parameters:
    ///   - first: The answer that counts.
    ///   - children: Every child, in the order of the file.
    ///   - requirement: Which children had to take the call.
    init(_ first: ConnectorAnswer, children: [Child], requirement: (policy: CompositePolicy, isRequired: [Bool])?) {
        result = first.result
        redactor = first.redactor
        self.requirement = requirement
        self.children = children
        asked = Self.outcomes(of: children)
    }

    /// The same answer, for a composite that asked other leaves first.
    func after(_ earlier: [CallOutcome]) -> ConnectorAnswer {
        guard !earlier.isEmpty else { return self }
        var answer = self
        answer.asked = earlier + outcomes
        return answer
    }

    /// The outcome of each leaf that was asked.
    var outcomes: [CallOutcome] { asked.isEmpty ? [CallOutcome(result.gate)] : asked }

    /// The outcome of each leaf below some children. A composite that failed before it asked a leaf stands for itself.
    static func outcomes(of children: [Child]) -> [CallOutcome] {
        children.flatMap { path, outcome in
            switch outcome {
            case .success(let answer): answer.outcomes
            case .failure(let error):
                error.outcomes.isEmpty ? [CallOutcome(error.connector ?? path, error: error)] : error.outcomes
            }
        }
    }

    /// Reads the plugin's result; an error, which may quote it, has no secrets.
    func read<Value>(_ body: () throws(ConnectorError) -> Value) throws(ConnectorError) -> Value {
        do throws(ConnectorError) {
            return try body()
        } catch {
            throw redactor.redact(error)
        }
    }

    /// A leaf's result. For a composite that asked every child: `{"PATH": {"result": …}, "PATH": {"error": {…}}}`.
    func json() throws(ConnectorError) -> JSONValue {
        guard !children.isEmpty else { return try read { () throws(ConnectorError) in try result.json() } }
        var object = JSONObject()
        for (path, outcome) in children {
            do throws(ConnectorError) {
                object[path] = ["result": try outcome.get().json()]
            } catch {
                object[path] = ["error": error.json]
            }
        }
        return .object(object)
    }
}
