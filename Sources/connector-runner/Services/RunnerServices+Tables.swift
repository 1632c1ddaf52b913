// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorManifest
internal import Synchronization

/// The tables, by the ids of their services.
extension RunnerServices {
    /// The function table of a service, always at the same address; null if the host does not lend it.
    func table(named id: String) -> UnsafeRawPointer? {
        guard description.services.contains(id) else {
            reportDenied(id)
            return nil
        }
        return unsafe tables.table(named: id)
    }

    /// The tables, made when they are first needed.
    var tables: ServiceTables {
        state.withLock { state in
            let tables = state.tables ?? ServiceTables(of: self)
            state.tables = tables
            return tables
        }
    }

    /// Reports each denied service once, up to the number that the host logs.
    private func reportDenied(_ id: String) {
        let isNew = state.withLock { state in
            state.denied.count < Manifest.deniedServicesLimit && state.denied.insert(id).inserted
        }
        guard isNew, id.utf8.count <= 4096 else { return }
        var message = MessageWriter()
        message.put(id)
        send(.denied, message)
    }
}
