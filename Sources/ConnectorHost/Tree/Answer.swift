// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// What a connector answered: the result that counts, and how each child fared where several were asked.
struct Answer: Sendable {
    /// What a typed client takes.
    let result: CallResult
    /// What every child said to a composite that hands all of it on, by path; empty for any other connector.
    private(set) var children: [(path: String, outcome: Outcome)] = []

    /// How one child of a composite answered.
    typealias Outcome = Result<Answer, ConnectorError>

    /// The answer of a leaf.
    init(_ result: CallResult) {
        self.result = result
    }

    /// The answer of a composite that asked every child.
    ///
    /// - Parameters:
    ///   - result: The one that counts.
    ///   - children: All of them, in the order of the file.
    init(_ result: CallResult, children: [(path: String, outcome: Outcome)]) {
        self.result = result
        self.children = children
    }

    /// The answer as JSON: a leaf's result; of a composite that asked every child `{"PATH": {"result": …}, "PATH": {"error": {…}}}`.
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
