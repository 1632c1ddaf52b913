// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest

/// The operations of each connector.
struct OperationsDocument: Document {
    /// The leaves, each with its further places and its plugin's capabilities.
    var connectors: [OperationList.Leaf]

    /// Lists the operations of every leaf, or of one connector and everything below it.
    init(resolved: ResolvedConfiguration, path: String?) {
        self.init(resolved.configuration, path: path) { connector, _ in
            try? resolved.leaves[connector.path]?.get().manifest
        }
    }

    /// Lists the operations that the manifests of a configuration's plugins declare; a leaf without a manifest is left out.
    init(
        _ configuration: Configuration,
        path: String?,
        manifest: (Connector, Connector.Leaf) -> Manifest?
    ) {
        let places = configuration.places
        let leaves = configuration.enabledLeaves.compactMap { connector, leaf -> OperationList.Leaf? in
            manifest(connector, leaf).map { (connector.path, places[connector.path] ?? [], $0.callable) }
        }
        self.init(OperationList(leaves), path: path)
    }

    /// Lists the operations of a host, or of one of its connectors and everything below it; any path of a leaf will do.
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
