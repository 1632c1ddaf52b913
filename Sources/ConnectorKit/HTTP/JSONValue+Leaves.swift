// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension JSONValue {
    /// The values that are neither objects nor null, in order, each with its path: the member names that lead to it,
    /// joined with dots. An array is one value.
    ///
    /// - Parameter name: The path that leads to this value; empty for none.
    package func leaves(under name: String = "") -> [(name: String, value: JSONValue)] {
        switch self {
        case .null: []
        case .object(let object):
            object.members.flatMap { $0.value.leaves(under: name.isEmpty ? $0.name : "\(name).\($0.name)") }
        default: [(name, self)]
        }
    }
}
