// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest

/// The operations of each connector.
struct OperationsDocument: Document {
    /// The leaves, each with its further paths and its plugin's capabilities.
    var connectors: [OperationList.Leaf]

    /// Lists the capabilities of every leaf, or of one connector and everything below it.
    init(resolved: ResolvedConfiguration, path: String?) {
        let places = resolved.configuration.places
        let leaves = resolved.configuration.enabledLeaves.compactMap { connector, _ -> OperationList.Leaf? in
            guard case .success(let plan)? = resolved.leaves[connector.path] else { return nil }
            return (connector.path, places[connector.path] ?? [], plan.manifest.capabilities)
        }
        self.init(OperationList(leaves), path: path)
    }

    /// Lists the operations of a host, or of one of its connectors and everything below it, by any of a leaf's paths.
    init(_ list: OperationList, path: String?) {
        connectors = list.connectors.filter { leaf in
            path.map { path in
                ([leaf.path] + leaf.places).contains { $0 == path || $0.hasPrefix(path + "/") }
            } ?? true
        }
    }

    func lines(_ style: TextStyle) -> [String] {
        var lines: [String] = []
        for (path, places, capabilities) in connectors {
            if !lines.isEmpty { lines.append("") }
            lines.append(style.paint(style.shown(path), .strong))
            if !places.isEmpty {
                lines.append("  " + style.paint("also \(places.map(style.shown).joined(separator: ", "))", .faint))
            }
            if capabilities.isEmpty { lines.append("  " + style.paint("no operations", .faint)) }
            for capability in capabilities {
                lines.append("  " + style.paint(style.shown(capability.id.description), .faint))
                for operation in capability.operations {
                    lines.append("    " + style.shown(operation.name + operation.signature.description))
                    let documentation = operation.documentation(in: capability)
                    if !documentation.isEmpty {
                        lines.append("        " + style.paint(style.shown(documentation), .faint))
                    }
                }
            }
        }
        return lines
    }

    var json: JSONValue { OperationList(connectors).json }
}
