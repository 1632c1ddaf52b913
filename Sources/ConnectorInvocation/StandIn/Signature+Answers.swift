// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

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
}
