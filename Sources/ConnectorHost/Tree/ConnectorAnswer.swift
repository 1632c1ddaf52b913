// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities
internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import ConnectorServices

/// A connector's answer: the result, and each child's answer if several were called.
struct ConnectorAnswer: Sendable {
    /// The result for a typed client.
    let result: CallResult
    /// Every child's answer by path, if the composite called them all; empty otherwise.
    private(set) var children: [Child] = []
    /// The outcome of each leaf; empty for a single leaf, which avoids an allocation.
    private var asked: [CallOutcome] = []

    /// The children that had to succeed; nil if the answer is a leaf's.
    private(set) var requirement: (policy: CompositePolicy, isRequired: [Bool])?

    /// One child's answer or error.
    typealias Outcome = Result<ConnectorAnswer, ConnectorError>
    /// A child's path and outcome.
    typealias Child = (path: String, outcome: Outcome)

    /// What a leaf said of each element of a batch; nil for any other answer.
    private(set) var batchAnswers: [DeliveryAnswer]?
    /// The result as JSON, once it was read; nil for bytes alone, which break no type, and whose JSON is longer and seldom wanted.
    private var value: JSONValue?

    /// Removes secrets from messages about the answer.
    let redactor: Redactor

    /// The answer of a leaf.
    init(_ result: CallResult, redactor: Redactor) {
        self.result = result
        self.redactor = redactor
    }

    /// The answer of a composite that called every child.
    ///
    /// - Parameters:
    ///   - first: The answer that provides the result.
    ///   - children: Every child, in the order of the file.
    ///   - requirement: Which children had to succeed.
    init(_ first: ConnectorAnswer, children: [Child], requirement: (policy: CompositePolicy, isRequired: [Bool])?) {
        (result, value, redactor) = (first.result, first.value, first.redactor)
        self.requirement = requirement
        self.children = children
        asked = Self.outcomes(of: children)
    }

    /// The same answer of a leaf, once it was read. The call of a malformed one has failed, and its plugin has misbehaved.
    ///
    /// - Throws: `misbehaved`, which is not retryable: nothing but another version of the plugin helps.
    func checked(_ call: Node.Call, from gate: Gate) throws(ConnectorError) -> ConnectorAnswer {
        do throws(ConnectorError) {
            var answer = self
            if let count = call.batchCount {
                answer.batchAnswers = try deliveries(count: count)
            } else if result.outputs.contains(where: { $0.type != .bytes }) {
                answer.value = try result.json()
            }
            return answer
        } catch {
            var fault = call.options.isForPlugin ? error : redactor.redact(error)
            if call.batchCount != nil {
                fault = ConnectorError(
                    .misbehaved,
                    "the answer to \"\(call.operation)\" breaks the capability's rules: \(fault.message)",
                    position: fault.position,
                    cause: fault.description
                )
            }
            fault.connector = gate.path
            gate.misbehaved(fault.message)
            throw fault
        }
    }

    /// The same answer, for a composite that called other leaves first.
    func after(_ earlier: [CallOutcome]) -> ConnectorAnswer {
        guard !earlier.isEmpty else { return self }
        var answer = self
        answer.asked = earlier + outcomes
        return answer
    }

    /// The outcome of each leaf called.
    var outcomes: [CallOutcome] { asked.isEmpty ? [CallOutcome(result.gate)] : asked }

    /// The outcome of each leaf below the given children, once for a leaf in several places. A composite that failed
    /// before calling a leaf is listed itself.
    static func outcomes(of children: [Child]) -> [CallOutcome] {
        let outcomes = children.flatMap { path, outcome in
            switch outcome {
            case .success(let answer): answer.outcomes
            case .failure(let error):
                error.outcomes.isEmpty ? [CallOutcome(error.connector ?? path, error: error)] : error.outcomes
            }
        }
        // The children themselves are distinct, so without leaves below them nothing repeats.
        guard outcomes.count > children.count else { return outcomes }
        var seen: Set<String> = []
        return outcomes.filter { seen.insert("\($0.connector) \($0.error?.description ?? "")").inserted }
    }

    /// Reads the plugin's result; secrets are removed from errors, which may quote it.
    func read<Value>(_ body: () throws(ConnectorError) -> Value) throws(ConnectorError) -> Value {
        do throws(ConnectorError) {
            return try body()
        } catch {
            throw redactor.redact(error)
        }
    }

    /// The result for a plugin that made the call. Its errors are not redacted: see ``CallOptions/isForPlugin``.
    func jsonForPlugin() throws(ConnectorError) -> JSONValue {
        if let value { return value }
        return try result.json()
    }

    /// The result for a typed client, as JSON.
    func resultJSON() throws(ConnectorError) -> JSONValue {
        if let value { return value }
        return try read { () throws(ConnectorError) in try result.json() }
    }

    /// A leaf's result. For a composite that called every child: `{"PATH": {"result": …}, "PATH": {"error": {…}}}`.
    func json() throws(ConnectorError) -> JSONValue {
        guard !children.isEmpty else { return try resultJSON() }
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
