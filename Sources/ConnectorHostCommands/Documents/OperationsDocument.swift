// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest

/// The operations of each connector.
struct OperationsDocument: Document {
    /// The leaves, each with its plugin's capabilities.
    var connectors: [(path: String, capabilities: [Capability])]

    /// Lists the capabilities of every leaf, or of one connector and everything below it.
    init(resolved: ResolvedConfiguration, path: String?) {
        connectors = resolved.configuration.enabledLeaves.compactMap { connector, _ in
            guard path.map({ connector.path == $0 || connector.path.hasPrefix($0 + "/") }) ?? true,
                case .success(let plan)? = resolved.leaves[connector.path]
            else { return nil }
            return (connector.path, plan.manifest.capabilities)
        }
    }

    /// Lists the operations of a running host, or of one of its connectors and everything below it.
    init(_ list: OperationList, path: String?) {
        connectors = list.connectors.filter { connector, _ in
            path.map { connector == $0 || connector.hasPrefix($0 + "/") } ?? true
        }
    }

    func lines(_ style: TextStyle) -> [String] {
        var lines: [String] = []
        for (path, capabilities) in connectors {
            if !lines.isEmpty { lines.append("") }
            lines.append(style.paint(style.shown(path), .strong))
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
