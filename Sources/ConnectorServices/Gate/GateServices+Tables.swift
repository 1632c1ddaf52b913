// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import Synchronization

/// The function tables through which a plugin reaches the services.
extension GateServices {
    /// The function table of a service, always at the same address.
    ///
    /// Null if there is no service of that id, if the manifest does not name it, and after ``invalidate()``.
    ///
    /// - Parameter id: The bytes of the id; not necessarily UTF-8.
    package func table(_ id: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        guard id.count <= 64, let name = unsafe String(validating: id, as: UTF8.self) else { return nil }
        return unsafe table(named: name)
    }

    /// The function table of a service; see ``table(_:)``.
    package func table(named id: String) -> UnsafeRawPointer? {
        guard declares(id) else { return nil }
        return unsafe tables.table(named: id)
    }

    /// The tables, made when they are first needed.
    var tables: ServiceTables {
        state.withLock { state in
            let tables = state.tables ?? ServiceTables(of: self, onUse: context.onUse)
            state.tables = tables
            return tables
        }
    }

    /// Whether the manifest declares a service; logs a request for any other.
    ///
    /// ConnectorKit requests every service of the host to learn which ones it has. A plugin that does so inside
    /// `create` makes no mistake, so nothing is logged.
    private func declares(_ id: String) -> Bool {
        // The manifest's "uses" declares it. ConnectorKit asks for it in every plugin.
        if id == "gates/1" { return context.gates != nil }
        let isDeclared = context.services.contains(id)
        let isNews = state.withLock { $0.requests(for: id, isDeclared: isDeclared) }
        if isNews { logUndeclared(id) }
        return isDeclared
    }
}
