// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// The operations of some leaves: the document of `connector-host operations --json`.
package struct OperationList: Sendable {
    /// The leaves, each with its plugin's capabilities.
    package var connectors: [(path: String, capabilities: [Capability])]

    /// Takes its parts.
    package init(_ connectors: [(path: String, capabilities: [Capability])]) {
        self.connectors = connectors
    }

    /// The document.
    package var json: JSONValue {
        [
            "version": 1,
            "connectors": .array(
                connectors.map { path, capabilities in
                    let operations = capabilities.flatMap { capability in
                        capability.operations.map { $0.json(in: capability) }
                    }
                    return ["path": .string(path), "operations": .array(operations)]
                }
            ),
        ]
    }
}

extension Operation {
    /// The operation's own documentation, or else its capability's.
    package func documentation(in capability: Capability) -> String {
        guard documentation.isEmpty else { return documentation }
        let definition = CapabilityDefinition.standard(capability.id)
        return definition?.operations.first { $0.name == name }?.documentation ?? ""
    }

    /// The operation's part of the document.
    fileprivate func json(in capability: Capability) -> JSONValue {
        [
            "capability": .string(capability.id.description),
            "name": .string(name),
            "signature": .string(signature.description),
            "documentation": .string(documentation(in: capability)),
        ]
    }
}
