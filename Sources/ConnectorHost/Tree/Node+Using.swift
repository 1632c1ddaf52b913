// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorManifest

extension Node {
    /// Calls an operation for a plugin that uses this connector.
    ///
    /// The plugin reaches the operations of one capability and nothing else. A composite answers as for a client of that
    /// capability: with one result, whatever its policy.
    ///
    /// - Parameter tree: The current tree.
    /// - Returns: The result as JSON; empty if the operation has none.
    func call(
        _ operation: String,
        of capability: CapabilityID,
        _ arguments: CallArguments,
        _ options: CallOptions,
        in tree: CurrentTree
    ) async throws(ConnectorError) -> [UInt8] {
        let offered = capabilities.filter { $0.id == capability }.flatMap(\.operations).map(\.name)
        let isDefined =
            CapabilityDefinition.standard(capability)?.operations.contains { $0.name == operation } ?? false
        // A connector whose plugin was not found offers nothing, and says why when it is called.
        guard offered.isEmpty || offered.contains(operation) else {
            throw ConnectorError(
                isDefined ? .unsupported : .invalid,
                isDefined
                    ? "the connector does not offer \(operation)"
                    : "\(capability) has no operation \"\(operation.excerpt)\"",
                fix: suggestion(for: operation, among: offered),
                connector: path
            )
        }
        do throws(ConnectorError) {
            // The name without a version means the first version that a plugin offers.
            let hasVersions = capabilities.contains { $0.id.name == capability.name && $0.id != capability }
            let name = hasVersions ? "\(capability)/\(operation)" : "\(capability.name)/\(operation)"
            var options = options
            options.isForPlugin = true
            let answer = try await call(Call(operation: name, arguments: arguments, options: options, in: tree))
            let result = answer.result
            // It was checked when it arrived, and is passed on as the plugin wrote it.
            if result.outputs.count == 1, result.outputs[0].type == .json, result.outputs[0].name.isEmpty {
                return result.text
            }
            return result.outputs.isEmpty ? [] : try answer.jsonForPlugin().utf8()
        } catch {
            var error = error
            error.connector = error.connector ?? path
            throw error
        }
    }
}
