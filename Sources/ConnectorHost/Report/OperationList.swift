// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// The operations of a set of leaves: the document `connector-host operations --json` prints.
package struct OperationList: Sendable {
    /// The leaves, each with its further paths and its plugin's capabilities.
    package var connectors: [Leaf]

    /// A leaf.
    package typealias Leaf = (path: String, places: [String], capabilities: [Capability])

    /// Creates a list of leaves with their operations.
    package init(_ connectors: [Leaf]) {
        self.connectors = connectors
    }

    /// The document.
    package var json: JSONValue {
        [
            "version": 1,
            "connectors": .array(
                connectors.map { path, places, capabilities in
                    let operations = capabilities.flatMap { capability in
                        capability.operations.map { $0.json(in: capability) }
                    }
                    var leaf: JSONObject = ["path": .string(path)]
                    if !places.isEmpty { leaf["places"] = .array(places.map(JSONValue.string)) }
                    leaf["operations"] = .array(operations)
                    return .object(leaf)
                }
            ),
        ]
    }
}

extension OperationList {
    /// Reads the document, which has no symbols; nil if it is not one of this version.
    package init?(json: JSONValue) {
        guard json["version"]?.integer == 1, let elements = json["connectors"]?.array else { return nil }
        connectors = []
        for element in elements {
            guard let path = element["path"]?.string, let operations = element["operations"]?.array else { return nil }
            var capabilities: [Capability] = []
            for member in operations {
                guard let id = member["capability"]?.string.flatMap(CapabilityID.init(_:)),
                    let name = member["name"]?.string,
                    let signature = member["signature"]?.string.flatMap({ try? Signature(parsing: $0) })
                else { return nil }
                let operation = Operation(
                    name: name,
                    symbol: "",
                    signature: signature,
                    documentation: member["documentation"]?.string ?? ""
                )
                if capabilities.last?.id != id { capabilities.append(Capability(id: id, operations: [])) }
                capabilities[capabilities.count - 1].operations.append(operation)
            }
            connectors.append((path, element["places"]?.array?.compactMap(\.string) ?? [], capabilities))
        }
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
