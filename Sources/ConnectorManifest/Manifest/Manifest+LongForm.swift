// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension Manifest {
    /// The default symbol of an operation: `my-plugin` and `track` make `my_plugin_track`.
    package static func symbol(of operation: String, plugin: String) -> String {
        String(plugin.map { $0 == "-" || $0 == "." ? "_" : $0 }) + "_\(operation)"
    }

    /// The manifest's text with every operation written out, for hosts that cannot read the short form.
    ///
    /// - Parameter text: The text that the manifest was read from.
    package func longForm(of text: JSONValue) -> JSONValue {
        guard var object = text.object, let written = object["capabilities"]?.object else { return text }
        var long = JSONObject()
        for capability in capabilities {
            let definition = CapabilityDefinition.standard(capability.id)
            var operations = JSONObject()
            for operation in capability.operations {
                let given = written["\(capability.id)"]?[operation.name]?.object ?? JSONObject()
                let defined = definition?.operations.first { $0.name == operation.name }
                var members: JSONObject = [
                    "symbol": .string(operation.symbol),
                    "signature": given["signature"] ?? .string(defined?.signature ?? "\(operation.signature)"),
                ]
                for member in given.members { members[member.name] = member.value }
                operations[operation.name] = .object(members)
            }
            long["\(capability.id)"] = .object(operations)
        }
        object["capabilities"] = .object(long)
        return .object(object)
    }
}
