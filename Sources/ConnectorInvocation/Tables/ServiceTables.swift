// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import Synchronization

/// The function tables that one instance is lent, in the host and in a runner, and the object that their `context` points to.
///
/// The services own it, and it retains them from the first table until ``end()``: the pointer is valid for as long as the plugin may
/// use it. The tables live as long as the services: the code that serves a plugin in another process may still hold both after the
/// instance has ended.
package final class ServiceTables: Sendable {
    private struct State {
        /// The addresses of the tables, by the ids of their services.
        var addresses: [String: UInt] = [:]
        /// The services, while this object retains them.
        var retained: (any ServiceFunctions)?
        var isOver = false
    }

    private unowned let services: any ServiceFunctions
    private let onUse: (@Sendable () -> Void)?
    private let state = Mutex(State())

    /// Creates an object that lends no table yet.
    ///
    /// - Parameters:
    ///   - services: What the tables' functions call; they own this object.
    ///   - onUse: Runs on the plugin's thread, before each function of a table.
    package init(of services: any ServiceFunctions, onUse: (@Sendable () -> Void)? = nil) {
        self.services = services
        self.onUse = onUse
    }

    deinit {
        for address in state.withLock(\.addresses).values {
            unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
        }
    }

    /// The function table of a service, always at the same address; null if there is no service of that id, and after ``end()``.
    package func table(named id: String) -> UnsafeRawPointer? {
        let address = state.withLock { state -> UInt? in
            guard !state.isOver else { return nil }
            if let address = state.addresses[id] { return address }
            guard let address = makeTable(id) else { return nil }
            state.addresses[id] = address
            state.retained = services
            return address
        }
        return unsafe address.flatMap { unsafe UnsafeRawPointer(bitPattern: $0) }
    }

    /// Hands out no more tables, and no longer retains the services. Idempotent.
    package func end() {
        // Released once the lock is: that may be the end of the services, and of this object.
        _ = state.withLock { state in
            state.isOver = true
            return state.retained.take()
        }
    }

    private func makeTable(_ id: String) -> UInt? {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        return switch id {
        case "log/1": unsafe Self.onHeap(LogTable.table(context, level: services.logLevel))
        case "clock/1": unsafe Self.onHeap(ClockTable.table(context))
        case "http/1": unsafe Self.onHeap(HTTPTable.table(context))
        case "events/1": unsafe Self.onHeap(EventsTable.table(context))
        case "storage/1": unsafe Self.onHeap(StorageTable.table(context))
        case "gates/1": unsafe Self.onHeap(GatesTable.table(context))
        default: nil
        }
    }

    private static func onHeap<Table: BitwiseCopyable>(_ table: Table) -> UInt {
        let pointer = UnsafeMutablePointer<Table>.allocate(capacity: 1)
        unsafe pointer.initialize(to: table)
        return UInt(bitPattern: pointer)
    }
}

extension ServiceTables {
    /// The services behind the `context` of a table; nil for null. A plugin that passes any other pointer corrupts memory.
    static func at(_ context: UnsafeMutableRawPointer?) -> (any ServiceFunctions)? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<ServiceTables>.fromOpaque(context)._withUnsafeGuaranteedRef { tables in
            tables.onUse?()
            return tables.services
        }
    }

    /// Answers a plugin's call: what the body throws becomes a status and an error object.
    static func answer(
        _ context: UnsafeMutableRawPointer?,
        _ error: UnsafeMutablePointer<connector_error>?,
        _ body: (any ServiceFunctions) throws(ServiceFailure) -> Void
    ) -> Int32 {
        do throws(ServiceFailure) {
            guard let services = unsafe at(context) else { throw ServiceFailure.misuse("the context is null") }
            try body(services)
            return Int32(CONNECTOR_OK)
        } catch let failure {
            return unsafe failure.write(to: error)
        }
    }
}
