// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
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
        let address = state.withLock { state -> UInt? in
            if let address = state.tables[id] { return address }
            guard !state.isInvalid, let address = makeTable(id) else { return nil }
            // Balanced in `invalidate`.
            if state.tables.isEmpty { _ = unsafe Unmanaged.passRetained(self) }
            state.tables[id] = address
            return address
        }
        return unsafe address.flatMap { unsafe UnsafeRawPointer(bitPattern: $0) }
    }

    /// Tells the host of a denied service, once each, and of no more services than the host logs.
    private func reportDenied(_ id: String) {
        let isNew = state.withLock { state in
            state.denied.count < Manifest.deniedServicesLimit && state.denied.insert(id).inserted
        }
        guard isNew, id.utf8.count <= 4096 else { return }
        var message = MessageWriter()
        message.put(id)
        send(.denied, message)
    }

    private func makeTable(_ id: String) -> UInt? {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        return switch id {
        case "log/1": unsafe Self.onHeap(logTable(context))
        case "clock/1": unsafe Self.onHeap(clockTable(context))
        case "events/1": unsafe Self.onHeap(eventsTable(context))
        case "storage/1": unsafe Self.onHeap(storageTable(context))
        case "http/1": unsafe Self.onHeap(httpTable(context))
        case "gates/1": unsafe Self.onHeap(gatesTable(context))
        default: nil
        }
    }

    private static func onHeap<Table: BitwiseCopyable>(_ table: Table) -> UInt {
        let pointer = UnsafeMutablePointer<Table>.allocate(capacity: 1)
        unsafe pointer.initialize(to: table)
        return UInt(bitPattern: pointer)
    }

    /// Passes the host's answer on to the plugin.
    static func pass(_ answer: HostRequests.Answer, to error: UnsafeMutablePointer<connector_error>?) -> Int32 {
        if let object = answer.error { unsafe object.write(to: error) }
        return answer.status
    }
}
