// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorLoading
internal import ConnectorManifest

/// The operations of a plugin, by name. Immutable, so look-ups take no lock.
///
/// `@unchecked Sendable`: the entries are written once, before any other code has the object.
@safe
package final class ResolvedOperations: @unchecked Sendable {
    @safe
    private struct Entry: Sendable {
        let name: String
        /// The name prefixed with its capability: `capability/operation`.
        let qualifiedName: String
        /// The name prefixed with its capability's version, too: `capability/version/operation`.
        let versionedName: String
        let operation: Result<ResolvedOperation, ConnectorError>
        /// The operation, which the entry keeps alive; nil if there is none.
        let reference: Unmanaged<ResolvedOperation>?
    }

    /// This object's own memory: an array would be reference-counted at each look-up.
    private let entries: UnsafeMutableBufferPointer<Entry>

    /// Resolves every operation of a plugin.
    package init(of plugin: Plugin) {
        let resolved = plugin.manifest.capabilities.flatMap { capability in
            capability.operations.map { operation in
                let resolved: Result<ResolvedOperation, ConnectorError>
                do throws(ConnectorError) {
                    resolved = .success(try ResolvedOperation(operation, of: plugin))
                } catch {
                    resolved = .failure(error)
                }
                return unsafe Entry(
                    name: operation.name,
                    qualifiedName: "\(capability.id.name)/\(operation.name)",
                    versionedName: "\(capability.id)/\(operation.name)",
                    operation: resolved,
                    reference: (try? resolved.get()).map { unsafe Unmanaged.passUnretained($0) }
                )
            }
        }
        unsafe entries = .allocate(capacity: resolved.count)
        _ = unsafe entries.initialize(fromContentsOf: resolved)
    }

    deinit {
        unsafe entries.deinitialize()
        unsafe entries.deallocate()
    }

    /// The function of an operation, or why it cannot be called; nil for an unknown name.
    package func function(of name: String) -> Result<UnsafeMutableRawPointer, ConnectorError>? {
        guard let index = index(of: name) else { return nil }
        switch unsafe entries[index].operation {
        case .success(let operation): return unsafe .success(operation.function)
        case .failure(let error): return unsafe .failure(error)
        }
    }

    /// An operation by name, or why it cannot be called; nil for an unknown name.
    package subscript(name: String) -> Result<ResolvedOperation, ConnectorError>? {
        guard let index = index(of: name) else { return nil }
        return unsafe entries[index].operation
    }

    /// An operation by name that has run to completion on its caller's thread so far; nil for any other. It lives as long as this object:
    /// counting references would take as long as a short function.
    @inline(__always)
    package func prompt(named name: String) -> Unmanaged<ResolvedOperation>? {
        guard let index = index(of: name), let reference = unsafe entries[index].reference else { return nil }
        let isPrompt = unsafe reference._withUnsafeGuaranteedRef { $0.isPrompt && $0.answersAtOnce }
        return isPrompt ? unsafe reference : nil
    }

    /// An operation by its position in the manifest, or why it cannot be called; nil beyond the last one.
    package subscript(position: Int) -> Result<ResolvedOperation, ConnectorError>? {
        unsafe entries.indices.contains(position) ? entries[position].operation : nil
    }

    private func index(of name: String) -> Int? {
        for index in unsafe entries.indices where unsafe entries[index].name == name { return index }
        for index in unsafe entries.indices where unsafe entries[index].qualifiedName == name { return index }
        for index in unsafe entries.indices where unsafe entries[index].versionedName == name { return index }
        return nil
    }
}
