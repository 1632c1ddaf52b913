// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorLoading
internal import ConnectorManifest

/// The operations of a plugin, by name. Immutable, so look-ups take no lock.
package final class ResolvedOperations: Sendable {
    private struct Entry: Sendable {
        let name: String
        /// The name prefixed with its capability: `capability/operation`.
        let qualifiedName: String
        let operation: Result<ResolvedOperation, ConnectorError>
    }

    private let entries: [Entry]

    /// Resolves every operation of a plugin.
    package init(of plugin: Plugin) {
        entries = plugin.manifest.capabilities.flatMap { capability in
            capability.operations.map { operation in
                let resolved: Result<ResolvedOperation, ConnectorError>
                do throws(ConnectorError) {
                    resolved = .success(try ResolvedOperation(operation, of: plugin))
                } catch {
                    resolved = .failure(error)
                }
                return Entry(
                    name: operation.name,
                    qualifiedName: "\(capability.id.name)/\(operation.name)",
                    operation: resolved
                )
            }
        }
    }

    /// The function of an operation, or why it cannot be called; nil for an unknown name.
    package func function(of name: String) -> Result<UnsafeMutableRawPointer, ConnectorError>? {
        guard let index = index(of: name) else { return nil }
        switch entries[index].operation {
        case .success(let operation): return unsafe .success(operation.function)
        case .failure(let error): return unsafe .failure(error)
        }
    }

    /// An operation by name, or why it cannot be called; nil for an unknown name.
    package subscript(name: String) -> Result<ResolvedOperation, ConnectorError>? {
        guard let index = index(of: name) else { return nil }
        return entries[index].operation
    }

    /// An operation by its position in the manifest, or why it cannot be called; nil beyond the last one.
    package subscript(position: Int) -> Result<ResolvedOperation, ConnectorError>? {
        entries.indices.contains(position) ? entries[position].operation : nil
    }

    private func index(of name: String) -> Int? {
        for index in entries.indices where entries[index].name == name { return index }
        for index in entries.indices where entries[index].qualifiedName == name { return index }
        return nil
    }
}
