// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorConsole

extension SceneForm {
    /// The form of an operation of a standard capability, or of one with the signature given.
    static func of(
        _ capability: String,
        _ name: String,
        _ signature: String? = nil,
        _ commands: CommandLines = CommandLines()
    ) throws -> SceneForm {
        let id = try #require(CapabilityID(capability))
        let definition = CapabilityDefinition.standard(id)?.operations.first { $0.name == name }
        let text = try #require(signature ?? definition?.signature)
        var operation = Operation(
            name: name,
            symbol: "s",
            signature: try Signature(parsing: text),
            documentation: ""
        )
        operation.isDelivered = definition?.isDelivered ?? false
        return SceneForm(operation, named: name, of: id, at: "a/b", commands: commands)
    }
}
