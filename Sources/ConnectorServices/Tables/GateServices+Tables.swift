// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Logging
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
        let address = state.withLock { state -> UInt? in
            guard !state.isInvalid else { return nil }
            if let table = state.tables[id] { return table.address }
            guard let table = makeTable(id) else { return nil }
            // Balanced in `invalidate`.
            if state.tables.isEmpty { _ = unsafe Unmanaged.passRetained(self) }
            state.tables[id] = table
            return table.address
        }
        guard let address else { return nil }
        return unsafe UnsafeRawPointer(bitPattern: address)
    }

    private func makeTable(_ id: String) -> ServiceTable? {
        let pointer = unsafe Unmanaged.passUnretained(self).toOpaque()
        return switch id {
        case "log/1": unsafe ServiceTable(LogTable.table(context: pointer, level: logger.logLevel))
        case "clock/1": unsafe ServiceTable(ClockTable.table(context: pointer))
        case "http/1": unsafe ServiceTable(HTTPTable.table(context: pointer))
        case "events/1": unsafe ServiceTable(EventsTable.table(context: pointer))
        case "storage/1": unsafe ServiceTable(StorageTable.table(context: pointer))
        case "gates/1": unsafe ServiceTable(GatesTable.table(context: pointer))
        default: nil
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

    /// The gate behind the `context` of a table; nil for null.
    ///
    /// ``table(_:)`` handed out the pointer, and the object retains itself until ``invalidate()``. A plugin that passes
    /// any other pointer corrupts memory.
    static func at(_ context: UnsafeMutableRawPointer?) -> GateServices? {
        guard let context = unsafe context else { return nil }
        let services = unsafe Unmanaged<GateServices>.fromOpaque(context).takeUnretainedValue()
        services.context.onUse?()
        return services
    }
}
