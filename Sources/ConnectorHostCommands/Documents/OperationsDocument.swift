// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest

/// The operations of each connector.
struct OperationsDocument: Document {
    /// The leaves, each with its plugin's capabilities.
    var connectors: [(path: String, capabilities: [Capability])]

    /// Takes the capabilities of every leaf, or of one connector and everything below it.
    init(resolved: ResolvedConfiguration, path: String?) {
        connectors = resolved.configuration.enabledLeaves.compactMap { connector, _ in
            guard path.map({ connector.path == $0 || connector.path.hasPrefix($0 + "/") }) ?? true,
                case .success(let plan)? = resolved.leaves[connector.path]
            else { return nil }
            return (connector.path, plan.manifest.capabilities)
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

    var json: JSONValue {
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
    fileprivate func documentation(in capability: Capability) -> String {
        guard documentation.isEmpty else { return documentation }
        let definition = CapabilityDefinition.standard(capability.id)
        return definition?.operations.first { $0.name == name }?.documentation ?? ""
    }

    /// The operation's part of `operations --json`.
    fileprivate func json(in capability: Capability) -> JSONValue {
        [
            "capability": .string(capability.id.description),
            "name": .string(name),
            "signature": .string(signature.description),
            "documentation": .string(documentation(in: capability)),
        ]
    }
}
