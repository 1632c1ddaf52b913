// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorManifest

extension Signature {
    /// The key of an output in the JSON of an answer; nil if the whole answer is the output.
    ///
    /// - Parameter name: The output's name; empty for a result without one.
    package func answerKey(of name: String) -> String? {
        guard name.isEmpty else { return name }
        let isAlone = results.count == 1 && !parameters.contains { $0.direction == .out }
        return isAlone ? nil : "result"
    }

    /// Why an answer has no place for the outputs, each of which has a key; nil if it has one. In null, each of them is null.
    package func problem(withAnswer answer: JSONValue) -> String? {
        guard answer != .null, answer.object == nil else { return nil }
        let names = parameters.filter { $0.direction == .out }.map(\.name) + results.map { $0.name ?? "" }
        let keys = names.compactMap { answerKey(of: $0) }.map { "\"\($0)\"" }
        return keys.isEmpty ? nil : "expected an object with \(keys.listed), got \(answer.kind)"
    }
}
