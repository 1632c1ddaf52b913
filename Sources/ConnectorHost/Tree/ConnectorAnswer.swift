// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import ConnectorManifest

/// What a connector answered: the result that counts, and how each child fared where several were asked.
struct ConnectorAnswer: Sendable {
    /// What a typed client takes.
    let result: CallResult
    /// What every child said to a composite that hands all of it on, by path; empty for any other connector.
    private(set) var children: [Child] = []
    /// How each leaf fared; empty stands for the one of the result, so that the answer of a leaf allocates nothing.
    private var asked: [CallOutcome] = []

    /// How many of the children had to take the call, and which of them; nil where there are none.
    private(set) var requirement: (policy: CompositePolicy, isRequired: [Bool])?

    /// How one child of a composite answered.
    typealias Outcome = Result<ConnectorAnswer, ConnectorError>
    /// The same, with the child's path.
    typealias Child = (path: String, outcome: Outcome)

    /// The answer of a leaf.
    init(_ result: CallResult) {
        self.result = result
    }

    /// The answer of a composite that asked every child.
    ///
    /// - Parameters:
    ///   - result: The one that counts.
    ///   - children: All of them, in the order of the file.
    ///   - requirement: How many had to take the call, and which.
    init(_ result: CallResult, children: [Child], requirement: (policy: CompositePolicy, isRequired: [Bool])?) {
        self.result = result
        self.requirement = requirement
        self.children = children
        asked = Self.outcomes(of: children)
    }

    /// The same answer of a composite that had asked other leaves before.
    func after(_ earlier: [CallOutcome]) -> ConnectorAnswer {
        guard !earlier.isEmpty else { return self }
        var answer = self
        answer.asked = earlier + outcomes
        return answer
    }

    /// How each leaf that was asked fared.
    var outcomes: [CallOutcome] { asked.isEmpty ? [CallOutcome(result.gate)] : asked }

    /// How each leaf below some children fared. A composite that failed before it asked a leaf stands for itself.
    static func outcomes(of children: [Child]) -> [CallOutcome] {
        children.flatMap { path, outcome in
            switch outcome {
            case .success(let answer): answer.outcomes
            case .failure(let error):
                error.outcomes.isEmpty ? [CallOutcome(error.connector ?? path, error: error)] : error.outcomes
            }
        }
    }

    /// A leaf's result; of a composite that asked every child `{"PATH": {"result": …}, "PATH": {"error": {…}}}`.
    func json() throws(ConnectorError) -> JSONValue {
        guard !children.isEmpty else { return try result.json() }
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
